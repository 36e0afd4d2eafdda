// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What a disk reads ahead and keeps: as far as it may, in segments, until a write makes it stale */
#include "disk_support.h"

static void read_ahead_keeps_the_media_rate(void)
{
	struct fb_params p = disk_reading_ahead(100);
	struct fb_medium *m = new_medium(&p);

	/* 8 sectors take 800 us of media time, the host thinks for 300 us: as fast as one request for all */
	CHECK_EQUAL(8ull * REVOLUTION_NS + 7 * SKEW_NS, sequential_ns(m, FB_READ, 800, 8, 300000));
	CHECK_EQUAL(99, fb_medium_counters(m)->disk_buffer_hits);
	CHECK(!fb_verify(m));
	free(m);
}

/* The disk reads on while the host is away, but not farther than it may */
static void read_ahead_stops_at_its_limit(void)
{
	struct fb_params p = disk_reading_ahead(20);
	struct fb_medium *m = new_medium(&p);
	u64 later_ns = 100ull * REVOLUTION_NS;

	submit(m, FB_READ, 0, 8 * SECTOR, 0);
	CHECK_EQUAL(later_ns, submit(m, FB_READ, 8 * SECTOR, 20 * SECTOR, later_ns));
	/* Sector 28 was not read: the disk went on to it at later_ns, when the platter stood at sector 0 */
	CHECK_EQUAL(later_ns + 29 * OUTER_NS, submit(m, FB_READ, 28 * SECTOR, SECTOR, later_ns));
	/* What lies behind is still there, as much as is kept */
	CHECK_EQUAL(later_ns + 29 * OUTER_NS, submit(m, FB_READ, 20 * SECTOR, SECTOR, later_ns));
	CHECK(submit(m, FB_READ, 0, SECTOR, later_ns) > later_ns + 29 * OUTER_NS);
	free(m);
}

/* Reading on takes the arm along: to go on from there is no seek */
static void read_ahead_crosses_tracks(void)
{
	struct fb_params p = disk_reading_ahead(50);
	struct fb_medium *m = new_medium(&p);

	submit(m, FB_READ, 0, 80 * SECTOR, 0);
	CHECK_EQUAL(90 * REVOLUTION_NS, submit(m, FB_READ, 80 * SECTOR, 50 * SECTOR, 90 * REVOLUTION_NS));
	CHECK_EQUAL(90 * REVOLUTION_NS + SKEW_NS + 31 * OUTER_NS,
		    submit(m, FB_READ, 130 * SECTOR, SECTOR, 90 * REVOLUTION_NS));
	CHECK_EQUAL(0, fb_medium_counters(m)->disk_seeks);
	free(m);
}

static void what_was_read_stays_when_the_arm_leaves(void)
{
	struct fb_params p = disk_reading_ahead(20);
	struct fb_medium *m = new_medium(&p);

	submit(m, FB_READ, 0, 8 * SECTOR, 0);
	/* The head has passed sector 14 when the write comes: so much is there, and no more */
	submit(m, FB_WRITE, 50 * SECTOR, SECTOR, 15 * OUTER_NS);
	CHECK(!fb_verify(m));
	CHECK_EQUAL(90 * REVOLUTION_NS, submit(m, FB_READ, 14 * SECTOR, SECTOR, 90 * REVOLUTION_NS));
	CHECK_EQUAL(90 * REVOLUTION_NS + 16 * OUTER_NS, submit(m, FB_READ, 15 * SECTOR, SECTOR, 90 * REVOLUTION_NS));
	CHECK_EQUAL(1, fb_medium_counters(m)->disk_buffer_hits);
	free(m);
}

static void new_content_is_not_read_from_the_buffer(void)
{
	struct fb_params p = disk_reading_ahead(20);
	struct fb_medium *m = new_medium(&p);

	submit(m, FB_READ, 0, 8 * SECTOR, 0);
	submit(m, FB_WRITE, 4 * SECTOR, SECTOR, 5 * REVOLUTION_NS);
	submit(m, FB_READ, 4 * SECTOR, SECTOR, 9 * REVOLUTION_NS);
	CHECK_EQUAL(0, fb_medium_counters(m)->disk_buffer_hits);
	free(m);
}

/* Two streams that take turns: the second read of each is served from the buffer if each has a segment */
static void streams_have_segments_of_their_own(void)
{
	struct fb_params p = disk_reading_ahead(20);
	struct fb_medium *m;
	u64 segments;

	for (segments = 1; segments <= 2; segments++) {
		p.segments = segments;
		m = new_medium(&p);
		submit(m, FB_READ, 0, 8 * SECTOR, 0);
		submit(m, FB_READ, 2000 * SECTOR, 8 * SECTOR, 10 * REVOLUTION_NS);
		submit(m, FB_READ, 8 * SECTOR, 8 * SECTOR, 20 * REVOLUTION_NS);
		submit(m, FB_READ, 2008 * SECTOR, 8 * SECTOR, 30 * REVOLUTION_NS);
		CHECK_EQUAL(segments == 2 ? 2 : 0, fb_medium_counters(m)->disk_buffer_hits);
		CHECK(!fb_verify(m));
		free(m);
	}
}

const struct test disk_buffer_tests[] = {
	TEST(read_ahead_keeps_the_media_rate),
	TEST(read_ahead_stops_at_its_limit),
	TEST(read_ahead_crosses_tracks),
	TEST(what_was_read_stays_when_the_arm_leaves),
	TEST(new_content_is_not_read_from_the_buffer),
	TEST(streams_have_segments_of_their_own),
	END_OF_TESTS,
};
