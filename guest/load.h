/* SPDX-License-Identifier: Apache-2.0 */
/* Shared code of the load programs: the clock, random numbers, numbers of the command line */
#ifndef LOAD_H
#define LOAD_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

static inline uint64_t now_ns(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (uint64_t)at.tv_sec * NS_PER_S + (uint64_t)at.tv_nsec;
}

static inline uint64_t number(const char *text)
{
	return strtoull(text, NULL, 10);
}

/* The initial state for one of `processes` processes: all processes and seeds begin differently */
static inline uint64_t random_state(uint64_t seed, uint64_t processes, uint64_t process)
{
	return (seed * processes + process + 1) * 0x9e3779b97f4a7c15ull;
}

/* xorshift64* (S. Vigna, ACM Transactions on Mathematical Software 42(4), 2016) */
static inline uint64_t random_below(uint64_t *state, uint64_t bound)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (*state * 0x2545f4914f6cdd1dull >> 32) % bound;
}

/* True if a call read or wrote everything. Else errno is set: to `reason` if only a part was done. */
static inline bool is_whole(ssize_t done, uint64_t bytes, int reason)
{
	if (done >= 0 && (uint64_t)done < bytes)
		errno = reason;
	return done == (ssize_t)bytes;
}

#endif
