/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the disk's tests share. sample_disk(): 10 ms a revolution, 100 us a sector outside and 200 us inside */
#ifndef DISK_SUPPORT_H
#define DISK_SUPPORT_H

#include "samples.h"
#include "test.h"

enum {
	SECTOR = 512,
	REVOLUTION_NS = 10000000,
	OUTER_NS = 100000,	/* a sector */
	SKEW_NS = 1000000 + 200000,	/* a track's start against the one before: seek and settle */
	INNER_ZONE = 3200,	/* its first sector: 32 cylinders of 100 */
};

/* sample_disk() that reads so many sectors ahead, in a segment that keeps twice as many */
struct fb_params disk_reading_ahead(u64 sectors);

/* Time of reading (or writing) sectors one request after the other, the host thinking in between */
u64 sequential_ns(struct fb_medium *m, enum fb_op op, u64 sectors, u64 request_sectors, u64 think_ns);

#endif
