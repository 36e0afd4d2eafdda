/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The disk's write cache, volatile: what was written to it and is not on the platter yet, as extents of sectors in the
 * order in which they came. New content of a sector takes the old one's place; neighbours become one extent. A write
 * joins them when its data is there: until then what came before it can be written back, and nothing else.
 *
 * It is written back ("destaged") in pieces of a track at most, as soon as the arm has nothing to do for the host and
 * has read on as far as it may; of the reorder_depth oldest extents the one first that is reached soonest, but none
 * waits while more than FB_DESTAGE_PATIENCE others are taken. A write that finds the cache full waits until the head
 * has passed as many sectors as it needs.
 */
#ifndef FB_DISK_CACHE_H
#define FB_DISK_CACHE_H

#include "disk_geometry.h"
#include "power.h"

#define FB_MAX_EXTENTS		64
#define FB_MAX_ARRIVALS		32
#define FB_DESTAGE_PATIENCE	64

struct fb_medium;

struct fb_extent {
	u64 first;
	u64 end;
	u64 passed_more;	/* so much oftener was another taken first than before the next newer one */
	struct fb_place place;	/* of its first sector */
	struct fb_chain parts;	/* of the writes that it is made of */
};

/* A write that is answered and still on its way over the link, or waits for room */
struct fb_arrival {
	u64 first;
	u64 end;
	u64 at_ns;		/* it is there */
	struct fb_place place;	/* of its first sector */
	struct fb_chain parts;
};

/* Slots in use lie in front of the others, in both orders */
struct fb_cache {
	u64 sectors;		/* in extents */
	u64 arriving;		/* sectors in arrivals */
	u64 leaving;		/* sectors of the piece that was written back last, */
	u64 leave_ns;		/* from then */
	u64 left_ns;		/* until then */
	u64 known_ns;		/* what the arm begins before then is settled */
	u64 room_ns;		/* the last arrival ever */
	u64 written_ns;		/* when all that left the cache, or passed it by, is on the platter */
	u64 passed_over;	/* so often was another taken before the oldest */
	u64 extents;
	u64 arrivals;
	u8 by_sector[FB_MAX_EXTENTS];
	u8 by_age[FB_MAX_EXTENTS];	/* the oldest first */
	u32 angle_ns[FB_MAX_EXTENTS];	/* where the platter must stand to write an extent's first sector */
	struct fb_extent extent[FB_MAX_EXTENTS];
	struct fb_arrival arrival[FB_MAX_ARRIVALS];	/* the first to come first */
};

void fb_cache_clear(struct fb_cache *cache);

/* What the disk does by itself until now_ns */
void fb_cache_catch_up(struct fb_medium *m, u64 now_ns);

/* Takes a write whose data arrived at arrived_ns; returns when there was room for it */
u64 fb_cache_write(struct fb_medium *m, u64 first, u64 end, u64 arrived_ns);

/* When all of this can be read from the cache; FB_NEVER if it is not there, and not on its way in one write */
u64 fb_cache_read(const struct fb_medium *m, u64 first, u64 end, u64 command_done_ns);

/* Writes everything back; returns when all is on the platter */
u64 fb_cache_flush(struct fb_medium *m, u64 now_ns);

const char *fb_cache_verify(const struct fb_medium *m);

#endif
