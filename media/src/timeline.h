/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The busy times of a shared part (a link, a channel). Work for it is scheduled out of order: a read that waits behind
 * an erase reserves the channel milliseconds ahead, and a later read on another die must still get the time before
 * that. A single "next free" time would make it wait. A timeline therefore keeps the busy spans, and a transfer takes
 * the first gap that it fits in.
 */
#ifndef FB_TIMELINE_H
#define FB_TIMELINE_H

#include "fb_types.h"

/*
 * Enough for the moves of one collected block. When the table is full, close neighbours are merged end to end: the busy
 * time is kept, but moves earlier by less than coarse_ns. So a line that is reserved far ahead loses resolution evenly,
 * but no capacity.
 */
#define FB_TIMELINE_SPANS 128

struct fb_span {
	u64 start_ns;
	u64 end_ns;
};

struct fb_timeline {
	u64 count;
	u64 coarse_ns;		/* the extent of the last merge of neighbours */
	struct fb_span span[FB_TIMELINE_SPANS];	/* ordered and disjoint */
};

/*
 * Takes the first gap of length_ns from ready_ns on; returns its end. Spans that ended before now_ns may be dropped: no
 * caller asks for the past.
 */
u64 fb_timeline_take(struct fb_timeline *line, u64 now_ns, u64 ready_ns, u64 length_ns);

#endif
