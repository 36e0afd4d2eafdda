/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Deterministic pseudorandom numbers: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", 2014) from any seed, and xorshift64* (Marsaglia 2003; Vigna 2016) from any seed but 0.
 */
#ifndef FB_RANDOM_H
#define FB_RANDOM_H

#include "fb_types.h"

#define FB_SPLITMIX_STEP 0x9e3779b97f4a7c15ull

/* The finalizer of SplitMix64, a bijection */
static inline u64 fb_mix(u64 z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static inline u64 fb_splitmix(u64 *state)
{
	*state += FB_SPLITMIX_STEP;
	return fb_mix(*state);
}

/* The value of the i-th call, counted from 0, from a seed */
static inline u64 fb_splitmix_at(u64 seed, u64 i)
{
	return fb_mix(seed + (i + 1) * FB_SPLITMIX_STEP);
}

static inline u64 fb_xorshift(u64 *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

#endif
