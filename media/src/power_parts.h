/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* For the rooms of power cuts only: the ring of parts, and the sectors that are unreadable (power_unreadable.c) */
#ifndef FB_POWER_PARTS_H
#define FB_POWER_PARTS_H

#include "state.h"

static inline struct fb_pending *fb_power_part(const struct fb_medium *m, u64 sequence)
{
	return (struct fb_pending *)fb_table(m, m->power.parts_offset) + fb_remainder(&m->power.by_capacity, sequence);
}

/* A part of a write comes: the sectors in it count as readable until that is lost */
void fb_unreadable_rewritten(struct fb_medium *m, const struct fb_pending *part, u64 sequence);

/* Those whose part has left the ring are readable for good */
void fb_unreadable_forget_mended(struct fb_power *power);

/* What a cut made of a run of sectors */
void fb_unreadable_mark(struct fb_medium *m, const struct fb_fated *fated);

/* There is room to say of so many bytes that they are unreadable */
bool fb_unreadable_has_room(const struct fb_medium *m, u64 length_bytes);

#endif
