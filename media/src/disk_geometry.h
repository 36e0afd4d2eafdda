/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The place of a sector on a disk, and the position of the platter. Addresses run from the outermost cylinder inwards,
 * over all heads of a cylinder before the next one. Angles are in nanoseconds of a revolution. At time 0 sector 0 is
 * under the head.
 *
 * Tracks are skewed as a maker formats them: a write that crosses to the next track finds its first sector just when
 * the head switch, or seek and settling, is over.
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
	u64 head_skew_ns;	/* the skew of a track to the one before it, on the next head */
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
	u32 sector;		/* within its track */
	u32 sectors_per_track;
};

void fb_geometry_init(struct fb_geometry *geometry, const struct fb_params *params);
struct fb_place fb_geometry_locate(const struct fb_geometry *geometry, const struct fb_params *params, u64 sector);

/* The angle at which a place begins */
u64 fb_geometry_angle_ns(const struct fb_geometry *geometry, const struct fb_place *place);

/* The time in which `sectors` sectors pass, from a place on, all on its track */
u64 fb_geometry_pass_ns(const struct fb_geometry *geometry, const struct fb_place *place, u64 sectors);

#endif
