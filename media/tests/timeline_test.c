// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Gaps of a timeline, and what it gives up when it is full */
#include "test.h"
#include "timeline.h"

static void work_goes_one_after_another(void)
{
	struct fb_timeline line = { 0 };

	CHECK_EQUAL(110, fb_timeline_take(&line, 0, 100, 10));
	CHECK_EQUAL(120, fb_timeline_take(&line, 0, 105, 10));
	CHECK_EQUAL(130, fb_timeline_take(&line, 0, 100, 10));
	CHECK_EQUAL(1, line.count);
}

static void earlier_work_takes_the_gap_before(void)
{
	struct fb_timeline line = { 0 };

	fb_timeline_take(&line, 0, 1000, 100);
	CHECK_EQUAL(100, fb_timeline_take(&line, 0, 0, 100));
	CHECK_EQUAL(1000, fb_timeline_take(&line, 0, 0, 900));
	CHECK_EQUAL(1, line.count);
	CHECK_EQUAL(1100, line.span[0].end_ns);
}

static void a_gap_too_small_is_passed_over(void)
{
	struct fb_timeline line = { 0 };

	fb_timeline_take(&line, 0, 0, 100);
	fb_timeline_take(&line, 0, 150, 100);
	CHECK_EQUAL(301, fb_timeline_take(&line, 0, 0, 51));
	CHECK_EQUAL(150, fb_timeline_take(&line, 0, 0, 50));
}

static void nothing_takes_no_time(void)
{
	struct fb_timeline line = { 0 };

	fb_timeline_take(&line, 0, 0, 100);
	CHECK_EQUAL(50, fb_timeline_take(&line, 0, 50, 0));
}

static void the_past_is_forgotten_when_space_is_short(void)
{
	struct fb_timeline line = { 0 };
	u64 i;

	for (i = 0; i < FB_TIMELINE_SPANS; i++)
		fb_timeline_take(&line, 0, i * 100, 10);
	CHECK_EQUAL(FB_TIMELINE_SPANS, line.count);
	CHECK_EQUAL(50010, fb_timeline_take(&line, 1000, 50000, 10));
	CHECK_EQUAL(FB_TIMELINE_SPANS - 10 + 1, line.count);
}

static void the_smallest_gap_is_given_up_when_nothing_is_past(void)
{
	struct fb_timeline line = { 0 };
	u64 i;

	for (i = 0; i < FB_TIMELINE_SPANS; i++)
		fb_timeline_take(&line, 0, i * 100 + (i == 5), 10);
	fb_timeline_take(&line, 0, 50000, 10);
	CHECK_EQUAL(FB_TIMELINE_SPANS, line.count);
	CHECK_EQUAL(501, line.span[5].start_ns);
	CHECK_EQUAL(610, line.span[5].end_ns);
}

/* Of all gaps, looked at one by one */
static u64 last_smallest_gap(const struct fb_timeline *line)
{
	u64 smallest_ns = ~(u64)0, found = 0, i;

	for (i = 1; i < line->count; i++) {
		u64 gap_ns = line->span[i].start_ns - line->span[i - 1].end_ns;

		if (gap_ns <= smallest_ns) {
			smallest_ns = gap_ns;
			found = line->span[i - 1].end_ns;
		}
	}
	return found;
}

static bool is_in_a_span(const struct fb_timeline *line, u64 moment_ns)
{
	u64 i;

	for (i = 0; i < line->count; i++)
		if (moment_ns >= line->span[i].start_ns && moment_ns < line->span[i].end_ns)
			return true;
	return false;
}

/* Work that comes early, late and in between, with time going on: what is given up is always the smallest gap */
static void the_smallest_gap_is_always_found(void)
{
	struct fb_timeline line = { 0 };
	u64 seed = 7, given_up = 0;
	int i;

	for (i = 0; i < 20000; i++) {
		u64 now = i * 20;
		u64 ready = now + next_random(&seed) % 60000;
		bool gives_up = line.count == FB_TIMELINE_SPANS && line.span[0].end_ns > now;
		u64 gap = last_smallest_gap(&line);

		fb_timeline_take(&line, now, ready, 1 + next_random(&seed) % 15);
		if (gives_up) {
			CHECK(is_in_a_span(&line, gap));
			given_up++;
		}
	}
	CHECK(given_up > 1000);
}

/* Against a plain array of moments that are taken or free */
static void random_work_never_overlaps(void)
{
	enum { MOMENTS = 20000 };
	static u8 taken[MOMENTS];
	struct fb_timeline line = { 0 };
	u64 seed = 1;
	u64 busy = 0;
	int i;

	for (i = 0; i < 100; i++) {
		u64 ready = next_random(&seed) % 5000;
		u64 length = 1 + next_random(&seed) % 60;
		u64 end = fb_timeline_take(&line, 0, ready, length);
		u64 moment, first = ready;

		/* Where the first gap that fits is, found by looking at each moment */
		for (moment = ready; moment < first + length; moment++)
			if (taken[moment])
				first = moment + 1;
		CHECK_EQUAL(first + length, end);
		memset(taken + first, 1, length);
		busy += length;
	}
	for (i = 0; i < MOMENTS; i++)
		busy -= taken[i];
	CHECK_EQUAL(0, busy);
}

/*
 * The rules once more, by trying: every moment of a span is marked, a take looks at each moment, and when there are too
 * many spans the smallest gap is looked for from the first to the last.
 */
enum { MODEL_MOMENTS = 60000 };

static void model_give_up(u8 *busy, u64 now)
{
	u64 at = now, gap_begin = 0, best_begin = 0, best = MODEL_MOMENTS, behind;

	while (at < MODEL_MOMENTS && !busy[at])
		at++;
	for (; at < MODEL_MOMENTS; at = behind) {
		for (gap_begin = at; gap_begin < MODEL_MOMENTS && busy[gap_begin];)
			gap_begin++;
		for (behind = gap_begin; behind < MODEL_MOMENTS && !busy[behind];)
			behind++;
		if (behind < MODEL_MOMENTS && behind - gap_begin <= best) {
			best = behind - gap_begin;
			best_begin = gap_begin;
		}
	}
	memset(busy + best_begin, 1, best);
}

static u64 model_spans(const u8 *busy, u64 now)
{
	u64 at, count = 0;

	for (at = now; at + 1 < MODEL_MOMENTS; at++)
		count += busy[at] && !busy[at + 1];
	return count;
}

static u64 model_take(u8 *busy, u64 ready, u64 length)
{
	u64 at, first = ready;

	for (at = ready; at < first + length; at++)
		if (busy[at])
			first = at + 1;
	memset(busy + first, 1, length);
	return first + length;
}

static void a_full_line_answers_as_the_rules_say(void)
{
	static u8 busy[MODEL_MOMENTS];
	struct fb_timeline line = { 0 };
	u64 seed = 3, now = 0, given_up = 0;
	int i;

	for (i = 0; i < 1500; i++) {
		u64 ready, length = 1 + next_random(&seed) % 9;

		if (i % 8 == 0)
			now += next_random(&seed) % 400;
		ready = now + next_random(&seed) % (next_random(&seed) % 4 ? 12000 : 20);
		if (model_spans(busy, now) == FB_TIMELINE_SPANS) {
			model_give_up(busy, now);
			given_up++;
		}
		CHECK_EQUAL(model_take(busy, ready, length), fb_timeline_take(&line, now, ready, length));
	}
	CHECK(given_up > 100);
}

const struct test timeline_tests[] = {
	TEST(work_goes_one_after_another),
	TEST(earlier_work_takes_the_gap_before),
	TEST(a_gap_too_small_is_passed_over),
	TEST(nothing_takes_no_time),
	TEST(the_past_is_forgotten_when_space_is_short),
	TEST(the_smallest_gap_is_given_up_when_nothing_is_past),
	TEST(the_smallest_gap_is_always_found),
	TEST(random_work_never_overlaps),
	TEST(a_full_line_answers_as_the_rules_say),
	END_OF_TESTS,
};
