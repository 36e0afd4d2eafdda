/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What is not on the medium yet, for the rooms of the core that write: they note each part of a write with the time in
 * which it is put onto the medium. What a cut makes of it is told by fb_power.h.
 */
#ifndef FB_POWER_STATE_H
#define FB_POWER_STATE_H

#include "arith.h"
#include "fb_power.h"

/*
 * What a medium may have pending beside what its volatile cache holds. A small flash device has one part for each 512
 * pages, so that the ring stays small beside its tables.
 */
#define FB_MAX_PARTS		4096u
#define FB_FEWEST_PARTS		128u
#define FB_PAGES_PER_PART	512u
#define FB_PENDING_BYTES	(8u << 20)
#define FB_CACHED_PART_BYTES	4096u

/* Enough for the tail of what is asked of the dies ahead of time; beyond it the oldest are forgotten as finished */
#define FB_KNOWN_ERASES		64u

/* A torn part for which there is no room is torn into old and new sectors instead */
#define FB_UNREADABLE_SECTORS	1024u

/*
 * A part of a write. It goes onto the medium from begin_ns to durable_ns; before that, none of it is there. Both are
 * FB_NEVER while it lies in a volatile cache and nobody has decided when it is written back.
 */
struct fb_pending {
	u64 offset_bytes;
	u64 length_bytes;
	u64 begin_ns;
	u64 durable_ns;
	u16 die;		/* flash: where it is programmed, */
	u16 page_kind;		/* and after how many others in the same cells */
	u32 ppn;
	u64 row;		/* 0, or 1 + sequence of another part: the one before it in the same program (flash), or
				   the next in the same chain (disk) */
};

/* Parts that lie in a volatile cache together, in any order: 1 + sequence of the first and of the last; 0: none */
struct fb_chain {
	u64 first;
	u64 last;
};

struct fb_erasing {
	u64 begin_ns;
	u64 end_ns;
	u32 die;
	u32 block;
};

struct fb_unreadable_sector {
	u64 sector;
	u64 rewritten;		/* 0, or 1 + sequence of the first part that may have mended it */
};

struct fb_cut;

struct fb_power {
	u64 parts_offset;	/* a ring: the part with sequence s lies at s % room */
	u64 capacity;
	struct fb_divisor by_capacity;
	u64 first_sequence;
	u64 parts;
	u64 bytes;		/* of all parts in the ring */
	u64 cut;		/* 1: the power went; fb_power_on() charges the restart */
	u64 half_erased;	/* blocks that the cut left so */
	u64 erases;		/* erases noted since power-on; the last FB_KNOWN_ERASES are known */
	u64 unreadable_sectors;
	struct fb_erasing erasing[FB_KNOWN_ERASES];
	struct fb_unreadable_sector unreadable[FB_UNREADABLE_SECTORS];
};

/* Adds the ring to the state; returns its offset */
u64 fb_power_layout(const struct fb_params *params, u64 *end_offset);
void fb_power_init(struct fb_medium *m, u64 parts_offset);
bool fb_power_undamaged(const struct fb_medium *m, u64 parts_offset);

/* What was under way when the medium was switched off is finished */
void fb_power_forget(struct fb_medium *m);

/* A write of so many bytes comes: returns when there is room for it, at now_ns or later */
u64 fb_power_begin_write(struct fb_medium *m, u64 length_bytes, u64 now_ns);

/* A further part of the write at hand */
void fb_power_note(struct fb_medium *m, const struct fb_pending *part);

/* A part that is programmed together with others: all are durable when it is. row: as struct fb_pending has it. */
void fb_power_note_joint(struct fb_medium *m, const struct fb_pending *part, u64 row);

/* A further part of the write at hand, which stays in a volatile cache: it joins a chain there */
void fb_power_note_cached(struct fb_medium *m, struct fb_chain *chain, u64 offset_bytes, u64 length_bytes);

/* What is in the other chain joins this one */
void fb_power_join(struct fb_medium *m, struct fb_chain *chain, const struct fb_chain *other);

/* A run of bytes that lay in a volatile cache goes onto the medium, at an even pace: the parts of the chain in it */
void fb_power_note_written_back(struct fb_medium *m, struct fb_chain *chain, const struct fb_pending *run);

/* How many parts a chain has; more than there are in all, if it is torn */
u64 fb_power_chained(const struct fb_medium *m, const struct fb_chain *chain);

/* Parts of which nobody knows when they go onto the medium */
u64 fb_power_undecided(const struct fb_medium *m);

void fb_power_note_erase(struct fb_medium *m, const struct fb_erasing *erasing);

/* A read held up an erase, or the program whose last part of a write this is (row: as struct fb_pending has it) */
void fb_power_erase_later(struct fb_medium *m, const struct fb_erasing *erasing, u64 end_ns);
void fb_power_program_later(struct fb_medium *m, u64 row, u64 end_ns);

/* What a cut leaves of a part that was under way: of a page of flash, of a run of a disk's sectors */
void fb_tear_page(struct fb_cut *cut, u64 sequence, const struct fb_pending *part);
void fb_tear_run(struct fb_cut *cut, u64 sequence, const struct fb_pending *part);

/* The page holds nothing any more that could be corrected: its sectors are unreadable, if there is room to say so */
void fb_power_lose(struct fb_medium *m, u64 offset_bytes, u64 length_bytes);

const char *fb_power_verify(const struct fb_medium *m);

#endif
