/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * An undo log: the old content of pending writes, so that a power cut can restore what was lost. Whoever keeps a
 * medium's content records each write here first, and cuts the power with fb_undo_cut(). The log is two rings, of
 * records and of bytes, in one block of memory. Both hold all that a medium may have pending.
 */
#ifndef FB_UNDO_H
#define FB_UNDO_H

#include "fb_power.h"

/* The longest write: 65,536 sectors, AHCI's limit */
#define FB_UNDO_MAX_WRITE	(32u << 20)

struct fb_undo;

/* 0 if the parameters are refused */
size_t fb_undo_bytes(const struct fb_params *params);

/* Makes an empty log in memory of fb_undo_bytes() */
struct fb_undo *fb_undo_init(void *memory, const struct fb_params *params);

/*
 * Records a submitted write of at most FB_UNDO_MAX_WRITE bytes. `old` is the content that it replaces. The write's
 * parts are numbered from first_sequence on (fb_power.h).
 */
void fb_undo_keep(struct fb_undo *undo, const void *old, u64 offset_bytes, u64 length_bytes, u64 first_sequence,
		  u64 end_sequence);

/*
 * Cuts the medium's power and changes `data`, exposed_bytes long, to what a restart finds. Calls `told` for each
 * pending part, as fb_cut() does, once the part is carried out. Returns NULL; or, if the log lacks the old content of a
 * pending part, returns the reason and changes nothing.
 */
const char *fb_undo_cut(struct fb_undo *undo, struct fb_medium *medium, u8 *data, u64 exposed_bytes, u64 cut_ns,
			u64 seed, fb_tell *told, void *context);

#endif
