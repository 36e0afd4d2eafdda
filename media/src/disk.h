/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A rotating disk: an arm that seeks, a spindle that never stops, a buffer for reads and a cache for writes. The arm's
 * work is disk_arm.h, the buffer disk_buffer.h, the write cache disk_cache.h.
 *
 * Simplifications: the completion time of a request is fixed when it arrives, so requests are reordered only where that
 * delays none (disk_arm.h); there are no spare sectors; a write is received as a whole before it is written; a read
 * that is partly in the write cache is read from the platter as a whole.
 */
#ifndef FB_DISK_H
#define FB_DISK_H

#include "disk_arm.h"
#include "disk_buffer.h"
#include "disk_cache.h"
#include "disk_geometry.h"
#include "disk_seek.h"
#include "fb_medium.h"

struct fb_disk {
	struct fb_geometry geometry;
	struct fb_seeks read_seeks;
	struct fb_seeks write_seeks;
	struct fb_arm arm;
	struct fb_buffer buffer;
	struct fb_cache cache;
};

#endif
