// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A disk's write cache: who waits for it, when and in which order it is written back, what it does when full */
#include "disk_support.h"

static struct fb_medium *disk_with_cache(u64 sectors, u64 reorder_depth)
{
	struct fb_params p = sample_disk();

	p.write_cache_bytes = sectors * SECTOR;
	p.reorder_depth = reorder_depth;
	return new_medium(&p);
}

/* Where the link takes so many picoseconds a byte */
static struct fb_medium *disk_with_cache_on_link(u64 sectors, u64 link_ps_per_byte)
{
	struct fb_params p = sample_disk();

	p.write_cache_bytes = sectors * SECTOR;
	p.link_ps_per_byte = link_ps_per_byte;
	return new_medium(&p);
}

static void without_write_cache_each_write_waits(void)
{
	struct fb_params p = disk_reading_ahead(100);
	struct fb_medium *m = new_medium(&p);

	CHECK_EQUAL(11ull * REVOLUTION_NS + 96 * OUTER_NS, sequential_ns(m, FB_WRITE, 96, 8, 300000));
	free(m);
}

static void a_cached_write_is_done_at_once_and_a_flush_is_not(void)
{
	struct fb_medium *m = disk_with_cache(100, 1);

	CHECK_EQUAL(0, submit(m, FB_WRITE, 50 * SECTOR, SECTOR, 0));
	CHECK_EQUAL(51 * OUTER_NS, submit(m, FB_FLUSH, 0, 0, 0));
	CHECK_EQUAL(51 * OUTER_NS, submit(m, FB_FLUSH, 0, 0, 0));
	CHECK_EQUAL(1, fb_medium_counters(m)->disk_cached_writes);
	CHECK_EQUAL(1, fb_medium_counters(m)->disk_destages);
	free(m);
}

static void fua_passes_the_cache_by(void)
{
	struct fb_medium *m = disk_with_cache(100, 1);
	struct fb_request request = { .op = FB_WRITE, .offset_bytes = 50 * SECTOR, .length_bytes = SECTOR,
				      .fua = true };

	CHECK_EQUAL(51 * OUTER_NS, fb_submit(m, &request, 0));
	CHECK_EQUAL(51 * OUTER_NS, submit(m, FB_FLUSH, 0, 0, 0));
	CHECK_EQUAL(0, fb_medium_counters(m)->disk_cached_writes);
	CHECK_EQUAL(1, fb_medium_counters(m)->host_fua_writes);
	CHECK_EQUAL(51 * OUTER_NS + OUTER_NS, submit(m, FB_WRITE, 52 * SECTOR, SECTOR, 51 * OUTER_NS) + OUTER_NS);
	CHECK_EQUAL(1, fb_medium_counters(m)->host_fua_writes);
	free(m);
}

/* What is then written back takes the time that it takes, but nobody waits for it */
static void a_disk_may_ignore_flushes(void)
{
	struct fb_request request = { .op = FB_WRITE, .offset_bytes = 50 * SECTOR, .length_bytes = SECTOR,
				      .fua = true };
	struct fb_params p = sample_disk();
	struct fb_medium *m;

	p.write_cache_bytes = 100 * SECTOR;
	p.flush_ignored = 1;
	m = new_medium(&p);
	CHECK_EQUAL(0, fb_submit(m, &request, 0));
	CHECK_EQUAL(0, submit(m, FB_FLUSH, 0, 0, 0));
	CHECK_EQUAL(1, fb_medium_counters(m)->disk_cached_writes);
	CHECK_EQUAL(0, fb_medium_counters(m)->disk_destages);
	/* The disk has been idle: the sector was written back by itself */
	CHECK_EQUAL(51 * OUTER_NS, submit(m, FB_FLUSH, 0, 0, 51 * OUTER_NS));
	CHECK_EQUAL(1, fb_medium_counters(m)->disk_destages);
	CHECK(!fb_verify(m));
	free(m);
}

static void what_is_larger_than_the_cache_passes_it_by(void)
{
	struct fb_medium *m = disk_with_cache(10, 1);

	CHECK_EQUAL(11 * OUTER_NS, submit(m, FB_WRITE, 0, 11 * SECTOR, 0));
	free(m);
}

static void an_idle_disk_writes_its_cache_back(void)
{
	struct fb_medium *m = disk_with_cache(100, 1);

	submit(m, FB_WRITE, 50 * SECTOR, SECTOR, 0);
	CHECK_EQUAL(2 * REVOLUTION_NS, submit(m, FB_FLUSH, 0, 0, 2 * REVOLUTION_NS));
	/* A piece once begun is not broken off: the read waits for it, and then a revolution less 41 sectors */
	submit(m, FB_WRITE, 50 * SECTOR, SECTOR, 3 * REVOLUTION_NS);
	CHECK_EQUAL(4 * REVOLUTION_NS + 11 * OUTER_NS, submit(m, FB_READ, 10 * SECTOR, SECTOR, 3 * REVOLUTION_NS + 1));
	free(m);
}

static void the_cache_is_written_back_in_the_order_asked_for(void)
{
	static const struct {
		u64 reorder_depth;
		u64 done_ns;
	} order[] = {
		{ 1, 2 * REVOLUTION_NS + 11 * OUTER_NS },	/* 80, 40, 10: a revolution begins anew twice */
		{ 2, REVOLUTION_NS + 11 * OUTER_NS },		/* 40, 80, 10: of the two oldest first */
		{ 3, 81 * OUTER_NS },				/* 10, 40, 80 */
	};
	u32 i;

	for (i = 0; i < 3; i++) {
		struct fb_medium *m = disk_with_cache(100, order[i].reorder_depth);

		submit(m, FB_WRITE, 80 * SECTOR, SECTOR, 0);
		submit(m, FB_WRITE, 40 * SECTOR, SECTOR, 0);
		submit(m, FB_WRITE, 10 * SECTOR, SECTOR, 0);
		CHECK_EQUAL(order[i].done_ns, submit(m, FB_FLUSH, 0, 0, 0));
		free(m);
	}
}

static void neighbours_in_the_cache_become_one(void)
{
	struct fb_medium *m = disk_with_cache(100, 1);

	submit(m, FB_WRITE, 12 * SECTOR, SECTOR, 0);
	submit(m, FB_WRITE, 10 * SECTOR, SECTOR, 0);
	submit(m, FB_WRITE, 11 * SECTOR, SECTOR, 0);
	submit(m, FB_WRITE, 11 * SECTOR, SECTOR, 0);
	CHECK_EQUAL(13 * OUTER_NS, submit(m, FB_FLUSH, 0, 0, 0));
	CHECK_EQUAL(1, fb_medium_counters(m)->disk_destages);
	free(m);
}

static void a_full_cache_makes_writes_wait(void)
{
	struct fb_medium *m = disk_with_cache(10, 1);

	CHECK_EQUAL(0, submit(m, FB_WRITE, 50 * SECTOR, 10 * SECTOR, 0));
	CHECK_EQUAL(60 * OUTER_NS, submit(m, FB_WRITE, 70 * SECTOR, 10 * SECTOR, 0));
	CHECK(!fb_verify(m));
	free(m);
}

static void what_is_in_the_cache_is_read_from_it(void)
{
	struct fb_medium *m = disk_with_cache(10, 1);

	submit(m, FB_WRITE, 50 * SECTOR, 4 * SECTOR, 0);
	CHECK_EQUAL(0, submit(m, FB_READ, 51 * SECTOR, 2 * SECTOR, 0));
	CHECK_EQUAL(1, fb_medium_counters(m)->disk_buffer_hits);
	/* In part is not enough */
	CHECK_EQUAL(57 * OUTER_NS, submit(m, FB_READ, 53 * SECTOR, 4 * SECTOR, 0));
	free(m);
}

static void a_cached_sequential_write_runs_at_the_media_rate(void)
{
	struct fb_medium *m = disk_with_cache(200, 1);
	u64 last_ns = sequential_ns(m, FB_WRITE, 800, 8, 300000);

	CHECK_EQUAL(8ull * REVOLUTION_NS + 7 * SKEW_NS, submit(m, FB_FLUSH, 0, 0, last_ns));
	free(m);
}

/*
 * The host, one write at a time, fills the cache faster than the head empties it. What came before the write at hand is
 * there when the head is done with a track, so it goes on to the next without a wait. The first 8 sectors arrive when
 * their place has just gone by, and come round a revolution later.
 */
static void a_full_cache_keeps_the_media_rate(void)
{
	/* 5.12 us a sector, where the platter takes 100 */
	struct fb_medium *m = disk_with_cache_on_link(200, 10000);
	u64 last_ns = sequential_ns(m, FB_WRITE, 800, 8, 0);

	/* The last 200 sectors are still in the cache: there is room for them when the head has passed 600, 6 tracks */
	CHECK_EQUAL(7ull * REVOLUTION_NS + 5 * SKEW_NS, last_ns);
	CHECK_EQUAL(9ull * REVOLUTION_NS + 7 * SKEW_NS, submit(m, FB_FLUSH, 0, 0, last_ns));
	CHECK_EQUAL(REVOLUTION_NS - 8 * 5120, fb_medium_counters(m)->disk_rotation_ns);
	CHECK(!fb_verify(m));
	free(m);
}

/* Two writes to the same track, the second behind the first, which the head takes while the second is on its way */
static void what_is_there_is_written_back_while_its_neighbour_comes(void)
{
	struct fb_medium *m = disk_with_cache_on_link(100, 1000000);	/* 512 us a sector */

	CHECK_EQUAL(512000, submit(m, FB_WRITE, 10 * SECTOR, SECTOR, 0));
	/* The first is on the platter at 1.1 ms, the second here at 5.632 ms */
	CHECK_EQUAL(11 * 512000, submit(m, FB_WRITE, 11 * SECTOR, 10 * SECTOR, 512000));
	CHECK_EQUAL(REVOLUTION_NS + 21 * OUTER_NS, submit(m, FB_FLUSH, 0, 0, 11 * 512000));
	CHECK_EQUAL(2, fb_medium_counters(m)->disk_destages);
	/* To sector 10 at 1 ms, and to sector 11 a revolution after 1.1 ms */
	CHECK_EQUAL(1000000 - 512000 + 11100000 - 11 * 512000, fb_medium_counters(m)->disk_rotation_ns);
	free(m);
}

static void a_write_on_its_way_is_read_when_it_is_there(void)
{
	struct fb_medium *m = disk_with_cache_on_link(100, 1000000);

	CHECK_EQUAL(10 * 512000, submit(m, FB_WRITE, 50 * SECTOR, 10 * SECTOR, 0));
	/* And then goes back over the link */
	CHECK_EQUAL(12 * 512000, submit(m, FB_READ, 55 * SECTOR, 2 * SECTOR, 1000));
	CHECK_EQUAL(1, fb_medium_counters(m)->disk_buffer_hits);
	CHECK(!fb_verify(m));
	free(m);
}

/* A sector's room is free when the head has passed it, not when all of its track is done */
static void a_full_cache_takes_what_the_head_has_passed(void)
{
	struct fb_medium *m = disk_with_cache(100, 1);

	CHECK_EQUAL(0, submit(m, FB_WRITE, 0, 100 * SECTOR, 0));
	CHECK_EQUAL(10 * OUTER_NS, submit(m, FB_WRITE, 200 * SECTOR, 10 * SECTOR, 0));
	CHECK_EQUAL(25 * OUTER_NS, submit(m, FB_WRITE, 210 * SECTOR, 15 * SECTOR, 10 * OUTER_NS));
	CHECK_EQUAL(REVOLUTION_NS, submit(m, FB_WRITE, 225 * SECTOR, 75 * SECTOR, 25 * OUTER_NS));
	CHECK(!fb_verify(m));
	free(m);
}

/*
 * The disk reads on until a write to where it reads ends that, at 2.5 ms. Only then is the arm free for the sector that
 * was written before, on the next cylinder: it comes round at 12.2 ms, and the newer one after it at 22 ms.
 */
static void a_write_that_ends_reading_ahead_does_not_change_the_past(void)
{
	struct fb_params p = disk_reading_ahead(20);
	struct fb_medium *m;

	p.write_cache_bytes = 100 * SECTOR;
	m = new_medium(&p);
	CHECK_EQUAL(8 * OUTER_NS, submit(m, FB_READ, 0, 8 * SECTOR, 0));
	submit(m, FB_WRITE, 110 * SECTOR, SECTOR, 9 * OUTER_NS);
	submit(m, FB_WRITE, 20 * SECTOR, SECTOR, 25 * OUTER_NS);
	CHECK_EQUAL(221 * OUTER_NS, submit(m, FB_FLUSH, 0, 0, 35 * OUTER_NS));
	free(m);
}

/* A host with more writes under way than the cache can have on their way, and more than it has room for */
static void writes_of_a_deep_queue_leave_the_cache_sound(void)
{
	struct fb_params p = sample_disk();
	u64 seed = 3, now_ns = 0, last_ns = 0;
	struct fb_medium *m;
	int i;

	p.link_ps_per_byte = 100000;
	p.write_cache_bytes = 60 * SECTOR;
	p.reorder_depth = 8;
	m = new_medium(&p);
	for (i = 0; i < 4000; i++) {
		u64 count = 1 + next_random(&seed) % 8;
		u64 done_ns = submit(m, FB_WRITE, next_random(&seed) % 4792 * SECTOR, count * SECTOR, now_ns);

		CHECK(done_ns >= now_ns + count * 51200);
		CHECK(!fb_verify(m));
		last_ns = done_ns > last_ns ? done_ns : last_ns;
		if (i % 64 == 63)
			now_ns = i % 128 == 127 ? done_ns : now_ns + 1000000;
	}
	CHECK_EQUAL(4000, fb_medium_counters(m)->disk_cached_writes);
	CHECK(submit(m, FB_FLUSH, 0, 0, now_ns) >= last_ns);
	CHECK(!fb_verify(m));
	free(m);
}

/* The shortest tracks, and writes that have as many parts as can be pending: each is done at a time that comes */
static void a_write_over_very_many_tracks_ends(void)
{
	struct fb_params p = sample_disk();
	const u64 bytes = 16 << 20;
	struct fb_medium *m;
	u64 now_ns = 0;
	int i;

	p.zones = 1;
	p.outer_sectors_per_track = p.inner_sectors_per_track = 8;
	p.cylinders = 16384;
	p.capacity_bytes = p.cylinders * 8 * SECTOR;
	p.write_cache_bytes = bytes;
	m = new_medium(&p);
	for (i = 0; i < 4; i++) {
		now_ns = submit(m, FB_WRITE, i % 3 * bytes, bytes, now_ns);
		CHECK(now_ns < 16384ull * 4 * 10 * REVOLUTION_NS);
	}
	CHECK(!fb_verify(m));
	free(m);
}

const struct test disk_cache_tests[] = {
	TEST(without_write_cache_each_write_waits),
	TEST(a_cached_write_is_done_at_once_and_a_flush_is_not),
	TEST(fua_passes_the_cache_by),
	TEST(a_disk_may_ignore_flushes),
	TEST(what_is_larger_than_the_cache_passes_it_by),
	TEST(an_idle_disk_writes_its_cache_back),
	TEST(the_cache_is_written_back_in_the_order_asked_for),
	TEST(neighbours_in_the_cache_become_one),
	TEST(a_full_cache_makes_writes_wait),
	TEST(what_is_in_the_cache_is_read_from_it),
	TEST(a_cached_sequential_write_runs_at_the_media_rate),
	TEST(a_full_cache_keeps_the_media_rate),
	TEST(what_is_there_is_written_back_while_its_neighbour_comes),
	TEST(a_write_on_its_way_is_read_when_it_is_there),
	TEST(a_full_cache_takes_what_the_head_has_passed),
	TEST(a_write_that_ends_reading_ahead_does_not_change_the_past),
	TEST(a_write_over_very_many_tracks_ends),
	TEST(writes_of_a_deep_queue_leave_the_cache_sound),
	END_OF_TESTS,
};
