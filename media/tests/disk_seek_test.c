// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The seek curve against the figures of data sheets, and where each sector lies */
#include "disk_geometry.h"
#include "disk_seek.h"
#include "samples.h"
#include "test.h"

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

	p.write_seek_average_ns = fb_max_write_average_ns(&p);
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

const struct test disk_seek_tests[] = {
	TEST(seeks_hit_the_data_sheet),
	TEST(seeks_that_are_looked_up_are_those_of_the_curve),
	TEST(longer_seeks_never_take_less),
	TEST(write_seeks_rise_to_the_last),
	TEST(seeks_have_the_average_of_the_data_sheet),
	TEST(each_sector_has_its_own_place),
	END_OF_TESTS,
};
