/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The volatile write buffer of a flash device: a write is done when it has arrived there. Each page goes on to the
 * translation layer at once and frees its slot when it is programmed. Slots are freed in the order in which they were
 * taken, so a write may have to wait for the page that came N pages before it, with N slots. Until it is programmed, a
 * page is read from the buffer.
 *
 * Simplifications: a page rewritten while it waits to be programmed is programmed twice; the lookup for reads has one
 * entry for all pages of the same number modulo the buffer's size.
 */
#ifndef FB_WRITE_BUFFER_H
#define FB_WRITE_BUFFER_H

#include "arith.h"
#include "fb_medium.h"

struct fb_buffered {
	u64 programmed_ns;	/* of the slot's last page */
	u64 found_ns;		/* the end of found_page's stay in the buffer */
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

/* The time at which there is room for a page; ready_ns without a buffer */
u64 fb_buffer_room_ns(const struct fb_medium *m, u64 ready_ns);

/* Puts a page, programmed at programmed_ns, into its slot; returns the time at which the host sees the write done */
u64 fb_buffer_put(struct fb_medium *m, u64 page, u64 arrived_ns, u64 programmed_ns);

bool fb_buffer_holds(const struct fb_medium *m, u64 page);

#endif
