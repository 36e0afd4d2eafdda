/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Traces that are made up: writes over all of a medium, or of what it shows, in order or at random. All come at once. */
#ifndef PATTERN_H
#define PATTERN_H

#include "trace.h"

struct pattern {
	bool random;
	enum fb_op op;
	u64 request_bytes;
	u64 passes;		/* so many times the bytes that are written over */
	u64 seed;
};

/* False: a message is on stderr */
bool pattern_make(struct trace *trace, const struct pattern *pattern, u64 bytes);

#endif
