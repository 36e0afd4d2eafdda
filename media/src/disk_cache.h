/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The disk's write cache, volatile: what was written to it and is not on the platter yet, as extents of sectors in the
 * order in which they came. New content of a sector takes the old one's place; neighbours become one extent.
 *
 * It is written back ("destaged") in pieces of a track at most, as soon as the arm has nothing to do for the host and
 * has read on as far as it may; of the reorder_depth oldest extents the one first that is reached soonest, but none waits
 * while more than FB_DESTAGE_PATIENCE others are taken. A write that finds the cache full waits for pieces to go.
 */
#ifndef FB_DISK_CACHE_H
#define FB_DISK_CACHE_H

#include "fb_types.h"

#define FB_MAX_EXTENTS		256
#define FB_DESTAGE_PATIENCE	64

struct fb_medium;

struct fb_extent {
	u64 first;
	u64 end;
	u64 since_ns;		/* all of it is in the cache */
	u64 passed_over;	/* so often was another taken first */
};

struct fb_cache {
	u64 sectors;		/* in extents */
	u64 leaving;		/* sectors of the piece that is being written back */
	u64 left_ns;		/* until then */
	u64 written_ns;		/* when all that left the cache, or passed it by, is on the platter */
	u64 extents;
	struct fb_extent extent[FB_MAX_EXTENTS];
};

/* What the disk does by itself until now_ns */
void fb_cache_catch_up(struct fb_medium *m, u64 now_ns);

/* Takes a write whose data arrived at arrived_ns; returns when there was room for it */
u64 fb_cache_write(struct fb_medium *m, u64 first, u64 end, u64 arrived_ns);

/* Is all of this in the cache? */
bool fb_cache_holds(const struct fb_medium *m, u64 first, u64 end);

/* Writes everything back; returns when all is on the platter */
u64 fb_cache_flush(struct fb_medium *m, u64 now_ns);

const char *fb_cache_verify(const struct fb_medium *m);

#endif
