/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The volatile read buffer of a flash device. A read that begins where the last one ended triggers read-ahead: when it
 * is done, and no request waits, the following pages are fetched from the dies, up to the size of the buffer. Once a
 * page has arrived, it is read from the buffer. It stays until another page of the same number modulo the buffer's size
 * replaces it, until it is written or discarded, or until power-off.
 *
 * Read-ahead is computed at the next request. If that continues the stream, or comes after its
 * end, everything is fetched. Any other request ends the read-ahead, and is delayed only by fetches that had begun
 * before it. A request that came before the last read was done goes first, and nothing is fetched in between.
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
	u64 failed;		/* it was uncorrectable */
};

struct fb_read_ahead {
	u64 offset;		/* of its table, from the start of the state */
	u64 pages;		/* 0: there is none */
	u64 end_bytes;		/* the end of the last read; 0: there was none */
	u64 begin_ns;		/* when read-ahead behind it begins; FB_NEVER: not at all, or it is done */
};

void fb_read_ahead_lay_out(const struct fb_params *params, struct fb_read_ahead *ahead, u64 *end_offset);
void fb_read_ahead_power_on(struct fb_medium *m);

/* At a new request: charges the dies with the read-ahead before it */
void fb_read_ahead_catch_up(struct fb_medium *m, const struct fb_request *request);

/* Notes a read that is done at done_ns; it may belong to a stream */
void fb_read_ahead_note(struct fb_medium *m, const struct fb_request *request, u64 done_ns);

/* The page's entry in the buffer; NULL if there is none */
const struct fb_fetched *fb_read_ahead_find(const struct fb_medium *m, u64 page);

/* Invalidates the pages [first, end) */
void fb_read_ahead_forget(struct fb_medium *m, u64 first, u64 end);

const char *fb_read_ahead_verify(const struct fb_medium *m);

#endif
