// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Seek times: a curve through the figures of a data sheet */
#include "arith.h"
#include "disk_seek.h"

/* Square roots have 16 binary places */
#define ROOT_ONE (1ull << 16)

/*
 * Over all pairs of cylinders, a distance x of the stroke has the weight 2 (1 - x). The average of the curve's two
 * parts is then 27/135 of the one-cylinder time, 88/135 of the time for a third of the stroke and 20/135 of the
 * full-stroke time. (This assumes many cylinders, so that one is negligible against a third.)
 */
enum { WEIGHT_TRACK = 27, WEIGHT_THIRD = 88, WEIGHT_FULL = 20, WEIGHTS = 135 };

static u64 root(u64 number)
{
	return fb_isqrt(number << 32);
}

static struct fb_seek_curve curve_of(u64 track_ns, u64 average_ns, u64 full_ns, u64 stroke)
{
	return (struct fb_seek_curve) {
		.track_ns = track_ns,
		.third_ns = (WEIGHTS * average_ns - WEIGHT_TRACK * track_ns - WEIGHT_FULL * full_ns) / WEIGHT_THIRD,
		.full_ns = full_ns,
		.stroke = stroke,
		.third = stroke / 3,
		.third_root = root(stroke / 3) - ROOT_ONE,
	};
}

struct fb_seek_curve fb_read_curve(const struct fb_params *p)
{
	return curve_of(p->seek_track_ns, p->seek_average_ns, p->seek_full_ns, p->cylinders - 1);
}

/* What writing adds to the average, it adds to the full stroke too. Without a write average it adds only settling. */
struct fb_seek_curve fb_write_curve(const struct fb_params *p)
{
	u64 more_ns = p->write_seek_average_ns ? p->write_seek_average_ns - p->seek_average_ns : p->write_settle_ns;

	return curve_of(p->seek_track_ns + p->write_settle_ns, p->seek_average_ns + more_ns, p->seek_full_ns + more_ns,
			p->cylinders - 1);
}

u64 fb_curve_ns(const struct fb_seek_curve *c, u32 distance)
{
	if (!distance)
		return 0;
	if (distance <= c->third)
		return c->track_ns + (c->third_ns - c->track_ns) * (root(distance) - ROOT_ONE) / c->third_root;
	return c->third_ns + (c->full_ns - c->third_ns) * (distance - c->third) / (c->stroke - c->third);
}

static u64 near_ns(const struct fb_seek_curve *c, u32 distance)
{
	return distance <= c->stroke ? fb_curve_ns(c, distance) : 0;
}

void fb_seeks_init(struct fb_seeks *seeks, const struct fb_seek_curve *curve)
{
	u32 distance;

	seeks->curve = *curve;
	for (distance = 0; distance < FB_NEAR_CYLINDERS; distance++)
		seeks->near_ns[distance] = near_ns(curve, distance);
}

bool fb_seeks_undamaged(const struct fb_seeks *seeks, const struct fb_seek_curve *curve)
{
	const struct fb_seek_curve *is = &seeks->curve;
	u32 distance;

	if (is->track_ns != curve->track_ns || is->third_ns != curve->third_ns || is->full_ns != curve->full_ns ||
	    is->stroke != curve->stroke || is->third != curve->third || is->third_root != curve->third_root)
		return false;
	for (distance = 0; distance < FB_NEAR_CYLINDERS; distance++)
		if (seeks->near_ns[distance] != near_ns(curve, distance))
			return false;
	return true;
}

u64 fb_min_average_ns(const struct fb_params *p)
{
	return fb_div_round_up((WEIGHTS - WEIGHT_FULL) * p->seek_track_ns + WEIGHT_FULL * p->seek_full_ns, WEIGHTS);
}

u64 fb_max_average_ns(const struct fb_params *p)
{
	return (WEIGHT_TRACK * p->seek_track_ns + (WEIGHTS - WEIGHT_TRACK) * p->seek_full_ns) / WEIGHTS;
}

/* The full stroke grows with the write average, so inserting one for the other above is not enough */
u64 fb_max_write_average_ns(const struct fb_params *p)
{
	return p->seek_track_ns + p->write_settle_ns + 4 * p->seek_full_ns - 4 * p->seek_average_ns;
}
