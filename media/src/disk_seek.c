// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "arith.h"
#include "disk_seek.h"

/* Square roots carry 16 binary places */
#define ROOT_ONE (1ull << 16)

/*
 * Of all pairs of cylinders, those a share x of the stroke apart have the weight 2 (1 - x). With it, the average of the
 * curve's two parts is 27/135 of the time for one cylinder, 88/135 of that for a third of the stroke and 20/135 of that
 * for all of it (for many cylinders, where one is nothing against a third).
 */
enum { WEIGHT_TRACK = 27, WEIGHT_THIRD = 88, WEIGHT_FULL = 20, WEIGHTS = 135 };

struct curve {
	u64 track_ns;
	u64 third_ns;
	u64 full_ns;
};

static u64 root(u64 number)
{
	return fb_isqrt(number << 32);
}

static struct curve curve_of(u64 track_ns, u64 average_ns, u64 full_ns)
{
	return (struct curve) {
		.track_ns = track_ns,
		.third_ns = (WEIGHTS * average_ns - WEIGHT_TRACK * track_ns - WEIGHT_FULL * full_ns) / WEIGHT_THIRD,
		.full_ns = full_ns,
	};
}

static u64 seek_ns(struct curve c, u64 stroke, u32 distance)
{
	u64 third = stroke / 3;

	if (!distance)
		return 0;
	if (distance <= third)
		return c.track_ns + (c.third_ns - c.track_ns) * (root(distance) - ROOT_ONE) / (root(third) - ROOT_ONE);
	return c.third_ns + (c.full_ns - c.third_ns) * (distance - third) / (stroke - third);
}

u64 fb_seek_ns(const struct fb_params *p, u32 distance)
{
	return seek_ns(curve_of(p->seek_track_ns, p->seek_average_ns, p->seek_full_ns), p->cylinders - 1, distance);
}

/* What writing adds to the average it adds to the full stroke too; without that figure, settling is all it adds */
u64 fb_write_seek_ns(const struct fb_params *p, u32 distance)
{
	u64 more_ns = p->write_seek_average_ns ? p->write_seek_average_ns - p->seek_average_ns : p->write_settle_ns;

	return seek_ns(curve_of(p->seek_track_ns + p->write_settle_ns, p->seek_average_ns + more_ns,
				p->seek_full_ns + more_ns), p->cylinders - 1, distance);
}

u64 fb_least_average_ns(const struct fb_params *p)
{
	return fb_divide_up((WEIGHTS - WEIGHT_FULL) * p->seek_track_ns + WEIGHT_FULL * p->seek_full_ns, WEIGHTS);
}

u64 fb_most_average_ns(const struct fb_params *p)
{
	return (WEIGHT_TRACK * p->seek_track_ns + (WEIGHTS - WEIGHT_TRACK) * p->seek_full_ns) / WEIGHTS;
}
