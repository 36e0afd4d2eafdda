/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Request latencies. All values are kept, so percentiles are exact (nearest rank). If ns is NULL, none are kept. */
#ifndef LATENCIES_H
#define LATENCIES_H

#include "fb_types.h"

struct latencies {
	u64 *ns;
	size_t count;
	u64 sum_ns;
};

/* In units of 1/10,000 */
enum { P50 = 5000, P95 = 9500, P99 = 9900, P999 = 9990, P_MAX = 10000 };

/* Reorders the values. Returns 0 if there are none. */
u64 latencies_percentile(struct latencies *latencies, unsigned int of_10000);

#endif
