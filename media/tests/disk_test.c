// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The disk, mostly on sample_disk(): 10 ms a revolution, 100 us a sector outside and 200 us inside */
#include "disk_geometry.h"
#include "disk_seek.h"
#include "samples.h"
#include "test.h"

enum {
	SECTOR = 512,
	REVOLUTION_NS = 10000000,
	OUTER_NS = 100000,	/* a sector */
	SKEW_NS = 1000000 + 200000,	/* a track's start against the one before: seek and settle */
	INNER_ZONE = 3200,	/* its first sector: 32 cylinders of 100 */
};

static void seeks_hit_the_data_sheet(void)
{
	struct fb_params p = sample_disk();

	CHECK_EQUAL(0, fb_seek_ns(&p, 0));
	CHECK_EQUAL(1000000, fb_seek_ns(&p, 1));
	CHECK_EQUAL(4000000, fb_seek_ns(&p, 63 / 3));
	CHECK_EQUAL(8000000, fb_seek_ns(&p, 63));
	/* Half way along the straight part */
	CHECK_EQUAL(6000000, fb_seek_ns(&p, 21 + 21));
	/* 1 ms + 3 ms * (sqrt(4) - 1) / (sqrt(21) - 1) = 1.837386 ms, to a microsecond */
	CHECK(fb_seek_ns(&p, 4) > 1836386 && fb_seek_ns(&p, 4) < 1838386);
}

static void longer_seeks_never_take_less(void)
{
	struct fb_params p = sample_disk();
	u32 distance;

	p.cylinders = 146500;
	p.seek_track_ns = 800000;
	p.seek_average_ns = 8500000;
	p.seek_full_ns = 14200000;
	CHECK_EQUAL(8500000, fb_seek_ns(&p, 146499 / 3));
	CHECK_EQUAL(14200000, fb_seek_ns(&p, 146499));
	for (distance = 1; distance < p.cylinders; distance++) {
		u64 before_ns = fb_seek_ns(&p, distance - 1);
		u64 ns = fb_seek_ns(&p, distance);

		CHECK(ns >= before_ns);
		if (distance > 1)
			CHECK(ns - before_ns < 20000);	/* no jump */
	}
}

static void each_sector_has_its_own_place(void)
{
	struct fb_params p = sample_disk();
	struct fb_geometry g;
	struct fb_place last = { 0 };
	u64 sector;

	p.heads = 3;
	p.zones = 5;
	fb_geometry_init(&g, &p);
	for (sector = 1; sector < g.sectors; sector++) {
		struct fb_place place = fb_geometry_locate(&g, &p, sector);

		if (place.sector) {
			CHECK_EQUAL(last.sector + 1, place.sector);
			CHECK_EQUAL(last.track.head, place.track.head);
			CHECK_EQUAL(last.track.cylinder, place.track.cylinder);
		} else {
			CHECK_EQUAL(last.sectors_per_track - 1, last.sector);
			CHECK_EQUAL((last.track.head + 1) % 3, place.track.head);
			CHECK_EQUAL(last.track.cylinder + (place.track.head == 0), place.track.cylinder);
		}
		last = place;
	}
	CHECK_EQUAL(63, last.track.cylinder);
	CHECK_EQUAL(2, last.track.head);
	CHECK_EQUAL(50, last.sectors_per_track);
}

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

/* Time of reading (or writing) sectors one request after the other, the host thinking in between */
static u64 sequential_ns(struct fb_medium *m, enum fb_op op, u64 sectors, u64 request_sectors, u64 think_ns)
{
	u64 now_ns = 0, at;

	for (at = 0; at < sectors; at += request_sectors)
		now_ns = submit(m, op, at * SECTOR, request_sectors * SECTOR, now_ns) + think_ns;
	return now_ns - think_ns;
}

static void read_ahead_keeps_the_media_rate(void)
{
	struct fb_params p = sample_disk();
	struct fb_medium *m;

	p.readahead_bytes = 100 * SECTOR;
	m = new_medium(&p);
	/* 8 sectors take 800 us of media time, the host thinks for 300 us: as fast as one request for all */
	CHECK_EQUAL(8ull * REVOLUTION_NS + 7 * SKEW_NS, sequential_ns(m, FB_READ, 800, 8, 300000));
	CHECK_EQUAL(99, fb_medium_counters(m)->disk_buffer_hits);
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

static void without_write_cache_each_write_waits(void)
{
	struct fb_params p = sample_disk();
	struct fb_medium *m;

	p.readahead_bytes = 100 * SECTOR;
	m = new_medium(&p);
	CHECK_EQUAL(11ull * REVOLUTION_NS + 96 * OUTER_NS, sequential_ns(m, FB_WRITE, 96, 8, 300000));
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

/* The disk reads on while the host is away, but not farther than it may */
static void read_ahead_stops_at_its_limit(void)
{
	struct fb_params p = sample_disk();
	struct fb_medium *m;
	u64 later_ns = 100ull * REVOLUTION_NS;

	p.readahead_bytes = 20 * SECTOR;
	m = new_medium(&p);
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
	struct fb_params p = sample_disk();
	struct fb_medium *m;

	p.readahead_bytes = 50 * SECTOR;
	m = new_medium(&p);
	submit(m, FB_READ, 0, 80 * SECTOR, 0);
	CHECK_EQUAL(90 * REVOLUTION_NS, submit(m, FB_READ, 80 * SECTOR, 50 * SECTOR, 90 * REVOLUTION_NS));
	CHECK_EQUAL(90 * REVOLUTION_NS + SKEW_NS + 31 * OUTER_NS,
		    submit(m, FB_READ, 130 * SECTOR, SECTOR, 90 * REVOLUTION_NS));
	CHECK_EQUAL(0, fb_medium_counters(m)->disk_seeks);
	free(m);
}

static void moving_the_arm_ends_read_ahead(void)
{
	struct fb_params p = sample_disk();
	struct fb_medium *m;

	p.readahead_bytes = 20 * SECTOR;
	m = new_medium(&p);
	submit(m, FB_READ, 0, 8 * SECTOR, 0);
	submit(m, FB_WRITE, 50 * SECTOR, SECTOR, 5 * REVOLUTION_NS);
	submit(m, FB_READ, 8 * SECTOR, SECTOR, 9 * REVOLUTION_NS);
	CHECK_EQUAL(0, fb_medium_counters(m)->disk_buffer_hits);
	free(m);
}

/* Random requests of all sorts: time never runs backwards, and the state stays sound */
static void random_requests_leave_the_disk_sound(void)
{
	struct fb_params p = sample_disk();
	struct fb_medium *m;
	u64 now_ns = 0, seed = 8, sector = 0;
	int i;

	p.readahead_bytes = 30 * SECTOR;
	p.heads = 3;
	p.capacity_bytes *= 3;
	p.link_ps_per_byte = 100000;
	p.command_ns = 20000;
	m = new_medium(&p);
	for (i = 0; i < 50000; i++) {
		u64 count = 1 + next_random(&seed) % 64;
		enum fb_op op = next_random(&seed) % 4 ? FB_READ : FB_WRITE;
		u64 done_ns;

		if (next_random(&seed) % 3 == 0)
			sector = next_random(&seed) % (3 * 4800 - 64);
		if (sector > 3 * 4800 - 64)
			sector = 0;
		done_ns = submit(m, op, sector * SECTOR, count * SECTOR, now_ns);
		CHECK(done_ns >= now_ns + 20000 && done_ns < now_ns + 1000000000);
		CHECK(!fb_verify(m));
		sector += count;
		now_ns += next_random(&seed) % 4 ? done_ns - now_ns : next_random(&seed) % 30000000;
	}
	CHECK(fb_medium_counters(m)->disk_buffer_hits > 1000);
	free(m);
}

const struct test disk_tests[] = {
	TEST(seeks_hit_the_data_sheet),
	TEST(longer_seeks_never_take_less),
	TEST(each_sector_has_its_own_place),
	TEST(a_read_waits_for_its_sector),
	TEST(a_read_elsewhere_seeks_first),
	TEST(a_write_settles),
	TEST(command_and_link_are_added),
	TEST(a_slow_link_holds_a_read_up),
	TEST(a_write_waits_for_its_data),
	TEST(media_rate_follows_the_zone),
	TEST(head_switches_are_covered_by_skew),
	TEST(random_reads_wait_half_a_revolution),
	TEST(read_ahead_keeps_the_media_rate),
	TEST(without_read_ahead_each_request_waits),
	TEST(without_write_cache_each_write_waits),
	TEST(writes_that_queue_follow_on),
	TEST(read_ahead_stops_at_its_limit),
	TEST(read_ahead_crosses_tracks),
	TEST(moving_the_arm_ends_read_ahead),
	TEST(random_requests_leave_the_disk_sound),
	END_OF_TESTS,
};
