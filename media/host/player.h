/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Puts the requests of a trace to a medium, and notes how long each takes */
#ifndef PLAYER_H
#define PLAYER_H

#include <stdio.h>

#include "latencies.h"
#include "outage.h"
#include "trace.h"

enum { OP_COUNT = FB_FLUSH + 1 };

struct player_options {
	bool as_fast_as_possible;	/* the trace's times are not looked at */
	u64 queue_depth;		/* requests that the medium has at a time; 0: no limit */
	bool no_percentiles;		/* latencies are summed up, and not kept: so many requests take no memory */
	struct outage outage;
	FILE *completions;		/* gets "submitted_ns done_ns" for each request; or NULL */
};

/*
 * A latency counts from the time in the trace, or, as fast as possible, from the time at which the medium gets the
 * request. Requests that were under way when the power failed count as if they had been finished.
 */
struct played {
	struct latencies of[OP_COUNT];
	u64 bytes[OP_COUNT];
	u64 begin_ns;			/* the first request comes */
	u64 end_ns;			/* the last one is done, or the power fails */
	struct outage_told outage;
	struct fb_counters counters;	/* what the requests added to them */
};

/* False: a message is on stderr */
bool play(struct fb_medium *medium, const struct trace *trace, const struct player_options *options,
	  struct played *played);
void played_free(struct played *played);

#endif
