/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A medium: how long each request takes. It knows nothing of content, clocks or locks. The caller keeps the content,
 * supplies the time, and serializes the calls.
 *
 * A medium is one block of memory without pointers. It may lie in a file, be copied, and be mapped at any address.
 */
#ifndef FB_MEDIUM_H
#define FB_MEDIUM_H

#include "fb_counters.h"
#include "fb_params.h"

struct fb_medium;

enum fb_op { FB_READ, FB_WRITE, FB_DISCARD, FB_FLUSH };

/* Addresses are in bytes and aligned to sectors. A flush has none. */
struct fb_request {
	enum fb_op op;
	bool fua;		/* the write is done when it is on the medium, past any volatile cache */
	u64 offset_bytes;
	u64 length_bytes;
};

/* The outcome of a request that the medium accepted */
enum fb_outcome {
	FB_DONE,
	FB_UNCORRECTABLE,	/* read: part of it cannot be read (also after a torn write, fb_power.h) */
	FB_READ_ONLY,		/* write or discard: no spare blocks are left; the old content stays */
};

/* The answer to a request that the medium cannot serve: not aligned to sectors, or beyond its end */
#define FB_NEVER (~(u64)0)

enum fb_error {
	FB_OK,
	FB_NOT_A_STATE,		/* no magic: another file, or an empty one */
	FB_OTHER_VERSION,	/* made by another version of this core */
	FB_TRUNCATED,		/* shorter than the state */
	FB_BAD_PARAMETER,	/* fb_check_params() refuses its parameters */
	FB_DAMAGED,		/* header and parameters disagree */
};

#define FB_WEAR_STEPS 16

#define FB_MAX_AGE_DAYS 36500u

/* Wear of the blocks that are not bad */
struct fb_wear {
	u64 blocks;
	u64 erase_count_min;
	u64 erase_count_max;
	u64 erase_count_sum;
	u64 factory_bad_blocks;
	u64 grown_bad_blocks;

	/* blocks_by_step[i] counts blocks with at least i, but fewer than i + 1, times step_erases erases */
	u64 step_erases;
	u64 blocks_by_step[FB_WEAR_STEPS];
};

/* The size of the state in bytes; 0 if the parameters are refused */
size_t fb_state_bytes(const struct fb_params *params);

/*
 * Makes a new medium. The memory must be aligned to 64 bytes and zeroed (so that a state file can stay sparse). Flash
 * starts erased and unmapped.
 */
enum fb_error fb_init(void *memory, size_t bytes, const struct fb_params *params);

/* Opens a medium that fb_init() made. Checks only the header; fb_verify() checks the rest. */
enum fb_error fb_open(void *memory, size_t bytes, struct fb_medium **medium);

/* Restarts the medium's clock: all parts are idle, and what was under way is finished. Call it once after fb_open(). */
void fb_power_on(struct fb_medium *medium);

/*
 * Returns the time at which a request issued at now_ns is done, or FB_NEVER. Times are nanoseconds of the caller's
 * clock. The clock must not run backwards, except for small differences between two CPUs.
 */
u64 fb_submit(struct fb_medium *medium, const struct fb_request *request, u64 now_ns);

/*
 * Announces a request to come, for callers that know their requests in advance. The call only prefetches the tables
 * that the request will need: it changes no state and no answer. Each step uses what the step before it has fetched.
 * Call step 0 for the request that comes FB_PREFETCH_STEPS * FB_PREFETCH_APART requests later, step 1 for the one
 * FB_PREFETCH_APART nearer, and so on.
 */
#define FB_PREFETCH_STEPS 3
#define FB_PREFETCH_APART 8
void fb_prefetch(const struct fb_medium *medium, const struct fb_request *request, u32 step);

/*
 * Lets the medium finish its background work: folding its SLC cache and garbage collection. Returns the time at which
 * it is idle; an earlier request waits. Counts after that time belong to later requests.
 */
u64 fb_rest(struct fb_medium *medium, u64 now_ns);

/* The outcome of the last fb_submit(); FB_DONE if that returned FB_NEVER */
enum fb_outcome fb_last_outcome(const struct fb_medium *medium);

/* True if every write is refused from now on, so that the caller need not move any content */
bool fb_read_only(const struct fb_medium *medium);

/* Ages the medium while it is off, before the next fb_power_on() */
void fb_age(struct fb_medium *medium, u64 days);

/* The medium's age in nanoseconds: what fb_age() added, plus the time of operation up to the last request */
u64 fb_age_ns(const struct fb_medium *medium);

const struct fb_params *fb_medium_params(const struct fb_medium *medium);
const struct fb_counters *fb_medium_counters(const struct fb_medium *medium);

/* All zero if the medium does not wear */
struct fb_wear fb_medium_wear(const struct fb_medium *medium);

/*
 * The number of blocks that are erased independently, bad ones included, and the erase count of each. A block spans all
 * planes of its die. Zero if the medium does not wear.
 */
u64 fb_blocks(const struct fb_medium *medium);
u32 fb_block_erases(const struct fb_medium *medium, u64 block);

/* NULL if the state is consistent, else the contradiction. Takes time in proportion to the state. */
const char *fb_verify(const struct fb_medium *medium);

const char *fb_error_text(enum fb_error error);

#endif
