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

#include "disk_geometry.h"
#include "power.h"

#define FB_MAX_EXTENTS		64
#define FB_DESTAGE_PATIENCE	64

struct fb_medium;

struct fb_extent {
	u64 first;
	u64 end;
	u64 since_ns;		/* all of it is in the cache */
	u64 passed_more;	/* so much oftener was another taken first than before the next newer one */
	struct fb_place place;	/* of its first sector */
	struct fb_chain parts;	/* of the writes that it is made of */
};

/* Slots in use lie in front of the others, in both orders */
struct fb_cache {
	u64 sectors;		/* in extents */
	u64 leaving;		/* sectors of the piece that is being written back */
	u64 left_ns;		/* until then */
	u64 written_ns;		/* when all that left the cache, or passed it by, is on the platter */
	u64 there_ns;		/* when all that is in extents has been there, at the latest */
	u64 passed_over;	/* so often was another taken before the oldest */
	u64 extents;
	u8 by_sector[FB_MAX_EXTENTS];
	u8 by_age[FB_MAX_EXTENTS];	/* the oldest first */
	u32 angle_ns[FB_MAX_EXTENTS];	/* where the platter must stand to write an extent's first sector */
	struct fb_extent extent[FB_MAX_EXTENTS];
};

void fb_cache_clear(struct fb_cache *cache);

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
