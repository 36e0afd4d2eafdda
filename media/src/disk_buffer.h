/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The disk's read buffer: segments, each a run of sectors. After a read, the head reads ahead into the newest segment
 * until the arm moves, up to readahead_bytes behind the request. A segment holds at most segment_bytes: new sectors
 * push out the oldest. A new segment replaces the least recently used one.
 */
#ifndef FB_DISK_BUFFER_H
#define FB_DISK_BUFFER_H

#include "fb_types.h"

#define FB_MAX_SEGMENTS 32

struct fb_medium;

/*
 * All of [start, end) is available from available_ns on. During read-ahead the head passes `end` at stream_ns and stops
 * at `limit`; otherwise `limit` is `end`.
 */
struct fb_segment {
	u64 start;
	u64 end;
	u64 limit;		/* sectors; start == limit: empty */
	u64 available_ns;
	u64 stream_ns;
	u64 used;		/* the time of last use, counted in uses */
};

struct fb_buffer {
	u64 uses;
	u64 reading;		/* 1 + the segment that read-ahead fills; 0: none */
	u64 in_use;		/* segments from this index on are empty */
	struct fb_segment segment[FB_MAX_SEGMENTS];
};

/* The time at which all of a read is in the buffer; 0 if the read does not begin there, and the arm must fetch it */
u64 fb_buffer_read(struct fb_medium *m, u64 first, u64 end, u64 command_done_ns);

/* Adds [first, end), which the arm has read until end_ns; it may read ahead */
void fb_buffer_add(struct fb_medium *m, u64 first, u64 end, u64 end_ns);

/* Adds [first, end) when the arm leaves afterwards, without read-ahead */
void fb_buffer_add_closed(struct fb_medium *m, u64 first, u64 end, u64 end_ns);

/* The arm leaves at now_ns, which ends read-ahead */
void fb_buffer_leave(struct fb_medium *m, u64 now_ns);

/* The time at which read-ahead ends if no request comes; 0: there is none */
u64 fb_buffer_idle_ns(const struct fb_medium *m);

/* Invalidates [first, end), whose content is new */
void fb_buffer_forget(struct fb_medium *m, u64 first, u64 end);

const char *fb_buffer_verify(const struct fb_medium *m);

#endif
