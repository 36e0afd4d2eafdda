/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Where a sector lies on a disk, and where the platter stands. Addresses run from the outermost cylinder inwards, over
 * all heads of a cylinder before the next one. Angles are nanoseconds of a revolution. At time 0 sector 0 is under the
 * head.
 *
 * Tracks are skewed as a maker formats them: each begins just late enough that a write which crosses to it finds its
 * first sector when head switch or seek and settling are over.
 */
#ifndef FB_DISK_GEOMETRY_H
#define FB_DISK_GEOMETRY_H

#include "fb_params.h"

#define FB_MAX_ZONES 64

struct fb_zone {
	u64 first_sector;
	u32 first_cylinder;
	u32 sectors_per_track;
};

struct fb_geometry {
	u64 sectors;
	u64 revolution_ns;
	u64 head_skew_ns;	/* a track's first angle against that of the one before, on the next head */
	u64 cylinder_skew_ns;	/* the same for head 0 of the next cylinder, less whole revolutions */
	u64 zones;
	struct fb_zone zone[FB_MAX_ZONES];
};

struct fb_track {
	u32 cylinder;
	u32 head;
};

struct fb_place {
	struct fb_track track;
	u32 sector;		/* of its track */
	u32 sectors_per_track;
};

void fb_geometry_init(struct fb_geometry *geometry, const struct fb_params *params);
struct fb_place fb_geometry_locate(const struct fb_geometry *geometry, const struct fb_params *params, u64 sector);

/* Angle at which a place begins */
u64 fb_geometry_angle_ns(const struct fb_geometry *geometry, const struct fb_place *place);

/* Time in which so many sectors pass, from a place on, all on its track */
u64 fb_geometry_pass_ns(const struct fb_geometry *geometry, const struct fb_place *place, u64 sectors);

#endif
