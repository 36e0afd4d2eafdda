// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* When a shared part is busy: spans in order, and the first gap that a transfer fits in */
#include "timeline.h"

static void remove_spans(struct fb_timeline *line, u64 first, u64 count)
{
	u64 i;

	for (i = first; i + count < line->count; i++)
		line->span[i] = line->span[i + count];
	line->count -= count;
}

/* The gap before a span became smaller, or new */
static void note_gap(struct fb_timeline *line, u64 span)
{
	u64 gap_ns;

	if (!span || span >= line->count)
		return;
	gap_ns = line->span[span].start_ns - line->span[span - 1].end_ns;
	if (gap_ns < line->least_gap_ns)
		line->least_gap_ns = gap_ns;
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

/*
 * Of gaps alike, the last: what lies far ahead is least likely to be asked for. Work that repeats leaves gaps alike,
 * so that the search from the end is over soon.
 */
static void give_up_smallest_gap(struct fb_timeline *line)
{
	u64 smallest = 0;
	u64 smallest_ns = ~(u64)0;
	u64 i;

	for (i = line->count - 1; i && smallest_ns > line->least_gap_ns; i--) {
		u64 gap_ns = line->span[i].start_ns - line->span[i - 1].end_ns;

		if (gap_ns < smallest_ns) {
			smallest_ns = gap_ns;
			smallest = i - 1;
		}
	}
	line->least_gap_ns = smallest_ns;
	line->span[smallest].end_ns = line->span[smallest + 1].end_ns;
	remove_spans(line, smallest + 1, 1);
}

static void make_space(struct fb_timeline *line, u64 now_ns)
{
	u64 past = 0;

	while (past < line->count && line->span[past].end_ns <= now_ns)
		past++;
	if (past)
		remove_spans(line, 0, past);
	else
		give_up_smallest_gap(line);
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

	/* Most work comes in order, so look from the end for the first span that ends after ready_ns, ... */
	next = line->count;
	while (next > 0 && line->span[next - 1].end_ns > ready_ns)
		next--;
	/* ... and from there on for the first gap */
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
	if (joins_before) {
		line->span[next - 1].end_ns = end_ns;
	} else if (joins_after) {
		line->span[next].start_ns = start_ns;
	} else {
		insert_span(line, next, start_ns, end_ns);
		note_gap(line, next + 1);
	}
	note_gap(line, next);
	return end_ns;
}
