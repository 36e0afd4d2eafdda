/* SPDX-License-Identifier: GPL-2.0-only */
/* A CPU that is busy until a moment, as one is that moves each byte by itself. */
#ifndef MEDIA_SPIN_H
#define MEDIA_SPIN_H

#include <linux/compiler.h>
#include <linux/ktime.h>

#define SPIN_ROUND_NS	32	/* more than a round takes on any board: three instructions of at most 4 ns */

/*
 * Counts most of the time down and reads the clock seldom: each look at it, and each cpu_relax(), makes QEMU leave the
 * guest's code, which costs the host more than thousand instructions of the guest's.
 */
static inline void media_spin_until(ktime_t time)
{
	s64 left;

	while ((left = ktime_to_ns(ktime_sub(time, ktime_get()))) > 0) {
		u64 rounds = (u64)left / SPIN_ROUND_NS;

		while (rounds--)
			barrier();
	}
}

#endif
