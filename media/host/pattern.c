// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "message.h"
#include "pattern.h"

/* SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014) */
static u64 next_random(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

bool pattern_make(struct trace *trace, const struct pattern *pattern, u64 exposed_bytes)
{
	u64 places = (exposed_bytes + pattern->request_bytes - 1) / pattern->request_bytes;
	u64 seed = pattern->seed;
	u64 pass, i;

	for (pass = 0; pass < pattern->passes; pass++) {
		for (i = 0; i < places; i++) {
			u64 place = pattern->random ? next_random(&seed) % places : i;
			struct trace_entry entry = {
				.request.op = pattern->op,
				.request.offset_bytes = place * pattern->request_bytes,
				.request.length_bytes = pattern->request_bytes,
			};
			u64 left = exposed_bytes - entry.request.offset_bytes;
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
