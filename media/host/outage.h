/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The power fails in the middle of a trace. The medium's state is left as a restart finds it; content is nobody's
 * business here: the requests of a trace have none.
 */
#ifndef OUTAGE_H
#define OUTAGE_H

#include "fb_power.h"

/* When it fails, and what decides the rest. At most one of the two moments is given. */
struct outage {
	u64 at_request;		/* while this one, counted from 1, is under way, by seed; 0: not so */
	u64 after_ns;		/* so long after the trace began; FB_NEVER: not so */
	u64 seed;
};

/* What came of the writes that were not on the medium, in parts of a write (fb_power.h) and in bytes */
struct outage_told {
	bool happened;
	u64 cut_ns;		/* the medium's clock */
	u64 requests;		/* that had come */
	u64 bytes[3];		/* by fate */
	u64 torn;		/* parts that were under way */
};

bool outage_wanted(const struct outage *outage);

/* The moment at which the power fails while a request is under way that came at now_ns */
u64 outage_moment(const struct outage *outage, u64 now_ns, u64 done_ns);

/* The power goes; told->requests stays as it is */
void outage_happens(struct fb_medium *medium, const struct outage *outage, u64 cut_ns, struct outage_told *told);

#endif
