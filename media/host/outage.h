/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A power cut during a trace. It leaves the medium's state as a restart finds it. The requests of a trace have no
 * content.
 */
#ifndef OUTAGE_H
#define OUTAGE_H

#include "fb_power.h"

/* The time of the cut, and the seed for the rest. At most one of the two times is given. */
struct outage {
	u64 at_request;		/* at a seeded moment while this request, counted from 1, is under way; 0: unused */
	u64 after_ns;		/* this long after the trace's begin; FB_NEVER: unused */
	u64 seed;
};

/* The fate of the pending writes, in parts (fb_power.h) and in bytes */
struct outage_told {
	bool happened;
	u64 cut_ns;		/* by the medium's clock */
	u64 requests;		/* issued before the cut */
	u64 bytes[3];		/* by fate */
	u64 torn;		/* parts that were under way */
};

bool outage_wanted(const struct outage *outage);

/* The moment of the cut during a request that was issued at now_ns */
u64 outage_moment(const struct outage *outage, u64 now_ns, u64 done_ns);

/* Cuts the power; leaves told->requests unchanged */
void outage_happens(struct fb_medium *medium, const struct outage *outage, u64 cut_ns, struct outage_told *told);

#endif
