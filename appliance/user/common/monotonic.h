/* SPDX-License-Identifier: Apache-2.0 */
/* The monotonic clock */
#ifndef MONOTONIC_H
#define MONOTONIC_H

#include <time.h>

static inline long long now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

static inline time_t now_s(void)
{
	return now_ms() / 1000;
}

#endif
