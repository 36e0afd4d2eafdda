/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The old content of what is being written, so that a write that a power cut took back can be taken back. It lies in a
 * region of its own: a header, a ring of records, a ring of bytes. Whoever keeps a medium's content fills it; the host
 * carries out a cut with it. Both rings hold all that a medium may have pending.
 */
#ifndef FB_UNDO_H
#define FB_UNDO_H

#include "fb_medium.h"

/* Longest write that the region takes */
#define FB_UNDO_MAX_WRITE	(1u << 20)

/* Not submitted yet */
#define FB_UNDO_OPEN		(~(u64)0)

#define FB_UNDO_NO_CUT		(~(u64)0)

struct fb_undo_record {
	u64 offset_bytes;
	u64 length_bytes;
	u64 position;		/* of the old content in the ring of bytes */
	u64 first_sequence;	/* parts of the write that the medium made of it (fb_power.h); FB_UNDO_OPEN */
	u64 end_sequence;
};

struct fb_undo {
	u64 magic;
	u64 version;
	u64 bytes;		/* of the region */
	u64 records;		/* room for so many */
	u64 room_bytes;		/* room for so much old content */
	u64 made;		/* records made since fb_undo_clear() */
	u64 position;		/* where the next old content goes */
	u64 cut_ns;		/* when the power went; FB_UNDO_NO_CUT */
};

/* A power of two. 0 if the parameters are refused. */
size_t fb_undo_bytes(const struct fb_params *params);

/* Makes a region in memory that is filled with zeros */
void fb_undo_init(void *memory, const struct fb_params *params);

/* Takes up a region for a medium with these parameters */
enum fb_error fb_undo_open(void *memory, size_t bytes, const struct fb_params *params, struct fb_undo **undo);

/* Nothing is pending */
void fb_undo_clear(struct fb_undo *undo);

/* A write begins: returns the number of its record. The old content goes to fb_undo_content(). */
u64 fb_undo_begin(struct fb_undo *undo, u64 offset_bytes, u64 length_bytes);
void fb_undo_submitted(struct fb_undo *undo, u64 number, u64 first_sequence, u64 end_sequence);

struct fb_undo_record *fb_undo_record(const struct fb_undo *undo, u64 number);
u8 *fb_undo_content(const struct fb_undo *undo, const struct fb_undo_record *record);

#endif
