/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers from a seed, in integers, so that they are the same on every machine */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

struct random {
	uint64_t state;
};

/* Streams of one seed are independent */
void random_start(struct random *random, uint64_t seed, uint64_t stream);

uint64_t random_u64(struct random *random);

/* Uniform in 0 to count - 1; count is at least 1 */
uint64_t random_below(struct random *random, uint64_t count);

/* Exponentially distributed with this mean, in the mean's unit; mean below 2^58 */
uint64_t random_exponential(struct random *random, uint64_t mean);

/* A random permutation of 0 to count - 1, uniform; count is at most 65536 */
void random_order(struct random *random, uint16_t *order, uint32_t count);

#endif
