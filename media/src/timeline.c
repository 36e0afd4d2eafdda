// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The busy times of a shared part: ordered spans, and a first-fit search for gaps */
#include "timeline.h"

static void remove_spans(struct fb_timeline *line, u64 first, u64 count)
{
	u64 i;

	for (i = first; i + count < line->count; i++)
		line->span[i] = line->span[i + count];
	line->count -= count;
}

static void insert_span(struct fb_timeline *line, u64 at, u64 start_ns, u64 end_ns)
{
	u64 i;

	for (i = line->count; i > at; i--)
		line->span[i] = line->span[i - 1];
	line->span[at].start_ns = start_ns;
	line->span[at].end_ns = end_ns;
	line->count++;
}

/* Merges pairs of neighbours that begin and end within extent_ns */
static void put_together(struct fb_timeline *line, u64 extent_ns)
{
	u64 to = 0;
	u64 i;

	for (i = 0; i < line->count; i++) {
		struct fb_span span = line->span[i];

		if (i + 1 < line->count && line->span[i + 1].end_ns - span.start_ns <= extent_ns) {
			i++;
			span.end_ns += line->span[i].end_ns - line->span[i].start_ns;
		}
		line->span[to++] = span;
	}
	line->count = to;
}

/* Merges at the finest resolution that frees a quarter of the spans, to within a factor of two */
static void coarsen(struct fb_timeline *line)
{
	line->coarse_ns = line->coarse_ns / 4 + 1;
	while (line->count > FB_TIMELINE_SPANS * 3 / 4) {
		line->coarse_ns *= 2;
		put_together(line, line->coarse_ns);
	}
}

static void make_space(struct fb_timeline *line, u64 now_ns)
{
	u64 past = 0;

	while (past < line->count && line->span[past].end_ns <= now_ns)
		past++;
	if (past)
		remove_spans(line, 0, past);
	else
		coarsen(line);
}

u64 fb_timeline_take(struct fb_timeline *line, u64 now_ns, u64 ready_ns, u64 length_ns)
{
	u64 start_ns = ready_ns;
	u64 next, end_ns;
	bool joins_before, joins_after;

	if (!length_ns)
		return ready_ns;
	if (line->count == FB_TIMELINE_SPANS)
		make_space(line, now_ns);

	/* Most work comes in order, so search backwards for the first span that ends after ready_ns, ... */
	next = line->count;
	while (next > 0 && line->span[next - 1].end_ns > ready_ns)
		next--;
	/* ... and forwards from there for the first gap */
	while (next < line->count && line->span[next].start_ns < start_ns + length_ns) {
		start_ns = line->span[next].end_ns;
		next++;
	}
	end_ns = start_ns + length_ns;

	joins_before = next > 0 && line->span[next - 1].end_ns == start_ns;
	joins_after = next < line->count && line->span[next].start_ns == end_ns;
	if (joins_before && joins_after) {
		line->span[next - 1].end_ns = line->span[next].end_ns;
		remove_spans(line, next, 1);
		return end_ns;
	}
	if (joins_before)
		line->span[next - 1].end_ns = end_ns;
	else if (joins_after)
		line->span[next].start_ns = start_ns;
	else
		insert_span(line, next, start_ns, end_ns);
	return end_ns;
}
