/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A medium: how long each request takes. It knows nothing of content, clocks or locks: the caller keeps the bytes, says
 * what time it is, and calls for one request at a time.
 *
 * A medium is one block of memory without pointers. It may lie in a file, be copied, and be mapped at any address.
 */
#ifndef FB_MEDIUM_H
#define FB_MEDIUM_H

#include "fb_counters.h"
#include "fb_params.h"

struct fb_medium;

enum fb_op { FB_READ, FB_WRITE, FB_DISCARD, FB_FLUSH };

/* Addresses are bytes of the medium, whole sectors. A flush has none. */
struct fb_request {
	enum fb_op op;
	bool fua;		/* a write that is done when it is on the medium itself, past any volatile cache */
	u64 offset_bytes;
	u64 length_bytes;
};

/* How a request ended that the medium took */
enum fb_outcome {
	FB_DONE,
	FB_UNCORRECTABLE,	/* a read: something of it cannot be read (also what a power cut tore, fb_power.h) */
	FB_READ_ONLY,		/* a write or discard: no blocks are left to replace bad ones; what is there stays */
};

/* The answer to a request that the medium cannot serve: not whole sectors, or beyond its end */
#define FB_NEVER (~(u64)0)

enum fb_error {
	FB_OK,
	FB_NOT_A_STATE,		/* no magic: another file, or an empty one */
	FB_OTHER_VERSION,	/* made by another version of this core */
	FB_TRUNCATED,		/* fewer bytes than the state has */
	FB_BAD_PARAMETER,	/* fb_check_params() refuses its parameters */
	FB_DAMAGED,		/* header and parameters contradict each other */
};

#define FB_WEAR_STEPS 16

#define FB_MAX_AGE_DAYS 36500u

/* Of blocks that are not bad */
struct fb_wear {
	u64 blocks;
	u64 erase_count_min;
	u64 erase_count_max;
	u64 erase_count_sum;
	u64 factory_bad_blocks;
	u64 grown_bad_blocks;

	/* blocks_by_step[i]: blocks that were erased at least i, but not i + 1, times step_erases */
	u64 step_erases;
	u64 blocks_by_step[FB_WEAR_STEPS];
};

/* Bytes of the state; 0 if the parameters are refused */
size_t fb_state_bytes(const struct fb_params *params);

/*
 * Makes a new medium in memory that is aligned to 64 bytes and filled with zeros (so that a state file can stay
 * sparse). Flash starts erased and unmapped.
 */
enum fb_error fb_init(void *memory, size_t bytes, const struct fb_params *params);

/* Takes up a medium that fb_init() made. Reads only the header; fb_verify() looks at the rest. */
enum fb_error fb_open(void *memory, size_t bytes, struct fb_medium **medium);

/* The medium's clock starts anew: all parts idle, what was under way is finished. To be called once after fb_open(). */
void fb_power_on(struct fb_medium *medium);

/*
 * When a request that comes at now_ns is done; or FB_NEVER. Times are nanoseconds of the caller's clock, which does not
 * run backwards (a little, between two CPUs, does no harm).
 */
u64 fb_submit(struct fb_medium *medium, const struct fb_request *request, u64 now_ns);

/*
 * For whoever knows requests ahead: this one comes soon. What it will be looked up in is fetched from memory meanwhile;
 * nothing else happens, and no answer depends on it. Each step uses what the one before has fetched: step 0 is for the
 * request that comes FB_PREFETCH_STEPS * FB_PREFETCH_APART requests later, step 1 for one FB_PREFETCH_APART nearer, and
 * so on.
 */
#define FB_PREFETCH_STEPS 3
#define FB_PREFETCH_APART 8
void fb_prefetch(const struct fb_medium *medium, const struct fb_request *request, u32 step);

/*
 * Let the medium finish what it does by itself while nobody asks for anything: fold its SLC cache, collect. Returns
 * when it is at rest; a request that comes earlier waits. What the medium counts afterwards is due to later requests.
 */
u64 fb_rest(struct fb_medium *medium, u64 now_ns);

/* How the request ended for which fb_submit() was last called; FB_DONE if that said FB_NEVER */
enum fb_outcome fb_last_outcome(const struct fb_medium *medium);

/* Every write is refused from now on: its content need not be moved */
bool fb_read_only(const struct fb_medium *medium);

/* Time passes while the medium is off, before its next fb_power_on() */
void fb_age(struct fb_medium *medium, u64 days);

/* Nanoseconds since the medium was made: what fb_age() added, and the time of operation up to the last request */
u64 fb_age_ns(const struct fb_medium *medium);

const struct fb_params *fb_medium_params(const struct fb_medium *medium);
const struct fb_counters *fb_medium_counters(const struct fb_medium *medium);

/* All zero if the medium does not wear */
struct fb_wear fb_medium_wear(const struct fb_medium *medium);

/*
 * The blocks that are erased by themselves, bad ones too (of a medium with planes those of all planes together), and
 * how often each was; none if the medium does not wear.
 */
u64 fb_blocks(const struct fb_medium *medium);
u32 fb_block_erases(const struct fb_medium *medium, u64 block);

/* NULL if the state agrees with itself, else what does not. Takes time in proportion to the state. */
const char *fb_verify(const struct fb_medium *medium);

const char *fb_error_text(enum fb_error error);

#endif
