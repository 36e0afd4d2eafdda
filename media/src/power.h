/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Pending writes, for the files of the core that write: they note each part of a write with the time span of its
 * transfer to the medium. fb_power.h reports the effect of a cut.
 */
#ifndef FB_POWER_STATE_H
#define FB_POWER_STATE_H

#include "arith.h"
#include "fb_power.h"

/*
 * The pending parts beyond the volatile cache. A small flash device has one part for each 512 pages, so that the ring
 * stays small compared with its tables.
 */
#define FB_MAX_PARTS		4096u
#define FB_FEWEST_PARTS		128u
#define FB_PAGES_PER_PART	512u
#define FB_PENDING_BYTES	(8u << 20)
#define FB_CACHED_PART_BYTES	4096u

/* Enough for the erases that are issued to the dies ahead of time; beyond it the oldest count as finished */
#define FB_KNOWN_ERASES		64u

/* If there is no room for a torn part, it is torn into old and new sectors instead */
#define FB_UNREADABLE_SECTORS	1024u

/*
 * A part of a write. It is transferred to the medium from begin_ns to durable_ns; nothing of it is there before. Both
 * are FB_NEVER while it is in a volatile cache and its write-back is undecided.
 */
struct fb_pending {
	u64 offset_bytes;
	u64 length_bytes;
	u64 begin_ns;
	u64 durable_ns;
	u16 die;		/* flash: the die that programs it, */
	u16 page_kind;		/* and the number of earlier pages in the same cells */
	u32 ppn;
	u64 row;		/* 0, or 1 + sequence of another part: the one before it in the same program (flash), or
				   the next in the same chain (disk) */
};

/* A chain of parts in a volatile cache, in any order: 1 + sequence of the first and of the last; 0: none */
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
	u64 rewritten;		/* 0, or 1 + sequence of the first part that may have repaired it */
};

struct fb_cut;

struct fb_power {
	u64 parts_offset;	/* a ring: the part with sequence s lies at s % room */
	u64 capacity;
	struct fb_divisor by_capacity;
	u64 first_sequence;
	u64 parts;
	u64 bytes;		/* of all parts in the ring */
	u64 cut;		/* 1: the power failed; fb_power_on() charges the restart */
	u64 half_erased;	/* blocks that the cut left half erased */
	u64 erases;		/* erases noted since power-on; the last FB_KNOWN_ERASES are known */
	u64 unreadable_sectors;
	struct fb_erasing erasing[FB_KNOWN_ERASES];
	struct fb_unreadable_sector unreadable[FB_UNREADABLE_SECTORS];
};

/* Adds the ring to the state; returns its offset */
u64 fb_power_layout(const struct fb_params *params, u64 *end_offset);
void fb_power_init(struct fb_medium *m, u64 parts_offset);
bool fb_power_undamaged(const struct fb_medium *m, u64 parts_offset);

/* Finishes what was under way when the medium was switched off */
void fb_power_forget(struct fb_medium *m);

/* Starts a write of length_bytes; returns the time at which there is room for it, at or after now_ns */
u64 fb_power_begin_write(struct fb_medium *m, u64 length_bytes, u64 now_ns);

/* Notes a further part of the current write */
void fb_power_note(struct fb_medium *m, const struct fb_pending *part);

/* Notes a part of a joint program: all its parts become durable together. row: see struct fb_pending. */
void fb_power_note_joint(struct fb_medium *m, const struct fb_pending *part, u64 row);

/* Notes a further part of the current write that stays in a volatile cache, and adds it to a chain there */
void fb_power_note_cached(struct fb_medium *m, struct fb_chain *chain, u64 offset_bytes, u64 length_bytes);

/* Appends the other chain to this one */
void fb_power_join(struct fb_medium *m, struct fb_chain *chain, const struct fb_chain *other);

/* Schedules the write-back of a run of bytes, at an even pace: it applies to the chain's parts in the run */
void fb_power_note_written_back(struct fb_medium *m, struct fb_chain *chain, const struct fb_pending *run);

/* The length of a chain; if it is corrupt, more than the total of parts */
u64 fb_power_chained(const struct fb_medium *m, const struct fb_chain *chain);

/* The parts whose write-back is undecided */
u64 fb_power_undecided(const struct fb_medium *m);

void fb_power_note_erase(struct fb_medium *m, const struct fb_erasing *erasing);

/* A read delayed an erase, or the program whose last write part is given (row: see struct fb_pending) */
void fb_power_erase_later(struct fb_medium *m, const struct fb_erasing *erasing, u64 end_ns);
void fb_power_program_later(struct fb_medium *m, u64 row, u64 end_ns);

/* Tear a part that was under way: a page of flash, or a run of a disk's sectors */
void fb_tear_page(struct fb_cut *cut, u64 sequence, const struct fb_pending *part);
void fb_tear_run(struct fb_cut *cut, u64 sequence, const struct fb_pending *part);

/* Marks the sectors of an uncorrectable page as unreadable, if there is room in the table */
void fb_power_lose(struct fb_medium *m, u64 offset_bytes, u64 length_bytes);

const char *fb_power_verify(const struct fb_medium *m);

#endif
