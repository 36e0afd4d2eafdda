/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The disk's volatile write cache. It holds writes that are not on the platter yet, as extents of sectors in the order
 * of arrival. New content of a sector replaces the old; neighbours merge into one extent. A write joins the extents
 * when its data has arrived. Until then only earlier writes can be destaged.
 *
 * Extents are destaged in pieces of at most a track, as soon as the arm has no host request and read-ahead is done. Of
 * the reorder_depth oldest extents, the one reached first goes first, but none is passed over more than
 * FB_DESTAGE_PATIENCE times. A write that finds the cache full waits until the head has passed as many sectors as it
 * needs.
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
	u64 passed_more;	/* passes over it beyond those of the next newer one */
	struct fb_place place;	/* of its first sector */
	struct fb_chain parts;	/* the writes' parts in it */
};

/* A write that is acknowledged, but still on the link or waiting for room */
struct fb_arrival {
	u64 first;
	u64 end;
	u64 at_ns;		/* arrived */
	struct fb_place place;	/* of its first sector */
	struct fb_chain parts;
};

/* In both orders, the slots in use are in front */
struct fb_cache {
	u64 sectors;		/* in extents */
	u64 arriving;		/* sectors in arrivals */
	u64 leaving;		/* sectors of the piece that was written back last, */
	u64 leave_ns;		/* from then */
	u64 left_ns;		/* until then */
	u64 known_ns;		/* the arm's work up to then is settled */
	u64 room_ns;		/* the last arrival so far */
	u64 written_ns;		/* when everything that left or bypassed the cache is on the platter */
	u64 passed_over;	/* times that the oldest was passed over */
	u64 extents;
	u64 arrivals;
	u8 by_sector[FB_MAX_EXTENTS];
	u8 by_age[FB_MAX_EXTENTS];	/* oldest first */
	u32 angle_ns[FB_MAX_EXTENTS];	/* the platter's angle at an extent's first sector */
	struct fb_extent extent[FB_MAX_EXTENTS];
	struct fb_arrival arrival[FB_MAX_ARRIVALS];	/* in the order of arrival */
};

void fb_cache_clear(struct fb_cache *cache);

/* Does the disk's background work up to now_ns */
void fb_cache_catch_up(struct fb_medium *m, u64 now_ns);

/* Accepts a write whose data arrived at arrived_ns; returns the time at which there was room */
u64 fb_cache_write(struct fb_medium *m, u64 first, u64 end, u64 arrived_ns);

/* The time at which all of it can be read from the cache; FB_NEVER if it is not cached, nor arriving in one write */
u64 fb_cache_read(const struct fb_medium *m, u64 first, u64 end, u64 command_done_ns);

/* Destages everything; returns the time at which all is on the platter */
u64 fb_cache_flush(struct fb_medium *m, u64 now_ns);

const char *fb_cache_verify(const struct fb_medium *m);

#endif
