/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The seek time for a number of cylinders. Short seeks accelerate and brake: time grows with the square root of the
 * distance. Long seeks coast: time grows linearly (Ruemmler and Wilkes, "An introduction to disk drive modeling",
 * 1994). The two parts meet at a third of the stroke. The curve reproduces three figures of a data sheet: one cylinder,
 * the full stroke, and the average over all pairs of cylinders, weighted as data sheets do (Hitachi Travelstar 5K320
 * OEM specification, 4.4.2.1).
 */
#ifndef FB_DISK_SEEK_H
#define FB_DISK_SEEK_H

#include "fb_params.h"

/* Shorter seeks use a table: a square root at each request costs a guest's CPU too much */
#define FB_NEAR_CYLINDERS 2048

struct fb_seek_curve {
	u64 track_ns;
	u64 third_ns;
	u64 full_ns;
	u64 stroke;		/* cylinders */
	u64 third;		/* of the stroke */
	u64 third_root;		/* its square root less one, in units of 2^-16 */
};

struct fb_seeks {
	struct fb_seek_curve curve;
	u64 near_ns[FB_NEAR_CYLINDERS];
};

struct fb_seek_curve fb_read_curve(const struct fb_params *params);

/* The curve for writes, settling included */
struct fb_seek_curve fb_write_curve(const struct fb_params *params);

u64 fb_curve_ns(const struct fb_seek_curve *curve, u32 distance_cylinders);

void fb_seeks_init(struct fb_seeks *seeks, const struct fb_seek_curve *curve);
bool fb_seeks_undamaged(const struct fb_seeks *seeks, const struct fb_seek_curve *curve);

static inline u64 fb_seek_ns(const struct fb_seeks *seeks, u32 distance_cylinders)
{
	return distance_cylinders < FB_NEAR_CYLINDERS ? seeks->near_ns[distance_cylinders] :
							fb_curve_ns(&seeks->curve, distance_cylinders);
}

/* The bounds of the average of a curve that rises all the way */
u64 fb_min_average_ns(const struct fb_params *params);
u64 fb_max_average_ns(const struct fb_params *params);
u64 fb_max_write_average_ns(const struct fb_params *params);

#endif
