// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What a disk's requests take without buffer and cache, the order of those that queue, and random ones of all sorts */
#include "disk_support.h"

static void a_read_waits_for_its_sector(void)
{
	struct fb_params p = sample_disk();
	struct fb_medium *m = new_medium(&p);

	/* Sector 10 begins at 1 ms */
	CHECK_EQUAL(11 * OUTER_NS, submit(m, FB_READ, 10 * SECTOR, SECTOR, 0));
	/* It is just gone by: a whole revolution, but for the sector itself */
	CHECK_EQUAL(REVOLUTION_NS + 11 * OUTER_NS, submit(m, FB_READ, 10 * SECTOR, SECTOR, 11 * OUTER_NS));
	CHECK_EQUAL(0, fb_medium_counters(m)->disk_seeks);
	CHECK_EQUAL(2 * OUTER_NS, fb_medium_counters(m)->disk_transfer_ns);
	CHECK_EQUAL(10 * OUTER_NS + REVOLUTION_NS - OUTER_NS, fb_medium_counters(m)->disk_rotation_ns);
	free(m);
}

static void a_read_elsewhere_seeks_first(void)
{
	struct fb_params p = sample_disk();
	struct fb_medium *m = new_medium(&p);

	/* To cylinder 21 in 4 ms; its track begins at 21 * 1.2 ms = 25.2 ms, an angle of 5.2 ms */
	CHECK_EQUAL(5200000 + OUTER_NS, submit(m, FB_READ, 2100 * SECTOR, SECTOR, 0));
	CHECK_EQUAL(1, fb_medium_counters(m)->disk_seeks);
	CHECK_EQUAL(4000000, fb_medium_counters(m)->disk_seek_ns);
	CHECK_EQUAL(1200000, fb_medium_counters(m)->disk_rotation_ns);
	free(m);
}

static void a_write_settles(void)
{
	struct fb_params p = sample_disk();
	struct fb_medium *m = new_medium(&p);

	submit(m, FB_WRITE, 2100 * SECTOR, SECTOR, 0);
	CHECK_EQUAL(4200000, fb_medium_counters(m)->disk_seek_ns);
	CHECK_EQUAL(1000000, fb_medium_counters(m)->disk_rotation_ns);
	free(m);
}

static void command_and_link_are_added(void)
{
	struct fb_params p = sample_disk();
	struct fb_medium *m;
	u64 now_ns;

	p.command_ns = 50000;
	p.link_ps_per_byte = 10000;
	m = new_medium(&p);
	/* The last sector still has to cross the link */
	CHECK_EQUAL(11 * OUTER_NS + 5120, submit(m, FB_READ, 10 * SECTOR, SECTOR, 0));
	/* A write that comes when its sector has just gone by: its data is there long before the sector is again */
	now_ns = REVOLUTION_NS + 11 * OUTER_NS;
	CHECK_EQUAL(now_ns + REVOLUTION_NS, submit(m, FB_WRITE, 10 * SECTOR, SECTOR, now_ns));
	free(m);
}

static void a_slow_link_holds_a_read_up(void)
{
	struct fb_params p = sample_disk();
	struct fb_medium *m;

	p.link_ps_per_byte = 1000000;	/* 512 us a sector, slower than the platter */
	m = new_medium(&p);
	CHECK_EQUAL(20 * 512000, submit(m, FB_READ, 0, 20 * SECTOR, 0));
	free(m);
}

/* 10 sectors of data take 5.12 ms to come, and the write starts when they are there: sector 0 comes round at 10 ms */
static void a_write_waits_for_its_data(void)
{
	struct fb_params p = sample_disk();
	struct fb_medium *m;

	p.link_ps_per_byte = 1000000;
	m = new_medium(&p);
	CHECK_EQUAL(REVOLUTION_NS + 10 * OUTER_NS, submit(m, FB_WRITE, 0, 10 * SECTOR, 0));
	free(m);
}

/* Reading 8 tracks in one go: each track a revolution, and the skew between them */
static void media_rate_follows_the_zone(void)
{
	struct fb_params p = sample_disk();
	struct fb_medium *m = new_medium(&p);
	u64 begin_ns;

	CHECK_EQUAL(8ull * REVOLUTION_NS + 7 * SKEW_NS, submit(m, FB_READ, 0, 800 * SECTOR, 0));
	begin_ns = submit(m, FB_READ, (INNER_ZONE + 49) * SECTOR, SECTOR, 1000000000);
	/* The next track begins where the one before ends, after the skew */
	CHECK_EQUAL(begin_ns + SKEW_NS + 8ull * REVOLUTION_NS + 7 * SKEW_NS,
		    submit(m, FB_READ, (INNER_ZONE + 50) * SECTOR, 400 * SECTOR, begin_ns));
	free(m);
}

static void head_switches_are_covered_by_skew(void)
{
	struct fb_params p = sample_disk();
	struct fb_medium *m;

	p.heads = 4;
	p.capacity_bytes *= 4;
	m = new_medium(&p);
	/* 4 tracks of a cylinder, 3 switches of 0.5 + 0.2 ms: a read is there early, a write just in time */
	CHECK_EQUAL(4ull * REVOLUTION_NS + 3 * 700000, submit(m, FB_READ, 0, 400 * SECTOR, 0));
	CHECK_EQUAL(3, fb_medium_counters(m)->disk_head_switches);
	CHECK_EQUAL(3 * 200000, fb_medium_counters(m)->disk_rotation_ns);
	free(m);
	m = new_medium(&p);
	CHECK_EQUAL(4ull * REVOLUTION_NS + 3 * 700000, submit(m, FB_WRITE, 0, 400 * SECTOR, 0));
	CHECK_EQUAL(0, fb_medium_counters(m)->disk_rotation_ns);
	free(m);
}

static void random_reads_wait_half_a_revolution(void)
{
	struct fb_params p = sample_disk();
	struct fb_medium *m = new_medium(&p);
	u64 now_ns = 0, seed = 5, rotation_ns;
	int i;

	for (i = 0; i < 40000; i++)
		now_ns = submit(m, FB_READ, next_random(&seed) % 4800 * SECTOR, SECTOR, now_ns) +
			 next_random(&seed) % 20000000;
	rotation_ns = fb_medium_counters(m)->disk_rotation_ns / 40000;
	CHECK(rotation_ns > REVOLUTION_NS / 2 * 99 / 100 && rotation_ns < REVOLUTION_NS / 2 * 101 / 100);
	CHECK(!fb_verify(m));
	free(m);
}

static void without_read_ahead_each_request_waits(void)
{
	struct fb_params p = sample_disk();
	struct fb_medium *m = new_medium(&p);

	/* 12 requests in the first track: each after the first comes a revolution later */
	CHECK_EQUAL(11ull * REVOLUTION_NS + 96 * OUTER_NS, sequential_ns(m, FB_READ, 96, 8, 300000));
	CHECK_EQUAL(0, fb_medium_counters(m)->disk_buffer_hits);
	free(m);
}

static void writes_that_queue_follow_on(void)
{
	struct fb_params p = sample_disk();
	struct fb_medium *m = new_medium(&p);

	submit(m, FB_WRITE, 0, 8 * SECTOR, 0);
	CHECK_EQUAL(16 * OUTER_NS, submit(m, FB_WRITE, 8 * SECTOR, 8 * SECTOR, 1000));
	CHECK_EQUAL(16 * OUTER_NS, submit(m, FB_FLUSH, 0, 0, 2000));
	free(m);
}

static void a_request_is_put_before_another_that_it_does_not_delay(void)
{
	struct fb_params p = sample_disk();
	struct fb_medium *m;

	p.reorder_depth = 4;
	m = new_medium(&p);
	CHECK_EQUAL(11 * OUTER_NS, submit(m, FB_READ, 10 * SECTOR, SECTOR, 0));
	CHECK_EQUAL(91 * OUTER_NS, submit(m, FB_READ, 90 * SECTOR, SECTOR, 0));
	CHECK_EQUAL(51 * OUTER_NS, submit(m, FB_READ, 50 * SECTOR, SECTOR, 0));
	CHECK_EQUAL(1, fb_medium_counters(m)->disk_reordered);
	/* Another cylinder and back would take too long; so would a fifth request */
	CHECK(submit(m, FB_READ, 2000 * SECTOR, SECTOR, 0) > 91 * OUTER_NS);
	CHECK(submit(m, FB_READ, 30 * SECTOR, SECTOR, 0) > 91 * OUTER_NS);
	CHECK_EQUAL(1, fb_medium_counters(m)->disk_reordered);
	CHECK(!fb_verify(m));
	free(m);
	p.reorder_depth = 1;
	m = new_medium(&p);
	submit(m, FB_READ, 10 * SECTOR, SECTOR, 0);
	submit(m, FB_READ, 90 * SECTOR, SECTOR, 0);
	CHECK_EQUAL(REVOLUTION_NS + 51 * OUTER_NS, submit(m, FB_READ, 50 * SECTOR, SECTOR, 0));
	free(m);
}

/* The arm does one thing at a time: what the counters say it was busy with fits into the time that passed */
static void the_arm_is_never_in_two_places(void)
{
	struct fb_params p = sample_disk();
	const struct fb_counters *c;
	struct fb_medium *m;
	u64 last_ns = 0, seed = 6;
	int i;

	p.reorder_depth = 16;
	m = new_medium(&p);
	c = fb_medium_counters(m);
	for (i = 0; i < 20000; i++) {
		u64 now_ns = i / 16 * 100000000ull;
		u64 done_ns = submit(m, FB_READ, next_random(&seed) % 4800 * SECTOR, SECTOR, now_ns);

		if (i % 16 == 0)
			last_ns = 0;
		last_ns = done_ns > last_ns ? done_ns : last_ns;
		CHECK(!fb_verify(m));
	}
	CHECK(c->disk_reordered > 1000);
	CHECK(c->disk_seek_ns + c->disk_rotation_ns + c->disk_transfer_ns <= last_ns);
	free(m);
}

/* Random requests of all sorts: time never runs backwards, and the state stays sound */
static void random_requests(const struct fb_params *p)
{
	struct fb_medium *m = new_medium(p);
	u64 now_ns = 0, seed = 8, sector = 0;
	int i;

	for (i = 0; i < 50000; i++) {
		u64 count = 1 + next_random(&seed) % 64;
		struct fb_request request = {
			.op = next_random(&seed) % 4 ? FB_READ : FB_WRITE, .length_bytes = count * SECTOR,
		};
		u64 done_ns;

		if (next_random(&seed) % 3 == 0)
			sector = next_random(&seed) % (3 * 4800 - 64);
		if (sector > 3 * 4800 - 64)
			sector = 0;
		request.offset_bytes = sector * SECTOR;
		request.fua = next_random(&seed) % 8 == 0;
		if (next_random(&seed) % 50 == 0)
			request.op = FB_FLUSH;
		done_ns = fb_submit(m, &request, now_ns);
		CHECK(done_ns >= now_ns + 20000 && done_ns < now_ns + 10000000000);
		CHECK(!fb_verify(m));
		sector += count;
		now_ns += next_random(&seed) % 4 ? done_ns - now_ns : next_random(&seed) % 30000000;
	}
	CHECK(fb_medium_counters(m)->disk_buffer_hits > 1000);
	free(m);
}

static void random_requests_leave_the_disk_sound(void)
{
	struct fb_params p = disk_reading_ahead(30);

	p.heads = 3;
	p.capacity_bytes *= 3;
	p.link_ps_per_byte = 100000;
	p.command_ns = 20000;
	random_requests(&p);
	p.segments = 4;
	random_requests(&p);
	p.write_cache_bytes = 150 * SECTOR;
	random_requests(&p);
	p.reorder_depth = 8;
	random_requests(&p);
	p.write_cache_bytes = 0;
	random_requests(&p);
}

const struct test disk_tests[] = {
	TEST(a_read_waits_for_its_sector),
	TEST(a_read_elsewhere_seeks_first),
	TEST(a_write_settles),
	TEST(command_and_link_are_added),
	TEST(a_slow_link_holds_a_read_up),
	TEST(a_write_waits_for_its_data),
	TEST(media_rate_follows_the_zone),
	TEST(head_switches_are_covered_by_skew),
	TEST(random_reads_wait_half_a_revolution),
	TEST(without_read_ahead_each_request_waits),
	TEST(writes_that_queue_follow_on),
	TEST(a_request_is_put_before_another_that_it_does_not_delay),
	TEST(the_arm_is_never_in_two_places),
	TEST(random_requests_leave_the_disk_sound),
	END_OF_TESTS,
};
