/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014) */
#ifndef SPLITMIX_H
#define SPLITMIX_H

#include "fb_types.h"

static inline u64 splitmix(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* The value that the i-th call, counted from 0, gives from a seed */
static inline u64 splitmix_at(u64 seed, u64 i)
{
	u64 state = seed + i * 0x9e3779b97f4a7c15ull;

	return splitmix(&state);
}

#endif
