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

/* 4 and 5 are within 30, others within 110; with 128 all find a neighbour but these two, which have each other */
static void close_neighbours_are_put_together_when_nothing_is_past(void)
{
	struct fb_timeline line = { 0 };
	u64 i;

	for (i = 0; i < FB_TIMELINE_SPANS; i++)
		fb_timeline_take(&line, 0, i * 100 - (i == 5 ? 80 : 0), 10);
	fb_timeline_take(&line, 0, 50000, 10);
	CHECK_EQUAL(FB_TIMELINE_SPANS / 2 + 1, line.count);
	CHECK_EQUAL(128, line.coarse_ns);
	CHECK_EQUAL(20, line.span[0].end_ns);
	CHECK_EQUAL(400, line.span[2].start_ns);
	CHECK_EQUAL(420, line.span[2].end_ns);
	CHECK_EQUAL(600, line.span[3].start_ns);
	CHECK_EQUAL(620, line.span[3].end_ns);
	CHECK_EQUAL(50010, line.span[64].end_ns);
}

/* Whatever is put together, each moment that was asked for is busy once */
static void no_capacity_is_lost_or_won(void)
{
	struct fb_timeline line = { 0 };
	u64 seed = 7, asked = 0, busy = 0, i;

	for (i = 0; i < 3000; i++) {
		u64 ready = next_random(&seed) % 1000000;
		u64 length = 1 + next_random(&seed) % 150;

		CHECK(fb_timeline_take(&line, 0, ready, length) >= ready + length);
		asked += length;
	}
	for (i = 0; i < line.count; i++) {
		CHECK(line.span[i].start_ns < line.span[i].end_ns);
		CHECK(!i || line.span[i - 1].end_ns < line.span[i].start_ns);
		busy += line.span[i].end_ns - line.span[i].start_ns;
	}
	CHECK_EQUAL(asked, busy);
}

/* Two dies, each with 500 programs ahead, use a sixth of their channel: none waits longer than for a few transfers */
static void work_far_ahead_finds_the_gaps_of_others(void)
{
	enum { PROGRAM = 1000, TRANSFER = 80, PROGRAMS = 500 };
	struct fb_timeline line = { 0 };
	u64 i;

	for (i = 0; i < PROGRAMS; i++)
		CHECK_EQUAL(i * PROGRAM + TRANSFER, fb_timeline_take(&line, 0, i * PROGRAM, TRANSFER));
	for (i = 0; i < PROGRAMS; i++)
		CHECK(fb_timeline_take(&line, 0, i * PROGRAM + PROGRAM / 2, TRANSFER) < (i + 2) * PROGRAM);
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

const struct test timeline_tests[] = {
	TEST(work_goes_one_after_another),
	TEST(earlier_work_takes_the_gap_before),
	TEST(a_gap_too_small_is_passed_over),
	TEST(nothing_takes_no_time),
	TEST(the_past_is_forgotten_when_space_is_short),
	TEST(close_neighbours_are_put_together_when_nothing_is_past),
	TEST(no_capacity_is_lost_or_won),
	TEST(work_far_ahead_finds_the_gaps_of_others),
	TEST(random_work_never_overlaps),
	END_OF_TESTS,
};
