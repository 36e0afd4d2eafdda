/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The old content of what is being written, so that a power cut can take back what it takes back. Whoever keeps a
 * medium's content puts it here before each write, and cuts the power with it. It is two rings, of records and of bytes,
 * in a block of memory; both hold all that a medium may have pending.
 */
#ifndef FB_UNDO_H
#define FB_UNDO_H

#include "fb_power.h"

/* The longest write: AHCI's, of 65,536 sectors */
#define FB_UNDO_MAX_WRITE	(32u << 20)

struct fb_undo;

/* 0 if the parameters are refused */
size_t fb_undo_bytes(const struct fb_params *params);

/* In so many bytes of memory: nothing is pending */
struct fb_undo *fb_undo_init(void *memory, const struct fb_params *params);

/*
 * A write of at most FB_UNDO_MAX_WRITE bytes was submitted, and `old` is what it is about to change. The medium made
 * parts of it, from first_sequence on (fb_power.h).
 */
void fb_undo_keep(struct fb_undo *undo, const void *old, u64 offset_bytes, u64 length_bytes, u64 first_sequence,
		  u64 end_sequence);

/*
 * Cuts the medium's power and changes data, which is exposed_bytes long, to what a restart finds. `told` is called for
 * each part that was pending, as fb_cut() does, after it was done. Returns NULL, or a reason and nothing is changed: the
 * old content of what is pending is not here.
 */
const char *fb_undo_cut(struct fb_undo *undo, struct fb_medium *medium, u8 *data, u64 exposed_bytes, u64 cut_ns,
			u64 seed, fb_tell *told, void *context);

#endif
