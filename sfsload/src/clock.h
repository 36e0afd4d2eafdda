/* SPDX-License-Identifier: Apache-2.0 */
/* The only clock: CLOCK_MONOTONIC, ns. The time of day is never used. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

#define NEVER UINT64_MAX
#define NS_IN_S UINT64_C(1000000000)
#define NS_IN_MS UINT64_C(1000000)

static inline uint64_t now_ns(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (uint64_t)at.tv_sec * NS_IN_S + (uint64_t)at.tv_nsec;
}

static inline struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec) { .tv_sec = (time_t)(ns / NS_IN_S), .tv_nsec = (long)(ns % NS_IN_S) };
}

#endif
