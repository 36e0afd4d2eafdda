/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Replays a trace on a medium, and records the latencies */
#ifndef PLAYER_H
#define PLAYER_H

#include <stdio.h>

#include "latencies.h"
#include "outage.h"
#include "trace.h"

enum { OP_COUNT = FB_FLUSH + 1 };

struct player_options {
	bool as_fast_as_possible;	/* ignores the trace's times */
	u64 queue_depth;		/* maximum of pending requests; 0: no limit */
	bool no_percentiles;		/* latencies are summed up, not kept, so that requests take no memory */
	struct outage outage;
	FILE *completions;		/* gets "submitted_ns done_ns" for each request; or NULL */
};

/*
 * A latency counts from the time in the trace or, with as_fast_as_possible, from the time at which the request is
 * issued. Requests under way at a power cut count as if they had been finished.
 */
struct played {
	struct latencies of[OP_COUNT];
	u64 bytes[OP_COUNT];
	u64 begin_ns;			/* the first request is issued */
	u64 end_ns;			/* the last request is done, or the power fails */
	struct outage_told outage;
	struct fb_counters counters;	/* the requests' increments */
};

/* False: a message is on stderr */
bool play(struct fb_medium *medium, const struct trace *trace, const struct player_options *options,
	  struct played *played);
void played_free(struct played *played);

#endif
