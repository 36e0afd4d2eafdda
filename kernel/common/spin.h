/* SPDX-License-Identifier: GPL-2.0-only */
/* A busy CPU, as one that moves each byte itself */
#ifndef MEDIA_SPIN_H
#define MEDIA_SPIN_H

#include <linux/ktime.h>

#define MEDIA_MAX_BUSY_NS	NSEC_PER_SEC	/* of one hint (emulator/lab-clock.h) */

/*
 * The lab's emulator executes HINT #112 as work of X0 nanoseconds and counts X0 down to 0, without
 * executing instructions (emulator/patches/30-busy.patch). An interrupt comes on time during the
 * work, and the rest is done afterwards, as with any CPU work. Longer work is clamped to
 * MEDIA_MAX_BUSY_NS. Returns what is left: 0; or all of it on any other machine, where the hint is
 * a NOP.
 */
static inline u64 media_busy_ns(u64 ns)
{
	register u64 left asm("x0") = ns;

	asm volatile("hint #112" : "+r" (left) : : "memory");
	return left;
}

/* In the lab, one clock read per hint of up to a second; elsewhere a loop of clock reads */
static inline void media_spin_until(ktime_t time)
{
	s64 left;

	do
		left = ktime_to_ns(ktime_sub(time, ktime_get()));
	while (left > 0 && (media_busy_ns(left) || left > MEDIA_MAX_BUSY_NS));
}

#endif
