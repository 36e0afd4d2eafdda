/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* For the power-cut files only: the ring of parts, and the unreadable sectors (power_unreadable.c) */
#ifndef FB_POWER_PARTS_H
#define FB_POWER_PARTS_H

#include "state.h"

static inline struct fb_pending *fb_power_part(const struct fb_medium *m, u64 sequence)
{
	return (struct fb_pending *)fb_table(m, m->power.parts_offset) + fb_remainder(&m->power.by_capacity, sequence);
}

/* A new part covers its sectors: they count as readable unless it is lost */
void fb_unreadable_rewritten(struct fb_medium *m, const struct fb_pending *part, u64 sequence);

/* Drops sectors whose part has left the ring: they are readable for good */
void fb_unreadable_forget_mended(struct fb_power *power);

/* Records a run of sectors that a cut made unreadable */
void fb_unreadable_mark(struct fb_medium *m, const struct fb_fated *fated);

/* True if the table has room for length_bytes of unreadable sectors */
bool fb_unreadable_has_room(const struct fb_medium *m, u64 length_bytes);

#endif
