/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How long the arm takes over a number of cylinders. Short seeks speed up and brake: time grows with the square root of
 * the distance. Long ones coast: it grows in proportion (Ruemmler and Wilkes, "An introduction to disk drive modeling",
 * 1994). The two parts meet at a third of the stroke. The curve has the three figures of a data sheet: 1 cylinder, the
 * full stroke, and the average over all pairs of cylinders, as data sheets weigh it (Hitachi Travelstar 5K320 OEM
 * specification, 4.4.2.1).
 */
#ifndef FB_DISK_SEEK_H
#define FB_DISK_SEEK_H

#include "fb_params.h"

u64 fb_seek_ns(const struct fb_params *params, u32 distance_cylinders);

/* The same to write there, settling included */
u64 fb_write_seek_ns(const struct fb_params *params, u32 distance_cylinders);

/* Between these lies the average of a curve that rises all the way */
u64 fb_least_average_ns(const struct fb_params *params);
u64 fb_most_average_ns(const struct fb_params *params);

#endif
