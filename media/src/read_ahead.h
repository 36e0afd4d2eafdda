/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The volatile read buffer of a flash device. A read that begins where the one before it ended makes the controller
 * expect the next: when it is done, and no request is waiting, the pages that follow are brought from the dies, up to
 * the size of the buffer. A page is read from the buffer when it has arrived there; it stays until another of the same
 * number modulo the buffer's size takes its place, until it is written or discarded, or until the power is turned off.
 *
 * What was fetched is worked out when the next request comes. If that goes on with the stream, or has not come yet, all
 * is fetched; any other request ends it, and holds back only for what had begun before it came. A request that came
 * before the last read was done goes first, and nothing is fetched in between.
 *
 * Simplifications: pages are fetched whole, one batch at a time; what waits in the write buffer is not fetched; there
 * is one stream.
 */
#ifndef FB_READ_AHEAD_H
#define FB_READ_AHEAD_H

#include "fb_medium.h"

struct fb_fetched {
	u64 page;		/* 1 + its number; 0: none */
	u64 there_ns;
	u64 failed;		/* it could not be corrected */
};

struct fb_read_ahead {
	u64 offset;		/* of its table, from the start of the state */
	u64 pages;		/* 0: there is none */
	u64 end_bytes;		/* where the last read ended; 0: there was none */
	u64 begin_ns;		/* when the pages behind it are fetched; FB_NEVER: they are not, or they have been */
};

void fb_read_ahead_lay_out(const struct fb_params *params, struct fb_read_ahead *ahead, u64 *end_offset);
void fb_read_ahead_power_on(struct fb_medium *m);

/* A request comes: what was fetched before it takes its time on the dies */
void fb_read_ahead_catch_up(struct fb_medium *m, const struct fb_request *request);

/* A read is done then; it may be a part of a stream */
void fb_read_ahead_note(struct fb_medium *m, const struct fb_request *request, u64 done_ns);

/* The page as the buffer holds it; NULL, if it does not */
const struct fb_fetched *fb_read_ahead_find(const struct fb_medium *m, u64 page);

/* Pages from first to before end are no longer what they were */
void fb_read_ahead_forget(struct fb_medium *m, u64 first, u64 end);

const char *fb_read_ahead_verify(const struct fb_medium *m);

#endif
