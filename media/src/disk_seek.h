/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How long the arm takes over a number of cylinders. Short seeks speed up and brake: time grows with the square root of
 * the distance. Long ones coast: it grows in proportion (Ruemmler and Wilkes, "An introduction to disk drive modeling",
 * 1994). The curve goes through the three figures of a data sheet: 1 cylinder, the average (a third of the stroke), the
 * full stroke.
 */
#ifndef FB_DISK_SEEK_H
#define FB_DISK_SEEK_H

#include "fb_params.h"

u64 fb_seek_ns(const struct fb_params *params, u32 distance_cylinders);

#endif
