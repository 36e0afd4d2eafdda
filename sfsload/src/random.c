// SPDX-License-Identifier: Apache-2.0
/*
 * SplitMix64: a counter through a mixing function (Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014).
 */
#include "random.h"

#define STEP UINT64_C(0x9e3779b97f4a7c15)
#define LN_2 UINT64_C(2977044472) /* ln 2 * 2^32 */

static uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

void random_start(struct random *random, uint64_t seed, uint64_t stream)
{
	random->state = mixed(mixed(seed + STEP) + stream * STEP);
}

uint64_t random_u64(struct random *random)
{
	random->state += STEP;
	return mixed(random->state);
}

uint64_t random_below(struct random *random, uint64_t count)
{
	uint64_t drawn, uneven = -count % count; /* the numbers below `uneven` would bias the remainders */

	do
		drawn = random_u64(random);
	while (drawn < uneven);
	return drawn % count;
}

/* -log2(x / 2^64) * 2^32: the position of the first bit, then a bit of the fraction for each squaring */
static uint64_t minus_log2(uint64_t x)
{
	unsigned int zeros = (unsigned int)__builtin_clzll(x);
	uint64_t at = x << zeros >> 32, fraction = 0;

	for (int i = 0; i < 32; i++) {
		at = at * at >> 31;
		fraction <<= 1;
		if (at >> 32) {
			fraction |= 1;
			at >>= 1;
		}
	}
	return ((uint64_t)(zeros + 1) << 32) - fraction;
}

uint64_t random_exponential(struct random *random, uint64_t mean)
{
	uint64_t drawn = random_u64(random);
	uint64_t ln = (uint64_t)((unsigned __int128)minus_log2(drawn ? drawn : 1) * LN_2 >> 32);

	return (uint64_t)((unsigned __int128)mean * ln >> 32);
}

void random_order(struct random *random, uint16_t *order, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t place = (uint32_t)random_below(random, i + 1);

		order[i] = order[place];
		order[place] = (uint16_t)i;
	}
}
