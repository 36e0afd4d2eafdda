// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Replays a trace on a medium, as fast as its queue allows or at the trace's times */
#include <inttypes.h>
#include <stdlib.h>

#include "message.h"
#include "player.h"

enum { PROGRESS_STEP = 1 << 20 };

/* The completion times of pending requests: a binary heap, earliest first */
struct under_way {
	u64 *done_ns;
	u64 count;
};

static void add_done(struct under_way *w, u64 done_ns)
{
	u64 at = w->count++;

	while (at && w->done_ns[(at - 1) / 2] > done_ns) {
		w->done_ns[at] = w->done_ns[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	w->done_ns[at] = done_ns;
}

static u64 take_earliest(struct under_way *w)
{
	u64 earliest_ns = w->done_ns[0];
	u64 last_ns = w->done_ns[--w->count];
	u64 at = 0, child;

	while ((child = 2 * at + 1) < w->count) {
		if (child + 1 < w->count && w->done_ns[child + 1] < w->done_ns[child])
			child++;
		if (w->done_ns[child] >= last_ns)
			break;
		w->done_ns[at] = w->done_ns[child];
		at = child;
	}
	w->done_ns[at] = last_ns;
	return earliest_ns;
}

static bool allocate(struct played *played, const struct trace *trace)
{
	u64 count[OP_COUNT] = { 0 };
	size_t i;

	if (!trace->entries)
		count[trace->pattern.op] = trace->count;
	for (i = 0; trace->entries && i < trace->count; i++)
		count[trace->entries[i].request.op]++;
	for (i = 0; i < OP_COUNT; i++) {
		played->of[i].ns = malloc((count[i] + 1) * sizeof(u64));
		if (!played->of[i].ns)
			return false;
	}
	return true;
}

static void note(struct played *played, const struct fb_request *request, u64 came_ns, u64 done_ns)
{
	struct latencies *l = &played->of[request->op];

	if (l->ns)
		l->ns[l->count] = done_ns - came_ns;
	l->count++;
	l->sum_ns += done_ns - came_ns;
	played->bytes[request->op] += request->length_bytes;
	if (done_ns > played->end_ns)
		played->end_ns = done_ns;
}

static u64 moment_in_time(const struct outage *outage, u64 begin_ns)
{
	return outage->after_ns < FB_NEVER - begin_ns ? begin_ns + outage->after_ns : FB_NEVER;
}

/* Prefetches for the requests behind request i */
static void prefetch_next(const struct fb_medium *medium, const struct trace *trace, size_t i)
{
	u32 step;

	for (step = 0; step < FB_PREFETCH_STEPS; step++) {
		size_t next = i + (FB_PREFETCH_STEPS - step) * FB_PREFETCH_APART;

		if (next < trace->count) {
			struct trace_entry entry = trace_at(trace, next);

			fb_prefetch(medium, &entry.request, step);
		}
	}
}

/* Returns the time of the power cut; FB_NEVER if there is none, or if it would come after everything is done */
static u64 put_all(struct fb_medium *medium, const struct trace *trace, const struct player_options *options,
		   struct under_way *under_way, struct played *played)
{
	u64 cut_ns = moment_in_time(&options->outage, played->begin_ns);
	u64 now_ns = 0;
	size_t i;

	for (i = 0; i < trace->count; i++) {
		const struct trace_entry entry = trace_at(trace, i);
		u64 done_ns;

		if (!options->as_fast_as_possible && entry.time_ns > now_ns)
			now_ns = entry.time_ns;
		if (options->queue_depth && under_way->count == options->queue_depth) {
			u64 free_ns = take_earliest(under_way);

			if (free_ns > now_ns)
				now_ns = free_ns;
		}
		if (now_ns > cut_ns)
			return cut_ns;
		prefetch_next(medium, trace, i);
		done_ns = fb_submit(medium, &entry.request, now_ns);
		if (options->queue_depth)
			add_done(under_way, done_ns);
		note(played, &entry.request, options->as_fast_as_possible ? now_ns : entry.time_ns, done_ns);
		if (options->completions)
			fprintf(options->completions, "%" PRIu64 " %" PRIu64 "\n", now_ns, done_ns);
		played->outage.requests = i + 1;
		if (i + 1 == options->outage.at_request)
			return outage_moment(&options->outage, now_ns, done_ns);
		if (i % PROGRESS_STEP == PROGRESS_STEP - 1)
			progress("replayed", i, trace->count);
	}
	progress("replayed", trace->count, trace->count);
	return cut_ns < played->end_ns ? cut_ns : FB_NEVER;
}

static void subtract(struct fb_counters *from, const struct fb_counters *less)
{
	int i;

	for (i = 0; i < FB_COUNTER_COUNT; i++)
		from->by_index[i] -= less->by_index[i];
}

bool play(struct fb_medium *medium, const struct trace *trace, const struct player_options *options,
	  struct played *played)
{
	struct fb_counters before = *fb_medium_counters(medium);
	struct under_way under_way = { 0 };
	u64 cut_ns;

	*played = (struct played) { 0 };
	under_way.done_ns = malloc(((options->queue_depth < trace->count ? options->queue_depth : trace->count) + 1) * sizeof(u64));
	if (!under_way.done_ns || !(options->no_percentiles || allocate(played, trace))) {
		free(under_way.done_ns);
		played_free(played);
		return complain("trace", "out of memory");
	}
	played->begin_ns = options->as_fast_as_possible ? 0 : trace_at(trace, 0).time_ns;
	cut_ns = put_all(medium, trace, options, &under_way, played);
	free(under_way.done_ns);
	if (cut_ns != FB_NEVER) {
		outage_happens(medium, &options->outage, cut_ns, &played->outage);
		played->end_ns = cut_ns;
	}
	played->counters = *fb_medium_counters(medium);
	subtract(&played->counters, &before);
	return true;
}

void played_free(struct played *played)
{
	int i;

	for (i = 0; i < OP_COUNT; i++)
		free(played->of[i].ns);
}
