/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The volatile write buffer of a flash device: a write is done when it has arrived there. Each page is sent on to the
 * translation layer at once and leaves its slot in the buffer when it is programmed; slots are given back in the order
 * in which they were taken, so a write may have to wait for the page that came as many pages before it as the buffer
 * holds. Until then the page is read from the buffer.
 *
 * Simplifications: a page that is written again while it waits to be programmed is programmed twice; to look for a page
 * to be read, the buffer has one entry for all pages of the same number modulo its size.
 */
#ifndef FB_WRITE_BUFFER_H
#define FB_WRITE_BUFFER_H

#include "arith.h"
#include "fb_medium.h"

struct fb_buffered {
	u64 programmed_ns;	/* of the page that took this slot last */
	u64 found_ns;		/* until then found_page is in the buffer */
	u64 found_page;
};

struct fb_write_buffer {
	u64 offset;		/* of its table, from the start of the state */
	u64 pages;		/* 0: there is none */
	struct fb_divisor by_pages;
	u64 next;
};

void fb_buffer_lay_out(const struct fb_params *params, struct fb_write_buffer *buffer, u64 *end_offset);
void fb_buffer_power_on(struct fb_medium *m);

/* When there is room for a page; ready_ns, if there is no buffer */
u64 fb_buffer_room_ns(const struct fb_medium *m, u64 ready_ns);

/* A page has taken its slot and will be programmed then; returns when the host is told that it is written */
u64 fb_buffer_put(struct fb_medium *m, u64 page, u64 arrived_ns, u64 programmed_ns);

bool fb_buffer_holds(const struct fb_medium *m, u64 page);

#endif
