// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A raw chip: times by hand with the numbers of the three profiles of raw NAND, rules, failures, wrong bits, what a
 * power cut tears
 */
#include "fb_chip.h"
#include "fb_power.h"
#include "samples.h"
#include "test.h"

static struct fb_chip_span whole(const struct fb_params *p, u32 page)
{
	return (struct fb_chip_span) { page, 0, fb_raw_page_bytes(p) };
}

static u64 program(struct fb_medium *m, u32 page, u64 now_ns)
{
	struct fb_chip_span span = whole(fb_medium_params(m), page);

	return fb_chip_program(m, &span, now_ns);
}

static u64 program_cached(struct fb_medium *m, u32 page, u64 now_ns)
{
	struct fb_chip_span span = whole(fb_medium_params(m), page);

	return fb_chip_program_cached(m, &span, now_ns);
}

static u64 queue(struct fb_medium *m, enum fb_chip_op op, u32 page, u64 now_ns)
{
	struct fb_chip_span span = whole(fb_medium_params(m), page);

	return fb_chip_queue(m, op, &span, now_ns);
}

static u64 reset(struct fb_medium *m, u64 now_ns)
{
	struct fb_chip_torn torn[FB_CHIP_MOST_TORN];
	u32 count;

	return fb_chip_reset(m, now_ns, torn, &count);
}

static const struct fb_counters *counters(const struct fb_medium *m)
{
	return fb_medium_counters(m);
}

static void a_small_page_takes_what_its_data_sheet_says(void)
{
	struct fb_params p = sample_chip();
	struct fb_medium *m = new_medium(&p);

	CHECK_EQUAL(1000 + 15000, fb_chip_read(m, 0, 1000));
	CHECK_EQUAL(20000 + 200000, program(m, 0, 20000));
	CHECK_EQUAL(300000 + 2000000, fb_chip_erase(m, 7, 300000));
	CHECK_EQUAL(3000000 + 5000, reset(m, 3000000));
	CHECK_EQUAL(15000, counters(m)->flash_read_ns);
	CHECK_EQUAL(200000, counters(m)->flash_program_ns);
	CHECK_EQUAL(2000000, counters(m)->flash_erase_ns);
	CHECK_EQUAL(1, counters(m)->flash_read_pages);
	CHECK_EQUAL(1, counters(m)->flash_programmed_pages);
	CHECK_EQUAL(1, counters(m)->flash_erased_blocks);
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
	CHECK_EQUAL(5, counters(m)->flash_programmed_pages);
	CHECK_EQUAL(2, counters(m)->spare_programmed_pages);
	free(m);
}

static void a_small_page_chip_has_no_cache(void)
{
	struct fb_params p = sample_chip();
	struct fb_medium *m = new_medium(&p);

	CHECK_EQUAL(15000, fb_chip_read(m, 0, 0));
	CHECK_EQUAL(FB_NEVER, fb_chip_read_cached(m, false, 15000));
	CHECK_EQUAL(FB_CHIP_NOT_OFFERED, fb_chip_breach(m));
	CHECK_EQUAL(FB_NEVER, program_cached(m, 0, 15000));
	CHECK_EQUAL(FB_CHIP_NOT_OFFERED, fb_chip_breach(m));
	CHECK_EQUAL(FB_NEVER, queue(m, FB_CHIP_READ, 0, 15000));
	CHECK_EQUAL(FB_CHIP_NOT_TOGETHER, fb_chip_breach(m));
	CHECK_EQUAL(3, fb_chip_breaches(m));
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
	CHECK_EQUAL(3, counters(m)->flash_read_pages);
	CHECK_EQUAL(3 * 25000, counters(m)->flash_read_ns);
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

	CHECK_EQUAL(bus_ns + 3000, program_cached(m, 0, now_ns));
	now_ns = bus_ns + 3000 + bus_ns;
	CHECK(!fb_chip_status(m, now_ns).array_ready);
	CHECK_EQUAL(bus_ns + 3000 + 300000 + 3000, program_cached(m, 1, now_ns));
	now_ns = 2 * bus_ns + 306000;
	CHECK_EQUAL(bus_ns + 606000 + 3000, program_cached(m, 2, now_ns));
	now_ns = 2 * bus_ns + 609000;
	CHECK_EQUAL(bus_ns + 609000 + 300000 + 300000, program(m, 3, now_ns));
	CHECK(fb_chip_status(m, bus_ns + 1209000).array_ready);
	CHECK_EQUAL(0, fb_chip_breaches(m));
	CHECK_EQUAL(4 * 300000, counters(m)->flash_program_ns);
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
	CHECK_EQUAL(4001000, queue(m, FB_CHIP_PROGRAM, 2 * 256, 4000000));
	CHECK_EQUAL(4001000 + 69120 + 1300000, program(m, 3 * 256, 4001000 + 69120));
	CHECK_EQUAL(6001000, queue(m, FB_CHIP_READ, 2 * 256, 6000000));
	CHECK_EQUAL(6051000, fb_chip_read(m, 3 * 256, 6001000));
	CHECK_EQUAL(2, counters(m)->flash_programmed_pages);
	CHECK_EQUAL(1300000, counters(m)->flash_program_ns);
	CHECK_EQUAL(2, counters(m)->flash_erased_blocks);
	/* Both go on to the cache registers, and both next pages are sensed: 3 us, then 50 us */
	CHECK_EQUAL(6054000, fb_chip_read_cached(m, false, 6051000));
	CHECK_EQUAL(6054000 + 50000 + 3000, fb_chip_read_cached(m, true, 6060000));
	CHECK_EQUAL(4, counters(m)->flash_read_pages);
	CHECK_EQUAL(0, fb_chip_breaches(m));

	/* The same plane, another page number, another operation, one plane more than there are */
	CHECK_EQUAL(7001000, queue(m, FB_CHIP_READ, 0, 7000000));
	CHECK_EQUAL(FB_NEVER, fb_chip_read(m, 2 * 256, 7001000));
	CHECK_EQUAL(FB_CHIP_NOT_TOGETHER, fb_chip_breach(m));
	CHECK_EQUAL(7002000, queue(m, FB_CHIP_READ, 0, 7001000));
	CHECK_EQUAL(FB_NEVER, fb_chip_read(m, 256 + 1, 7002000));
	CHECK_EQUAL(7003000, queue(m, FB_CHIP_READ, 0, 7002000));
	CHECK_EQUAL(FB_NEVER, program(m, 256, 7003000));
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
	CHECK_EQUAL(850000, program(m, 256, 0));
	CHECK_EQUAL(1000000 + 2300000, program(m, 257, 1000000));
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

	CHECK_EQUAL(50000 + 1300000, program(m, 4 * 256, ready_ns));
	CHECK_EQUAL(0, counters(m)->flash_bus_ns);
	free(m);
}

static void the_chip_makes_those_wait_who_come_too_early(void)
{
	struct fb_params p = sample_large_chip();
	struct fb_medium *m = new_medium(&p);

	CHECK_EQUAL(300000, program(m, 0, 0));
	CHECK_EQUAL(300000 + 25000, fb_chip_read(m, 0, 100000));
	CHECK_EQUAL(FB_CHIP_BUSY, fb_chip_breach(m));
	CHECK_EQUAL(325000 + 25000, fb_chip_read(m, 0, 325000));
	CHECK_EQUAL(FB_CHIP_KEPT, fb_chip_breach(m));
	CHECK_EQUAL(1, fb_chip_breaches(m));
	free(m);
}

static void what_is_out_of_range_is_not_carried_out(void)
{
	struct fb_params p = sample_large_chip();
	struct fb_medium *m = new_medium(&p);

	CHECK_EQUAL(FB_NEVER, fb_chip_read(m, 8 * 64, 0));
	CHECK_EQUAL(FB_NEVER, program(m, 8 * 64, 0));
	CHECK_EQUAL(FB_NEVER, fb_chip_erase(m, 8, 0));
	CHECK_EQUAL(FB_NEVER, fb_chip_program(m, &(struct fb_chip_span) { 0, 2112, 1 }, 0));
	CHECK_EQUAL(FB_NEVER, fb_chip_program(m, &(struct fb_chip_span) { 0, 1, 0xffffffff }, 0));
	CHECK_EQUAL(FB_CHIP_OUT_OF_RANGE, fb_chip_breach(m));
	CHECK_EQUAL(5, fb_chip_breaches(m));
	CHECK_EQUAL(0, counters(m)->flash_read_pages + counters(m)->flash_programmed_pages +
		       counters(m)->flash_erased_blocks);
	CHECK_EQUAL(FB_NEVER, submit(m, FB_READ, 0, 512, 0));
	free(m);
}

/* Eight programs of a page of the large chip; one of the data and two of the spare area of the small one */
static void pages_are_not_programmed_more_often_than_allowed(void)
{
	struct fb_params large = sample_large_chip(), small = sample_chip();
	struct fb_medium *m = new_medium(&large);
	u64 now_ns = 0;
	u32 i;

	for (i = 0; i < 8; i++, now_ns += 300000)
		fb_chip_program(m, &(struct fb_chip_span) { 5, 256 * i, 256 }, now_ns);
	CHECK_EQUAL(0, fb_chip_breaches(m));
	CHECK_EQUAL(now_ns + 300000, fb_chip_program(m, &(struct fb_chip_span) { 5, 2048, 64 }, now_ns));
	CHECK_EQUAL(FB_CHIP_TOO_OFTEN, fb_chip_breach(m));
	fb_chip_erase(m, 0, now_ns + 300000);
	CHECK_EQUAL(4000000 + 300000 + now_ns, program(m, 5, 4000000 + now_ns));
	CHECK_EQUAL(FB_CHIP_KEPT, fb_chip_breach(m));
	free(m);

	m = new_medium(&small);
	program(m, 0, 0);
	CHECK_EQUAL(FB_CHIP_KEPT, fb_chip_breach(m));
	fb_chip_program(m, &(struct fb_chip_span) { 0, 512, 16 }, 200000);
	CHECK_EQUAL(FB_CHIP_KEPT, fb_chip_breach(m));
	fb_chip_program(m, &(struct fb_chip_span) { 0, 520, 8 }, 400000);
	CHECK_EQUAL(FB_CHIP_TOO_OFTEN, fb_chip_breach(m));
	fb_chip_program(m, &(struct fb_chip_span) { 0, 0, 512 }, 600000);
	CHECK_EQUAL(FB_CHIP_TOO_OFTEN, fb_chip_breach(m));
	free(m);
}

/* No data between 80h and 10h: the program counts where the column points, at most twice in the spare area */
static void a_program_of_nothing_counts(void)
{
	struct fb_params p = sample_chip();
	struct fb_medium *m = new_medium(&p);
	struct fb_chip_span spare = { 3, 512, 0 };
	u64 now_ns = 0;
	u32 i;

	for (i = 0; i < 3; i++) {
		now_ns = fb_chip_program(m, &spare, now_ns);
		CHECK_EQUAL(i == 2 ? 1 : 0, fb_chip_breaches(m));
		CHECK(!fb_verify(m));
	}
	CHECK_EQUAL(FB_CHIP_TOO_OFTEN, fb_chip_breach(m));
	free(m);
}

static void pages_are_programmed_in_order_where_the_chip_wants_it(void)
{
	struct fb_params large = sample_large_chip(), small = sample_chip();
	struct fb_medium *m = new_medium(&large);

	program(m, 3, 0);
	program(m, 64, 300000);		/* another block */
	CHECK_EQUAL(0, fb_chip_breaches(m));
	program(m, 2, 600000);
	CHECK_EQUAL(FB_CHIP_OUT_OF_ORDER, fb_chip_breach(m));
	program(m, 3, 900000);		/* once more is no matter of order */
	CHECK_EQUAL(FB_CHIP_KEPT, fb_chip_breach(m));
	CHECK(!fb_verify(m));
	free(m);

	m = new_medium(&small);
	program(m, 3, 0);
	program(m, 2, 200000);
	CHECK_EQUAL(0, fb_chip_breaches(m));
	free(m);
}

static void bad_blocks_are_shipped_and_stay_bad(void)
{
	struct fb_params p = sample_large_chip();
	struct fb_medium *m;
	u32 block, bad = 0, count = 0;

	p.factory_bad_blocks = 3;
	m = new_medium(&p);
	for (block = 0; block < 8; block++)
		if (fb_chip_bad_from_factory(m, block)) {
			bad = block;
			count++;
		}
	CHECK_EQUAL(3, count);
	CHECK(!fb_chip_bad_from_factory(m, 0));
	CHECK(!fb_chip_bad_from_factory(m, 8));
	CHECK_EQUAL(2048, fb_chip_bad_mark_column(&p));
	CHECK_EQUAL(2000000, fb_chip_erase(m, bad, 0));
	CHECK(fb_chip_status(m, 2000000).failed);
	CHECK_EQUAL(1, counters(m)->erase_failures);
	CHECK_EQUAL(3, fb_medium_wear(m).factory_bad_blocks);
	CHECK_EQUAL(0, fb_medium_wear(m).grown_bad_blocks);
	CHECK_EQUAL(5, fb_medium_wear(m).blocks);
	CHECK(!fb_verify(m));
	free(m);
	p = sample_chip();
	CHECK_EQUAL(512 + 5, fb_chip_bad_mark_column(&p));
}

/* At its endurance every erase fails with 10^9 of 10^9; before its first it never does */
static void failures_show_in_the_status(void)
{
	struct fb_params p = sample_large_chip();
	struct fb_medium *m;
	u64 now_ns = 0;

	p.endurance_erases = 1;
	p.erase_fail_ppb = 1000000000;
	m = new_medium(&p);
	now_ns = fb_chip_erase(m, 1, now_ns);
	CHECK(!fb_chip_status(m, now_ns).failed);
	now_ns = fb_chip_erase(m, 1, now_ns);
	CHECK(fb_chip_status(m, now_ns).failed);
	CHECK_EQUAL(1, fb_medium_wear(m).grown_bad_blocks);
	CHECK_EQUAL(p.blocks_per_die, fb_blocks(m));
	CHECK_EQUAL(2, fb_block_erases(m, 1));
	CHECK_EQUAL(0, fb_block_erases(m, 2));
	/* It stays bad; of a cached program, the one before shows in the other bit */
	now_ns = program_cached(m, 64, now_ns);
	now_ns = program(m, 2 * 64, now_ns);
	CHECK(!fb_chip_status(m, now_ns).failed);
	CHECK(fb_chip_status(m, now_ns).failed_before);
	CHECK_EQUAL(1, counters(m)->program_failures);
	now_ns = reset(m, now_ns);
	CHECK(!fb_chip_status(m, now_ns).failed_before);
	CHECK(!fb_verify(m));
	free(m);
}

/* 100 wrong bits of a million, 16,384 bits a page: 1.6384 a page; over 1,000 pages 1,638 +- 4 * 40 */
static void wrong_bits_are_as_many_as_they_should_be(void)
{
	struct fb_params p = sample_large_chip();
	struct fb_medium *m;
	u32 positions[64], again[64], few[2], page, i, j;
	u64 sum = 0;

	p.capacity_bytes = 2048 * 64 * 16;
	p.blocks_per_die = 16;
	p.ecc_bits = 1;
	p.bit_error_ppt = 100000000;
	m = new_medium(&p);
	CHECK_EQUAL(0, fb_chip_flips(m, 0, positions, 64));	/* erased */
	for (page = 0; page < 1000; page++) {
		u32 count;

		program(m, page, page * 300000);
		count = fb_chip_flips(m, page, positions, 64);
		CHECK_EQUAL(count, fb_chip_flips(m, page, again, 64));
		CHECK(!memcmp(positions, again, count * sizeof(u32)));
		for (i = 0; i < count; i++) {
			CHECK(positions[i] < 16384);
			for (j = 0; j < i; j++)
				CHECK(positions[i] != positions[j]);
		}
		if (count > 2) {
			CHECK_EQUAL(2, fb_chip_flips(m, page, few, 2));
			CHECK(!memcmp(positions, few, sizeof(few)));
		}
		sum += count;
	}
	CHECK(sum > 1638 - 160 && sum < 1638 + 160);
	CHECK(counters(m)->wrong_bits >= 2 * sum);
	free(m);
}

/* What was wrong stays wrong; age adds to it */
static void age_adds_wrong_bits(void)
{
	struct fb_params p = sample_large_chip();
	struct fb_medium *m;
	u32 young[256], old[256], page, young_count, old_count, sum = 0;

	p.ecc_bits = 1;
	p.bit_error_ppt = 50000000;
	p.endurance_erases = 1;
	p.year_bit_error_ppt = 500000000;
	m = new_medium(&p);
	fb_chip_erase(m, 0, 0);
	for (page = 0; page < 64; page++)
		program(m, page, 3000000 + page * 300000);
	for (page = 0; page < 64; page++) {
		young_count = fb_chip_flips(m, page, young, 256);
		fb_age(m, page ? 0 : 365);
		old_count = fb_chip_flips(m, page, old, 256);
		CHECK(old_count >= young_count);
		CHECK(!memcmp(young, old, young_count * sizeof(u32)));
		sum += old_count;
	}
	/* 0.00005 + 0.0005 * 365/365.25 of 16,384 bits: 9.0 a page, 576 on 64 */
	CHECK(sum > 576 - 96 && sum < 576 + 96);
	free(m);
}

static void a_cut_tears_what_is_under_way(void)
{
	struct fb_params p = sample_large_chip();
	struct fb_chip_torn torn[FB_CHIP_MOST_TORN];
	struct fb_medium *m = new_medium(&p);
	u32 i, ones = 0;
	u8 content[2112];

	program(m, 0, 0);
	CHECK_EQUAL(0, fb_chip_cut(m, 300000, torn));
	free(m);

	/* Page 0 has 225,000 of 300,000 ns behind it, page 1 waits */
	m = new_medium(&p);
	CHECK_EQUAL(3000, program_cached(m, 0, 0));
	CHECK_EQUAL(306000, program_cached(m, 1, 100000));
	CHECK_EQUAL(2, fb_chip_cut(m, 228000, torn));
	CHECK_EQUAL(FB_CHIP_PROGRAM, torn[0].op);
	CHECK_EQUAL(0, torn[0].span.page);
	CHECK_EQUAL(768, torn[0].done);
	CHECK_EQUAL(1, torn[1].span.page);
	CHECK_EQUAL(0, torn[1].done);

	/* Of 16,896 bits that were to be cleared, a quarter is not: 4,224 +- 4 * 56; what was set before stays */
	memset(content, 0, sizeof(content));
	fb_chip_tear(&p, &torn[0], 0, 1, content);
	for (i = 0; i < sizeof(content); i++)
		ones += __builtin_popcount(content[i]);
	CHECK(ones > 4224 - 225 && ones < 4224 + 225);
	memset(content, 0, sizeof(content));
	fb_chip_tear(&p, &torn[1], 1, 1, content);
	for (i = 0; i < sizeof(content); i++)
		CHECK_EQUAL(0xff, content[i]);

	CHECK(fb_off(m));
	fb_power_on(m);
	CHECK(!fb_off(m));
	CHECK_EQUAL(1, counters(m)->restarts);
	CHECK(!fb_verify(m));
	free(m);
}

/* Only the bytes of the program that was under way change */
static void a_torn_part_leaves_the_rest(void)
{
	struct fb_params p = sample_large_chip();
	struct fb_chip_torn torn = { FB_CHIP_PROGRAM, 0, { 4, 512, 512 } };
	u8 content[2112];
	u32 i;

	memset(content, 0x5a, sizeof(content));
	fb_chip_tear(&p, &torn, 4, 7, content);
	for (i = 0; i < sizeof(content); i++)
		CHECK_EQUAL(i >= 512 && i < 1024 ? 0xff : 0x5a, content[i]);
}

static void a_half_erased_block_must_be_erased_again(void)
{
	struct fb_params p = sample_large_chip();
	struct fb_chip_torn torn[FB_CHIP_MOST_TORN];
	struct fb_medium *m = new_medium(&p);
	u8 content[2112];
	u32 i, ones = 0;

	fb_chip_erase(m, 2, 0);
	CHECK_EQUAL(1, fb_chip_cut(m, 1000000, torn));
	CHECK_EQUAL(FB_CHIP_ERASE, torn[0].op);
	CHECK_EQUAL(2 * 64, torn[0].span.page);
	CHECK_EQUAL(512, torn[0].done);
	memset(content, 0, sizeof(content));
	fb_chip_tear(&p, &torn[0], 2 * 64, 1, content);
	for (i = 0; i < sizeof(content); i++)
		ones += __builtin_popcount(content[i]);
	CHECK(ones > 8448 - 260 && ones < 8448 + 260);	/* half of 16,896, 4 * 65 */
	memset(content, 0xff, sizeof(content));
	fb_chip_tear(&p, &torn[0], 2 * 64, 1, content);
	for (i = 0; i < sizeof(content); i++)
		CHECK_EQUAL(0xff, content[i]);
	fb_power_on(m);
	CHECK(!fb_verify(m));
	for (i = 0; i < 8; i++)
		program(m, 2 * 64, i * 300000);
	CHECK_EQUAL(FB_CHIP_TOO_OFTEN, fb_chip_breach(m));
	fb_chip_erase(m, 2, 3000000);
	program(m, 2 * 64, 5000000);
	CHECK_EQUAL(FB_CHIP_KEPT, fb_chip_breach(m));
	free(m);
}

static void a_torn_upper_page_takes_its_lower_page_along(void)
{
	struct fb_params p = sample_mlc_chip();
	struct fb_chip_torn torn[FB_CHIP_MOST_TORN];
	struct fb_medium *m = new_medium(&p);

	program(m, 0, 0);
	program(m, 1, 1300000);
	CHECK_EQUAL(2, fb_chip_cut(m, 2000000, torn));
	CHECK_EQUAL(1, torn[0].span.page);
	CHECK_EQUAL(FB_CHIP_PROGRAM, torn[0].op);
	CHECK_EQUAL(0, torn[1].span.page);
	CHECK_EQUAL(FB_CHIP_READ, torn[1].op);
	CHECK_EQUAL(8640, torn[1].span.bytes);
	free(m);
}

const struct test chip_tests[] = {
	TEST(a_small_page_takes_what_its_data_sheet_says),
	TEST(programs_of_the_spare_area_alone_are_counted),
	TEST(a_small_page_chip_has_no_cache),
	TEST(cached_reads_overlap_the_bus),
	TEST(cached_reads_wait_for_the_array),
	TEST(cached_programs_overlap_the_bus),
	TEST(planes_work_at_the_same_time),
	TEST(upper_pages_have_times_of_their_own),
	TEST(copy_back_needs_no_bus),
	TEST(the_chip_makes_those_wait_who_come_too_early),
	TEST(what_is_out_of_range_is_not_carried_out),
	TEST(pages_are_not_programmed_more_often_than_allowed),
	TEST(a_program_of_nothing_counts),
	TEST(pages_are_programmed_in_order_where_the_chip_wants_it),
	TEST(bad_blocks_are_shipped_and_stay_bad),
	TEST(failures_show_in_the_status),
	TEST(wrong_bits_are_as_many_as_they_should_be),
	TEST(age_adds_wrong_bits),
	TEST(a_cut_tears_what_is_under_way),
	TEST(a_torn_part_leaves_the_rest),
	TEST(a_half_erased_block_must_be_erased_again),
	TEST(a_torn_upper_page_takes_its_lower_page_along),
	END_OF_TESTS
};
