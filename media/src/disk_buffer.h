/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a disk has read: segments, each a run of sectors. After a read the head reads on into the newest segment as long
 * as nobody moves it, to at most readahead_bytes behind the request. A segment holds no more than segment_bytes: what
 * comes pushes out what lies before it. The segment that was not used for the longest time makes room for a new one.
 */
#ifndef FB_DISK_BUFFER_H
#define FB_DISK_BUFFER_H

#include "fb_types.h"

#define FB_MAX_SEGMENTS 32

struct fb_medium;

/*
 * Everything in [start, end) can be had from available_ns on. While the head reads on, it passes end at stream_ns and
 * stops at limit; else limit is end.
 */
struct fb_segment {
	u64 start;
	u64 end;
	u64 limit;		/* sectors; start == limit: there is none */
	u64 available_ns;
	u64 stream_ns;
	u64 used;		/* when it was used last, counted in uses */
};

struct fb_buffer {
	u64 uses;
	u64 reading;		/* the segment that the head reads on into, + 1; 0: none */
	u64 in_use;		/* segments behind so many hold nothing */
	struct fb_segment segment[FB_MAX_SEGMENTS];
};

/* When all of a read is in the buffer; or 0 if it does not begin there, and the arm must go for it */
u64 fb_buffer_read(struct fb_medium *m, u64 first, u64 end, u64 command_done_ns);

/* The arm has read [first, end) until end_ns, and may read on */
void fb_buffer_add(struct fb_medium *m, u64 first, u64 end, u64 end_ns);

/* The same, but the arm goes elsewhere from there */
void fb_buffer_add_closed(struct fb_medium *m, u64 first, u64 end, u64 end_ns);

/* The arm leaves at now_ns: reading on ends there */
void fb_buffer_leave(struct fb_medium *m, u64 now_ns);

/* When reading on comes to its end, if nothing happens; 0: it does not go on */
u64 fb_buffer_idle_ns(const struct fb_medium *m);

/* New content for [first, end) */
void fb_buffer_forget(struct fb_medium *m, u64 first, u64 end);

const char *fb_buffer_verify(const struct fb_medium *m);

#endif
