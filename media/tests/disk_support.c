// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What the disk's tests share: a disk that reads ahead, and a host that goes through it in order */
#include "disk_support.h"

struct fb_params disk_reading_ahead(u64 sectors)
{
	struct fb_params p = sample_disk();

	p.readahead_bytes = sectors * SECTOR;
	p.segment_bytes = 2 * sectors * SECTOR;
	return p;
}

u64 sequential_ns(struct fb_medium *m, enum fb_op op, u64 sectors, u64 request_sectors, u64 think_ns)
{
	u64 now_ns = 0, at;

	for (at = 0; at < sectors; at += request_sectors)
		now_ns = submit(m, op, at * SECTOR, request_sectors * SECTOR, now_ns) + think_ns;
	return now_ns - think_ns;
}
