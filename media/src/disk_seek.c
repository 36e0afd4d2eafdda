// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "arith.h"
#include "disk_seek.h"

/* Square roots carry 16 binary places */
#define ROOT_ONE (1ull << 16)

static u64 root(u64 number)
{
	return fb_isqrt(number << 32);
}

u64 fb_seek_ns(const struct fb_params *p, u32 distance)
{
	u64 stroke = p->cylinders - 1;
	u64 third = stroke / 3;

	if (!distance)
		return 0;
	if (distance <= third)
		return p->seek_track_ns + (p->seek_average_ns - p->seek_track_ns) *
					  (root(distance) - ROOT_ONE) / (root(third) - ROOT_ONE);
	return p->seek_average_ns + (p->seek_full_ns - p->seek_average_ns) * (distance - third) / (stroke - third);
}
