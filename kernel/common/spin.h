/* SPDX-License-Identifier: GPL-2.0-only */
/* A CPU that is busy until a moment, as one is that moves each byte by itself. */
#ifndef MEDIA_SPIN_H
#define MEDIA_SPIN_H

#include <linux/ktime.h>

#define MEDIA_MAX_BUSY_NS	NSEC_PER_SEC	/* of one hint (emulator/lab-clock.h) */

/*
 * The lab's emulator takes HINT #112 for work of X0 nanoseconds and counts X0 down to 0, without
 * executing anything (emulator/patches/30-busy.patch). An interrupt comes on time in the midst of
 * it, and what is left is done after it, as with any work of a CPU. Above MEDIA_MAX_BUSY_NS, it is
 * work of so many. Returns what is left: nothing, or all of it on any other machine, which takes
 * the hint for a NOP.
 */
static inline u64 media_busy_ns(u64 ns)
{
	register u64 left asm("x0") = ns;

	asm volatile("hint #112" : "+r" (left) : : "memory");
	return left;
}

/*
 * One look at the clock for each hint, which is one for up to a second; elsewhere one look after
 * the other
 */
static inline void media_spin_until(ktime_t time)
{
	s64 left;

	do
		left = ktime_to_ns(ktime_sub(time, ktime_get()));
	while (left > 0 && (media_busy_ns(left) || left > MEDIA_MAX_BUSY_NS));
}

#endif
