/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * When a shared part (a link, a channel) is busy. Work for it is found out of order: a read that waits behind an erase
 * asks for the channel milliseconds ahead, and a later read on another die must still get the time before. A single
 * "next free" time would make it wait; so a timeline keeps the busy spans, and a transfer takes the first gap that it
 * fits in.
 */
#ifndef FB_TIMELINE_H
#define FB_TIMELINE_H

#include "fb_types.h"

/*
 * Enough for the moves of one collected block. When it is full, neighbours that lie close together are put end to end:
 * the busy time stays, but earlier by less than coarse_ns. So a line whose users are far ahead loses resolution, the
 * same all along, and no capacity.
 */
#define FB_TIMELINE_SPANS 128

struct fb_span {
	u64 start_ns;
	u64 end_ns;
};

struct fb_timeline {
	u64 count;
	u64 coarse_ns;		/* neighbours were last put together that begin and end within this time */
	struct fb_span span[FB_TIMELINE_SPANS];	/* in order, apart from each other */
};

/*
 * Takes the first gap of length_ns from ready_ns on; returns its end. Spans that ended before now_ns may be forgotten:
 * nobody asks for the past.
 */
u64 fb_timeline_take(struct fb_timeline *line, u64 now_ns, u64 ready_ns, u64 length_ns);

#endif
