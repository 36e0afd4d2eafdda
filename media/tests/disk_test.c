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

static u64 read_seek_ns(const struct fb_params *p, u32 distance)
{
	struct fb_seek_curve curve = fb_read_curve(p);

	return fb_curve_ns(&curve, distance);
}

static u64 write_seek_ns(const struct fb_params *p, u32 distance)
{
	struct fb_seek_curve curve = fb_write_curve(p);

	return fb_curve_ns(&curve, distance);
}

static void seeks_hit_the_data_sheet(void)
{
	struct fb_params p = sample_disk();

	CHECK_EQUAL(0, read_seek_ns(&p, 0));
	CHECK_EQUAL(1000000, read_seek_ns(&p, 1));
	CHECK_EQUAL(4000000, read_seek_ns(&p, 63 / 3));
	CHECK_EQUAL(1200000, write_seek_ns(&p, 1));
	CHECK_EQUAL(8200000, write_seek_ns(&p, 63));
	CHECK_EQUAL(8000000, read_seek_ns(&p, 63));
	/* Half way along the straight part */
	CHECK_EQUAL(6000000, read_seek_ns(&p, 21 + 21));
	/* 1 ms + 3 ms * (sqrt(4) - 1) / (sqrt(21) - 1) = 1.837386 ms, to a microsecond */
	CHECK(read_seek_ns(&p, 4) > 1836386 && read_seek_ns(&p, 4) < 1838386);
}

static void seeks_that_are_looked_up_are_those_of_the_curve(void)
{
	static struct fb_seeks seeks;
	struct fb_params p = sample_disk();
	struct fb_seek_curve curve;
	u32 distance;

	p.cylinders = FB_NEAR_CYLINDERS + 100;
	curve = fb_read_curve(&p);
	fb_seeks_init(&seeks, &curve);
	for (distance = 0; distance < p.cylinders; distance++)
		CHECK_EQUAL(read_seek_ns(&p, distance), fb_seek_ns(&seeks, distance));
	CHECK(fb_seeks_undamaged(&seeks, &curve));
	seeks.near_ns[FB_NEAR_CYLINDERS - 1]++;
	CHECK(!fb_seeks_undamaged(&seeks, &curve));
}

static void longer_seeks_never_take_less(void)
{
	struct fb_params p = sample_disk();
	u32 distance;

	p.cylinders = 146500;
	p.seek_track_ns = 800000;
	p.seek_average_ns = 8500000;
	p.seek_full_ns = 14200000;
	CHECK_EQUAL(14200000, read_seek_ns(&p, 146499));
	for (distance = 1; distance < p.cylinders; distance++) {
		u64 before_ns = read_seek_ns(&p, distance - 1);
		u64 ns = read_seek_ns(&p, distance);

		CHECK(ns >= before_ns);
		if (distance > 1)
			CHECK(ns - before_ns < 20000);	/* no jump */
	}
}

static void write_seeks_rise_to_the_last(void)
{
	struct fb_params p = sample_disk();
	u32 distance;

	p.write_seek_average_ns = fb_most_write_average_ns(&p);
	for (distance = 2; distance < p.cylinders; distance++)
		CHECK(write_seek_ns(&p, distance) >= write_seek_ns(&p, distance - 1));
}

/* Over all pairs of cylinders, weighed as in the data sheet: (C - d) pairs are d apart */
static void seeks_have_the_average_of_the_data_sheet(void)
{
	struct fb_params p = sample_disk();
	u64 read_ns = 0, write_ns = 0, pairs = 0;
	u32 distance;

	p.cylinders = 80000;
	p.seek_track_ns = 1000000;
	p.seek_average_ns = 12000000;
	p.seek_full_ns = 20000000;
	p.write_settle_ns = 100000;
	p.write_seek_average_ns = 13000000;
	for (distance = 1; distance < p.cylinders; distance++) {
		read_ns += (p.cylinders - distance) * read_seek_ns(&p, distance) / 1000;
		write_ns += (p.cylinders - distance) * write_seek_ns(&p, distance) / 1000;
		pairs += p.cylinders - distance;
	}
	CHECK(read_ns / pairs > 11980 && read_ns / pairs < 12020);
	CHECK(write_ns / pairs > 12980 && write_ns / pairs < 13020);
	CHECK_EQUAL(1100000, write_seek_ns(&p, 1));
	CHECK_EQUAL(21000000, write_seek_ns(&p, p.cylinders - 1));
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
	p.segment_bytes = 200 * SECTOR;
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
	p.segment_bytes = 200 * SECTOR;
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
	p.segment_bytes = 40 * SECTOR;
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
	p.segment_bytes = 100 * SECTOR;
	m = new_medium(&p);
	submit(m, FB_READ, 0, 80 * SECTOR, 0);
	CHECK_EQUAL(90 * REVOLUTION_NS, submit(m, FB_READ, 80 * SECTOR, 50 * SECTOR, 90 * REVOLUTION_NS));
	CHECK_EQUAL(90 * REVOLUTION_NS + SKEW_NS + 31 * OUTER_NS,
		    submit(m, FB_READ, 130 * SECTOR, SECTOR, 90 * REVOLUTION_NS));
	CHECK_EQUAL(0, fb_medium_counters(m)->disk_seeks);
	free(m);
}

static void what_was_read_stays_when_the_arm_leaves(void)
{
	struct fb_params p = sample_disk();
	struct fb_medium *m;

	p.readahead_bytes = 20 * SECTOR;
	p.segment_bytes = 40 * SECTOR;
	m = new_medium(&p);
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
	struct fb_params p = sample_disk();
	struct fb_medium *m;

	p.readahead_bytes = 20 * SECTOR;
	p.segment_bytes = 40 * SECTOR;
	m = new_medium(&p);
	submit(m, FB_READ, 0, 8 * SECTOR, 0);
	submit(m, FB_WRITE, 4 * SECTOR, SECTOR, 5 * REVOLUTION_NS);
	submit(m, FB_READ, 4 * SECTOR, SECTOR, 9 * REVOLUTION_NS);
	CHECK_EQUAL(0, fb_medium_counters(m)->disk_buffer_hits);
	free(m);
}

/* Two streams that take turns: the second read of each is served from the buffer if each has a segment */
static void streams_have_segments_of_their_own(void)
{
	struct fb_params p = sample_disk();
	struct fb_medium *m;
	u64 segments;

	p.readahead_bytes = 20 * SECTOR;
	p.segment_bytes = 40 * SECTOR;
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

static struct fb_medium *disk_with_cache(u64 sectors, u64 reorder_depth)
{
	struct fb_params p = sample_disk();

	p.write_cache_bytes = sectors * SECTOR;
	p.reorder_depth = reorder_depth;
	return new_medium(&p);
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
	struct fb_params p = sample_disk();
	struct fb_medium *m;
	u64 last_ns;

	p.write_cache_bytes = 200 * SECTOR;
	p.link_ps_per_byte = 10000;	/* 5.12 us a sector, where the platter takes 100 */
	m = new_medium(&p);
	last_ns = sequential_ns(m, FB_WRITE, 800, 8, 0);
	/*
	 * The last 200 sectors are still in the cache: the head has passed 600, 6 tracks, when there is room for them
	 */
	CHECK_EQUAL(7ull * REVOLUTION_NS + 5 * SKEW_NS, last_ns);
	CHECK_EQUAL(9ull * REVOLUTION_NS + 7 * SKEW_NS, submit(m, FB_FLUSH, 0, 0, last_ns));
	CHECK_EQUAL(REVOLUTION_NS - 8 * 5120, fb_medium_counters(m)->disk_rotation_ns);
	CHECK(!fb_verify(m));
	free(m);
}

/* Two writes to the same track, the second behind the first, which the head takes while the second is on its way */
static void what_is_there_is_written_back_while_its_neighbour_comes(void)
{
	struct fb_params p = sample_disk();
	struct fb_medium *m;

	p.write_cache_bytes = 100 * SECTOR;
	p.link_ps_per_byte = 1000000;	/* 512 us a sector */
	m = new_medium(&p);
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
	struct fb_params p = sample_disk();
	struct fb_medium *m;

	p.write_cache_bytes = 100 * SECTOR;
	p.link_ps_per_byte = 1000000;
	m = new_medium(&p);
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
	struct fb_params p = sample_disk();
	struct fb_medium *m;

	p.readahead_bytes = 20 * SECTOR;
	p.segment_bytes = 40 * SECTOR;
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
	struct fb_params p = sample_disk();

	p.readahead_bytes = 30 * SECTOR;
	p.segment_bytes = 60 * SECTOR;
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
	TEST(seeks_hit_the_data_sheet),
	TEST(seeks_that_are_looked_up_are_those_of_the_curve),
	TEST(longer_seeks_never_take_less),
	TEST(write_seeks_rise_to_the_last),
	TEST(seeks_have_the_average_of_the_data_sheet),
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
	TEST(what_was_read_stays_when_the_arm_leaves),
	TEST(new_content_is_not_read_from_the_buffer),
	TEST(streams_have_segments_of_their_own),
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
	TEST(writes_of_a_deep_queue_leave_the_cache_sound),
	TEST(a_request_is_put_before_another_that_it_does_not_delay),
	TEST(the_arm_is_never_in_two_places),
	TEST(random_requests_leave_the_disk_sound),
	END_OF_TESTS,
};
