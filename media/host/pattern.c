// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A synthetic trace: passes over the whole medium, in order or at random */
#include <stdint.h>

#include "message.h"
#include "pattern.h"
#include "random.h"

static struct trace_entry at_place(const struct pattern *p, u64 place)
{
	u64 offset = place * p->request_bytes;
	u64 left = p->bytes - offset;

	return (struct trace_entry) {
		.request.op = p->op,
		.request.offset_bytes = offset,
		.request.length_bytes = left < p->request_bytes ? left : p->request_bytes,
	};
}

struct trace_entry pattern_at(const struct pattern *p, u64 i)
{
	return at_place(p, p->random ? fb_splitmix_at(p->seed, i) % p->places : i % p->places);
}

bool pattern_make(struct trace *trace, const struct pattern *pattern, u64 bytes)
{
	struct trace_entry first, last;
	const char *fault;

	trace->pattern = *pattern;
	trace->pattern.bytes = bytes;
	trace->pattern.places = bytes / pattern->request_bytes + (bytes % pattern->request_bytes != 0);
	if (pattern->passes > SIZE_MAX / trace->pattern.places)
		return complain("pattern", "more requests than can be counted");
	first = at_place(&trace->pattern, 0);
	last = at_place(&trace->pattern, trace->pattern.places - 1);
	fault = trace_fault(trace, &first);
	if (!fault)
		fault = trace_fault(trace, &last);
	if (fault)
		return complain("pattern", fault);
	trace->count = pattern->passes * trace->pattern.places;
	return true;
}
