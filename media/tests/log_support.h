/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the log-block layers' tests share: small media, and requests that come when all is idle */
#ifndef LOG_SUPPORT_H
#define LOG_SUPPORT_H

#include "samples.h"
#include "test.h"

enum {
	PAGE = 2048,
	GROUP = 4,		/* pages */
	WRITE_NS = 1000 + 20480 + 51200 + 200000,
	READ_NS = 25000 + 51200,
	PROGRAM_NS = 51200 + 200000,
	ERASE_NS = 1500000,
};

/* sample_flash() with a log-block layer and room for eight groups */
struct fb_params log_params(u64 ftl, u64 log_blocks);

/* A medium; free() it. For idle_request() it is 0 o'clock */
struct fb_medium *new_log_medium(const struct fb_params *params);

/* The same, of log_params() */
struct fb_medium *log_medium(u64 ftl, u64 log_blocks);

/* Submits a request when all is idle; returns how long that took */
u64 idle_request(struct fb_medium *m, enum fb_op op, u64 offset_bytes, u64 length_bytes);

/* Writes a page when all is idle; returns how long that took */
u64 write_page(struct fb_medium *m, u64 page);

/* Writes the pages from first to before end, none of which may wait for a merge */
void write_pages(struct fb_medium *m, u64 first, u64 end);

/* Writes the second page of each of the first so many groups, as above */
void write_second_pages(struct fb_medium *m, u64 groups);

/* So many merges there were, and the state is sound */
void check_merges(const struct fb_medium *m, u64 switches, u64 partials, u64 fulls);

#endif
