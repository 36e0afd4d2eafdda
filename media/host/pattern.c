// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "message.h"
#include "pattern.h"
#include "splitmix.h"

bool pattern_make(struct trace *trace, const struct pattern *pattern, u64 bytes)
{
	u64 places = (bytes + pattern->request_bytes - 1) / pattern->request_bytes;
	u64 seed = pattern->seed;
	u64 pass, i;

	for (pass = 0; pass < pattern->passes; pass++) {
		for (i = 0; i < places; i++) {
			u64 place = pattern->random ? splitmix(&seed) % places : i;
			struct trace_entry entry = {
				.request.op = pattern->op,
				.request.offset_bytes = place * pattern->request_bytes,
				.request.length_bytes = pattern->request_bytes,
			};
			u64 left = bytes - entry.request.offset_bytes;
			const char *fault;

			if (left < pattern->request_bytes)
				entry.request.length_bytes = left;
			fault = trace_add(trace, &entry);
			if (fault)
				return complain("pattern", fault);
		}
	}
	return true;
}
