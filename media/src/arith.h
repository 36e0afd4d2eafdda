/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Small integer arithmetic that several rooms of the core need */
#ifndef FB_ARITH_H
#define FB_ARITH_H

#include "fb_types.h"

static inline u64 fb_later(u64 a_ns, u64 b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

static inline u64 fb_smaller(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline u64 fb_divide_up(u64 number, u64 by)
{
	return (number + by - 1) / by;
}

static inline bool fb_power_of_two(u64 number)
{
	return number && !(number & (number - 1));
}

/* Time of a transfer, rounded up to whole nanoseconds */
static inline u64 fb_transfer_ns(u64 bytes, u64 ps_per_byte)
{
	return fb_divide_up(bytes * ps_per_byte, 1000);
}

/* Largest r with r * r <= number, bit by bit from the top */
static inline u64 fb_isqrt(u64 number)
{
	u64 bit = 1ull << 62;
	u64 root = 0;

	while (bit > number)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (number >= root + bit) {
			number -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return root;
}

#endif
