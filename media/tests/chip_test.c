// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A raw chip: times by hand with the numbers of the three profiles of raw NAND */
#include "chip_support.h"

static void a_small_page_takes_what_its_data_sheet_says(void)
{
	struct fb_params p = sample_chip();
	struct fb_medium *m = new_medium(&p);

	CHECK_EQUAL(1000 + 15000, fb_chip_read(m, 0, 1000));
	CHECK_EQUAL(20000 + 200000, program_page(m, 0, 20000));
	CHECK_EQUAL(300000 + 2000000, fb_chip_erase(m, 7, 300000));
	CHECK_EQUAL(3000000 + 5000, reset_chip(m, 3000000));
	CHECK_EQUAL(15000, fb_medium_counters(m)->flash_read_ns);
	CHECK_EQUAL(200000, fb_medium_counters(m)->flash_program_ns);
	CHECK_EQUAL(2000000, fb_medium_counters(m)->flash_erase_ns);
	CHECK_EQUAL(1, fb_medium_counters(m)->flash_read_pages);
	CHECK_EQUAL(1, fb_medium_counters(m)->flash_programmed_pages);
	CHECK_EQUAL(1, fb_medium_counters(m)->flash_erased_blocks);
	CHECK_EQUAL(0, fb_chip_breaches(m));
	CHECK(!fb_verify(m));
	free(m);
}

/* A mark in the spare area, the data, both at once, and nothing at all where the spare area begins */
static void programs_of_the_spare_area_alone_are_counted(void)
{
	static const struct fb_chip_span spans[] = {
		{ 0, 512 + 4, 1 }, { 1, 0, 512 }, { 2, 0, 528 }, { 3, 511, 2 }, { 4, 512, 0 },
	};
	struct fb_params p = sample_chip();
	struct fb_medium *m = new_medium(&p);
	u64 now_ns = 0;
	u32 i;

	for (i = 0; i < 5; i++)
		now_ns = fb_chip_program(m, &spans[i], now_ns);
	CHECK_EQUAL(5, fb_medium_counters(m)->flash_programmed_pages);
	CHECK_EQUAL(2, fb_medium_counters(m)->spare_programmed_pages);
	free(m);
}

/*
 * 2112 bytes take 63,360 ns on the bus, more than tR: in a row of cached reads the array waits for the bus, and a page
 * takes 3,000 + 63,360.
 */
static void cached_reads_overlap_the_bus(void)
{
	const u64 bus_ns = 63360;
	struct fb_params p = sample_large_chip();
	struct fb_medium *m = new_medium(&p);
	u64 now_ns;

	CHECK_EQUAL(25000, fb_chip_read(m, 0, 0));
	/* Page 0 to the cache register; the array has page 1 from 28,000 to 53,000 */
	CHECK_EQUAL(28000, fb_chip_read_cached(m, false, 25000));
	CHECK(!fb_chip_status(m, 28000).array_ready);
	CHECK(fb_chip_status(m, 28000).ready);
	now_ns = 28000 + bus_ns;
	CHECK(fb_chip_status(m, now_ns).array_ready);
	CHECK_EQUAL(28000 + bus_ns + 3000, fb_chip_read_cached(m, false, now_ns));
	now_ns += 3000 + bus_ns;
	CHECK_EQUAL(28000 + 2 * bus_ns + 6000, fb_chip_read_cached(m, true, now_ns));
	/* 3Fh was the last */
	CHECK_EQUAL(FB_NEVER, fb_chip_read_cached(m, true, now_ns + 3000));
	CHECK_EQUAL(3, fb_medium_counters(m)->flash_read_pages);
	CHECK_EQUAL(3 * 25000, fb_medium_counters(m)->flash_read_ns);
	free(m);
}

/* A bus that moves 2112 bytes in 10 us: the array is the slower one, and each page takes 25,000 + 3,000 */
static void cached_reads_wait_for_the_array(void)
{
	struct fb_params p = sample_large_chip();
	struct fb_medium *m = new_medium(&p);

	CHECK_EQUAL(25000, fb_chip_read(m, 62, 0));
	CHECK_EQUAL(28000, fb_chip_read_cached(m, false, 25000));
	CHECK_EQUAL(28000 + 25000 + 3000, fb_chip_read_cached(m, true, 38000));
	/* Page 63 is its block's last */
	CHECK_EQUAL(100000 + 25000, fb_chip_read(m, 63, 100000));
	CHECK_EQUAL(FB_NEVER, fb_chip_read_cached(m, false, 125000));
	CHECK_EQUAL(FB_CHIP_OUT_OF_RANGE, fb_chip_breach(m));
	free(m);
}

/*
 * Four pages of 63,360 ns on the bus: the first goes on after 3 us, the others when the array has done with the one
 * before: 3 + 300 + 3 + 300 + 3 + 300 + 300 us behind the first transfer, the last without cache.
 */
static void cached_programs_overlap_the_bus(void)
{
	const u64 bus_ns = 63360;
	struct fb_params p = sample_large_chip();
	struct fb_medium *m = new_medium(&p);
	u64 now_ns = bus_ns;

	CHECK_EQUAL(bus_ns + 3000, program_page_cached(m, 0, now_ns));
	now_ns = bus_ns + 3000 + bus_ns;
	CHECK(!fb_chip_status(m, now_ns).array_ready);
	CHECK_EQUAL(bus_ns + 3000 + 300000 + 3000, program_page_cached(m, 1, now_ns));
	now_ns = 2 * bus_ns + 306000;
	CHECK_EQUAL(bus_ns + 606000 + 3000, program_page_cached(m, 2, now_ns));
	now_ns = 2 * bus_ns + 609000;
	CHECK_EQUAL(bus_ns + 609000 + 300000 + 300000, program_page(m, 3, now_ns));
	CHECK(fb_chip_status(m, bus_ns + 1209000).array_ready);
	CHECK_EQUAL(0, fb_chip_breaches(m));
	CHECK_EQUAL(4 * 300000, fb_medium_counters(m)->flash_program_ns);
	free(m);
}

static void planes_work_at_the_same_time(void)
{
	struct fb_params p = sample_mlc_chip();
	struct fb_medium *m = new_medium(&p);
	struct fb_chip_span erased = { 3 * 256, 0, 0 };

	/* Blocks 2 and 3; 1 us after the first plane */
	CHECK_EQUAL(1000, fb_chip_queue(m, FB_CHIP_ERASE, &(struct fb_chip_span) { 2 * 256, 0, 0 }, 0));
	CHECK_EQUAL(1000 + 3000000, fb_chip_erase(m, 3, 1000));
	CHECK_EQUAL(4001000, queue_page(m, FB_CHIP_PROGRAM, 2 * 256, 4000000));
	CHECK_EQUAL(4001000 + 69120 + 1300000, program_page(m, 3 * 256, 4001000 + 69120));
	CHECK_EQUAL(6001000, queue_page(m, FB_CHIP_READ, 2 * 256, 6000000));
	CHECK_EQUAL(6051000, fb_chip_read(m, 3 * 256, 6001000));
	CHECK_EQUAL(2, fb_medium_counters(m)->flash_programmed_pages);
	CHECK_EQUAL(1300000, fb_medium_counters(m)->flash_program_ns);
	CHECK_EQUAL(2, fb_medium_counters(m)->flash_erased_blocks);
	/* Both go on to the cache registers, and both next pages are sensed: 3 us, then 50 us */
	CHECK_EQUAL(6054000, fb_chip_read_cached(m, false, 6051000));
	CHECK_EQUAL(6054000 + 50000 + 3000, fb_chip_read_cached(m, true, 6060000));
	CHECK_EQUAL(4, fb_medium_counters(m)->flash_read_pages);
	CHECK_EQUAL(0, fb_chip_breaches(m));

	/* The same plane, another page number, another operation, one plane more than there are */
	CHECK_EQUAL(7001000, queue_page(m, FB_CHIP_READ, 0, 7000000));
	CHECK_EQUAL(FB_NEVER, fb_chip_read(m, 2 * 256, 7001000));
	CHECK_EQUAL(FB_CHIP_NOT_TOGETHER, fb_chip_breach(m));
	CHECK_EQUAL(7002000, queue_page(m, FB_CHIP_READ, 0, 7001000));
	CHECK_EQUAL(FB_NEVER, fb_chip_read(m, 256 + 1, 7002000));
	CHECK_EQUAL(7003000, queue_page(m, FB_CHIP_READ, 0, 7002000));
	CHECK_EQUAL(FB_NEVER, program_page(m, 256, 7003000));
	CHECK_EQUAL(7004000, fb_chip_queue(m, FB_CHIP_ERASE, &erased, 7003000));
	CHECK_EQUAL(FB_NEVER, fb_chip_queue(m, FB_CHIP_ERASE, &(struct fb_chip_span) { 0, 0, 0 }, 7004000));
	CHECK_EQUAL(4, fb_chip_breaches(m));
	CHECK(!fb_verify(m));
	free(m);
}

static void upper_pages_have_times_of_their_own(void)
{
	struct fb_params p = sample_mlc_chip();
	struct fb_medium *m;

	p.read_upper_ns = 64000;
	p.program_ns = 850000;
	p.program_upper_ns = 2300000;
	m = new_medium(&p);
	CHECK_EQUAL(850000, program_page(m, 256, 0));
	CHECK_EQUAL(1000000 + 2300000, program_page(m, 257, 1000000));
	CHECK_EQUAL(4000000 + 64000, fb_chip_read(m, 257, 4000000));
	CHECK_EQUAL(5000000 + 50000, fb_chip_read(m, 258, 5000000));
	free(m);
}

/* Copy-back is a read and a program: on the MLC chip 50 us and 1.3 ms, and nothing on the bus */
static void copy_back_needs_no_bus(void)
{
	struct fb_params p = sample_mlc_chip();
	struct fb_medium *m = new_medium(&p);
	u64 ready_ns = fb_chip_read(m, 0, 0);

	CHECK_EQUAL(50000 + 1300000, program_page(m, 4 * 256, ready_ns));
	CHECK_EQUAL(0, fb_medium_counters(m)->flash_bus_ns);
	free(m);
}

const struct test chip_tests[] = {
	TEST(a_small_page_takes_what_its_data_sheet_says),
	TEST(programs_of_the_spare_area_alone_are_counted),
	TEST(cached_reads_overlap_the_bus),
	TEST(cached_reads_wait_for_the_array),
	TEST(cached_programs_overlap_the_bus),
	TEST(planes_work_at_the_same_time),
	TEST(upper_pages_have_times_of_their_own),
	TEST(copy_back_needs_no_bus),
	END_OF_TESTS,
};
