/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Small integer arithmetic for several files of the core */
#ifndef FB_ARITH_H
#define FB_ARITH_H

#include "fb_types.h"

static inline u64 fb_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

static inline u64 fb_min(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline u64 fb_div_round_up(u64 number, u64 by)
{
	return (number + by - 1) / by;
}

static inline bool fb_power_of_two(u64 number)
{
	return number && !(number & (number - 1));
}

/*
 * A constant divisor with its reciprocal 2^32 / by. Quotients of numbers below 2^32 then take only multiplications:
 * number * reciprocal / 2^32 is the quotient, or one less.
 */
struct fb_divisor {
	u64 by;
	u64 reciprocal;
};

static inline struct fb_divisor fb_divisor(u64 by)
{
	return (struct fb_divisor) { by, (1ull << 32) / by };
}

static inline u64 fb_quotient(const struct fb_divisor *d, u64 number)
{
	u64 quotient;

	if (number >> 32)
		return number / d->by;
	quotient = number * d->reciprocal >> 32;
	return quotient + (number - quotient * d->by >= d->by);
}

static inline u64 fb_remainder(const struct fb_divisor *d, u64 number)
{
	return number - fb_quotient(d, number) * d->by;
}

/* The time of a transfer, rounded up to whole nanoseconds */
static inline u64 fb_transfer_ns(u64 bytes, u64 ps_per_byte)
{
	return fb_div_round_up(bytes * ps_per_byte, 1000);
}

/* The largest r with r * r <= number, by Newton's method from a power of two above */
static inline u64 fb_isqrt(u64 number)
{
	u64 root, next;

	if (number < 2)
		return number;
	next = 1ull << (64 - __builtin_clzll(number) + 1) / 2;
	do {
		root = next;
		next = (root + number / root) / 2;
	} while (next < root);
	return root;
}

#endif
