// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What operations cost on chips as their data sheets have them, each sum by hand. The host link and the controller take
 * no time here, so that a request is what happens on its die.
 */
#include "samples.h"
#include "state.h"
#include "test.h"

#define LATER_NS 1000000000ull

static struct fb_params chip(u64 page_bytes, u64 read_ns, u64 program_ns, u64 erase_ns, u64 bus_ps_per_byte)
{
	struct fb_params p = sample_flash();

	p.capacity_bytes = 32 * page_bytes;
	p.command_ns = 0;
	p.link_ps_per_byte = 0;
	p.page_bytes = page_bytes;
	p.read_ns = read_ns;
	p.program_ns = program_ns;
	p.erase_ns = erase_ns;
	p.bus_ps_per_byte = bus_ps_per_byte;
	return p;
}

/* Micron MT29F4G08AAA: 2 KiB pages, tR 25 us, tPROG 220 us, tBERS 1.5 ms, 25 ns a byte: 51,200 ns a page */
static struct fb_params slc(void)
{
	return chip(2048, 25000, 220000, 1500000, 25000);
}

/* Micron L95B, as FEMU has it: 48 / 64 us, 850 / 2300 us, 3 ms; 8 KiB pages in 52,429 ns at 6.4 ns a byte */
static struct fb_params mlc(void)
{
	struct fb_params p = chip(8192, 48000, 850000, 3000000, 6400);

	p.bits_per_cell = 2;
	p.read_upper_ns = 64000;
	p.program_upper_ns = 2300000;
	return p;
}

static u64 write(struct fb_medium *m, u64 first, u64 pages, u64 at_ns)
{
	u64 page_bytes = fb_medium_params(m)->page_bytes;

	return submit(m, FB_WRITE, first * page_bytes, pages * page_bytes, at_ns) - at_ns;
}

static u64 read(struct fb_medium *m, u64 first, u64 pages, u64 at_ns)
{
	u64 page_bytes = fb_medium_params(m)->page_bytes;

	return submit(m, FB_READ, first * page_bytes, pages * page_bytes, at_ns) - at_ns;
}

static void a_small_page_slc_chip(void)
{
	/* Samsung K9F1208 class: 512-byte pages, 50 ns a byte */
	struct fb_params p = chip(512, 15000, 200000, 2000000, 50000);
	struct fb_medium *m;

	p.capacity_bytes = 32 * 512;
	m = new_medium(&p);
	CHECK_EQUAL(25600 + 200000, write(m, 0, 1, 0));
	CHECK_EQUAL(15000 + 25600, read(m, 0, 1, LATER_NS));
	CHECK_EQUAL(2 * LATER_NS + 2000000, fb_nand_erase(m, 0, 15, 2 * LATER_NS));
	free(m);
}

static void an_slc_chip(void)
{
	struct fb_params p = slc();
	struct fb_medium *m = new_medium(&p);

	CHECK_EQUAL(51200 + 220000, write(m, 0, 1, 0));
	CHECK_EQUAL(25000 + 51200, read(m, 0, 1, LATER_NS));
	CHECK_EQUAL(2 * (51200 + 220000), write(m, 1, 2, 2 * LATER_NS));
	CHECK_EQUAL(2 * (25000 + 51200), read(m, 1, 2, 3 * LATER_NS));
	CHECK_EQUAL(4 * LATER_NS + 1500000, fb_nand_erase(m, 0, 15, 4 * LATER_NS));
	free(m);
}

/* The next page is loaded while the array programs, and sensed while the one before goes out */
static void cache_operations_hide_the_shorter_part(void)
{
	struct fb_params p = slc();
	struct fb_medium *m;

	p.cache_operations = 1;
	m = new_medium(&p);
	CHECK_EQUAL(51200 + 3 * 220000, write(m, 0, 3, 0));
	CHECK_EQUAL(25000 + 3 * 51200, read(m, 0, 3, LATER_NS));
	free(m);

	p.read_ns = 60000;		/* longer than the transfer: the array is the limit */
	p.program_ns = 40000;		/* shorter: the channel is */
	m = new_medium(&p);
	CHECK_EQUAL(3 * 51200 + 40000, write(m, 0, 3, 0));
	CHECK_EQUAL(3 * 60000 + 51200, read(m, 0, 3, LATER_NS));
	free(m);
}

static void planes_share_the_time_of_the_array(void)
{
	struct fb_params p = slc();
	struct fb_medium *m;

	p.planes = 2;
	m = new_medium(&p);
	CHECK_EQUAL(2 * 51200 + 220000, write(m, 0, 2, 0));
	CHECK_EQUAL(25000 + 2 * 51200, read(m, 0, 2, LATER_NS));
	CHECK_EQUAL(220000, fb_medium_counters(m)->flash_program_ns);
	CHECK_EQUAL(25000, fb_medium_counters(m)->flash_read_ns);
	CHECK_EQUAL(2, fb_medium_counters(m)->flash_programmed_pages);
	/* Two rows */
	CHECK_EQUAL(2 * (2 * 51200 + 220000), write(m, 2, 4, 2 * LATER_NS));
	/* The second plane of one row and the first of the next do not join */
	CHECK_EQUAL(2 * (25000 + 51200), read(m, 1, 2, 3 * LATER_NS));
	/* One erase for the blocks of both planes */
	CHECK_EQUAL(4 * LATER_NS + 1500000, fb_nand_erase(m, 0, 7, 4 * LATER_NS));
	CHECK_EQUAL(2, fb_medium_counters(m)->flash_erased_blocks);
	CHECK_EQUAL(16, fb_medium_wear(m).blocks);
	CHECK(!fb_verify(m));
	free(m);
}

static void requests_apart_do_not_join(void)
{
	struct fb_params p = slc();
	struct fb_medium *m;

	p.planes = 2;
	m = new_medium(&p);
	write(m, 0, 1, 0);
	CHECK_EQUAL(2 * (51200 + 220000), write(m, 1, 1, 0));
	free(m);
}

/* While the die is busy with one row, the pages of the next gather in the buffer */
static void buffered_pages_join_while_the_die_is_busy(void)
{
	struct fb_params p = slc();
	struct fb_medium *m;
	u64 i;

	p.planes = 2;
	p.cache_operations = 1;
	p.write_buffer_bytes = 16 * 2048;
	m = new_medium(&p);
	for (i = 0; i < 6; i++)
		write(m, i, 1, 0);
	/* All arrive at once: three rows, the first loaded in 102,400 ns, the others while the array is busy */
	CHECK_EQUAL(2 * 51200 + 3 * 220000, submit(m, FB_FLUSH, 0, 0, 0));
	CHECK_EQUAL(3 * 220000, fb_medium_counters(m)->flash_program_ns);
	/* An idle die begins with the page that it has: what comes after that is another program */
	write(m, 6, 1, LATER_NS);
	write(m, 7, 1, LATER_NS + 51200);
	CHECK_EQUAL(LATER_NS + 51200 + 2 * 220000, submit(m, FB_FLUSH, 0, 0, LATER_NS + 51200));
	free(m);
}

/* Two planes, then the next row: its pages are loaded while the first row is programmed */
static void planes_and_cache_operations_together(void)
{
	struct fb_params p = slc();
	struct fb_medium *m;

	p.planes = 2;
	p.cache_operations = 1;
	m = new_medium(&p);
	CHECK_EQUAL(2 * 51200 + 2 * 220000, write(m, 0, 4, 0));
	CHECK_EQUAL(25000 + 4 * 51200, read(m, 0, 4, LATER_NS));
	free(m);
}

static void an_mlc_chip_has_fast_and_slow_pages(void)
{
	struct fb_params p = mlc();
	struct fb_medium *m = new_medium(&p);

	CHECK_EQUAL(52429 + 850000, write(m, 0, 1, 0));
	CHECK_EQUAL(52429 + 2300000, write(m, 1, 1, LATER_NS));
	CHECK_EQUAL(52429 + 850000, write(m, 2, 1, 2 * LATER_NS));
	CHECK_EQUAL(48000 + 52429, read(m, 0, 1, 3 * LATER_NS));
	CHECK_EQUAL(64000 + 52429, read(m, 1, 1, 4 * LATER_NS));
	CHECK_EQUAL(5 * LATER_NS + 3000000, fb_nand_erase(m, 0, 15, 5 * LATER_NS));
	free(m);
}

/* Both planes' lower pages, then both planes' upper pages */
static void mlc_on_two_planes(void)
{
	struct fb_params p = mlc();
	struct fb_medium *m;

	p.planes = 2;
	m = new_medium(&p);
	CHECK_EQUAL(4 * 52429 + 850000 + 2300000, write(m, 0, 4, 0));
	CHECK_EQUAL(4 * 52429 + 48000 + 64000, read(m, 0, 4, LATER_NS));
	free(m);
}

/* FEMU's TLC: 56.5 / 77.5 / 106 us, 820 / 2225 / 5734 us, 3 ms; its 16 KiB pages at 6.4 ns a byte: 104,858 ns */
static void a_tlc_chip_has_three_kinds_of_pages(void)
{
	struct fb_params p = chip(16384, 56500, 820000, 3000000, 6400);
	static const u64 program_ns[] = { 820000, 2225000, 5734000 };
	static const u64 read_ns[] = { 56500, 77500, 106000 };
	struct fb_medium *m;
	u64 i;

	p.bits_per_cell = 3;
	p.read_middle_ns = 77500;
	p.read_upper_ns = 106000;
	p.program_middle_ns = 2225000;
	p.program_upper_ns = 5734000;
	p.pages_per_block = 6;
	p.capacity_bytes = 32 * 16384;
	m = new_medium(&p);
	for (i = 0; i < 12; i++)
		CHECK_EQUAL(104858 + program_ns[i % 3], write(m, i, 1, i * LATER_NS));
	for (i = 0; i < 12; i++)
		CHECK_EQUAL(read_ns[i % 3] + 104858, read(m, i, 1, (12 + i) * LATER_NS));
	free(m);
}

static void wear_is_told_by_steps(void)
{
	struct fb_params p = slc();
	struct fb_medium *m = new_medium(&p);
	struct fb_wear wear;
	u64 i;

	for (i = 0; i < 40; i++)
		fb_nand_erase(m, 0, 3, 0);
	fb_nand_erase(m, 0, 5, 0);
	wear = fb_medium_wear(m);
	CHECK_EQUAL(16, wear.blocks);
	CHECK_EQUAL(41, wear.erase_count_sum);
	CHECK_EQUAL(3, wear.step_erases);
	CHECK_EQUAL(15, wear.blocks_by_step[0]);
	CHECK_EQUAL(1, wear.blocks_by_step[13]);
	free(m);
}

static void the_chips_rules_are_checked(void)
{
	struct fb_params p = slc();
	struct fb_medium *m = new_medium(&p);

	fb_nand_program(m, 0, 0, FB_NO_PAGE, 0);
	CHECK(!fb_nand_verify(m));
	fb_nand_program(m, 0, 2, FB_NO_PAGE, 0);		/* leaves a page out */
	CHECK(fb_nand_verify(m));
	free(m);

	m = new_medium(&p);
	fb_nand_program(m, 0, 0, FB_NO_PAGE, 0);
	fb_nand_program(m, 0, 0, FB_NO_PAGE, 0);		/* twice */
	CHECK(fb_nand_verify(m));
	free(m);

	m = new_medium(&p);
	fb_nand_program(m, 0, 0, FB_NO_PAGE, 0);
	fb_nand_erase(m, 0, 0, 0);
	fb_nand_program(m, 0, 0, FB_NO_PAGE, 0);
	CHECK(!fb_nand_verify(m));
	free(m);
}

/* Many dies behind one channel, or each behind its own, reach the limit of the channel or of the array */
static void sequential_rates_reach_their_limit(void)
{
	struct fb_params p = slc();
	struct fb_medium *m;
	u64 pages = 8 * 32, took_ns, by_hand_ns;

	p.dies = 8;
	p.capacity_bytes = pages * 2048;
	m = new_medium(&p);
	took_ns = write(m, 0, pages, 0);
	by_hand_ns = pages * 51200;		/* 8 x 51.2 us of channel are longer than 51.2 + 220 us of a die */
	CHECK(took_ns >= by_hand_ns && took_ns <= by_hand_ns + by_hand_ns / 50);
	took_ns = read(m, 0, pages, LATER_NS);
	CHECK(took_ns >= by_hand_ns && took_ns <= by_hand_ns + by_hand_ns / 100);
	free(m);

	p.channels = 8;
	m = new_medium(&p);
	CHECK_EQUAL(32 * (51200 + 220000), write(m, 0, pages, 0));
	CHECK_EQUAL(32 * (25000 + 51200), read(m, 0, pages, LATER_NS));
	free(m);
}

/*
 * Two planes, a write buffer and cache operations. B is programmed when C comes, and a read is issued behind C; D is
 * there before C begins, and shares its program: it ends with C, and the read comes no later.
 */
static void a_page_joins_a_program_that_waits_among_others(void)
{
	struct fb_params p = sample_flash();
	const u64 t_ns = 10000000;
	struct fb_medium *m;

	p.planes = 2;
	p.blocks_per_die = 32;
	p.cache_operations = 1;
	p.write_buffer_bytes = 8 * 2048;
	m = new_medium(&p);
	submit(m, FB_WRITE, 8 * 2048, 2048, 0);
	submit(m, FB_WRITE, 1 * 2048, 2048, t_ns);
	submit(m, FB_WRITE, 2 * 2048, 2048, t_ns);
	/* Command, link and bus of B, its program and C's; then the read */
	CHECK_EQUAL(t_ns + 1000 + 20480 + 51200 + 2 * 200000 + 25000 + 51200 + 20480,
		    submit(m, FB_READ, 8 * 2048, 2048, t_ns));
	submit(m, FB_WRITE, 3 * 2048, 2048, t_ns);
	CHECK_EQUAL(3 * 200000, fb_medium_counters(m)->flash_program_ns);
	CHECK_EQUAL(t_ns + 1000 + 20480 + 51200 + 2 * 200000, submit(m, FB_FLUSH, 0, 0, t_ns));
	CHECK(!fb_verify(m));
	free(m);
}

const struct test nand_tests[] = {
	TEST(a_small_page_slc_chip),
	TEST(an_slc_chip),
	TEST(cache_operations_hide_the_shorter_part),
	TEST(planes_share_the_time_of_the_array),
	TEST(requests_apart_do_not_join),
	TEST(buffered_pages_join_while_the_die_is_busy),
	TEST(planes_and_cache_operations_together),
	TEST(an_mlc_chip_has_fast_and_slow_pages),
	TEST(mlc_on_two_planes),
	TEST(a_tlc_chip_has_three_kinds_of_pages),
	TEST(wear_is_told_by_steps),
	TEST(the_chips_rules_are_checked),
	TEST(sequential_rates_reach_their_limit),
	TEST(a_page_joins_a_program_that_waits_among_others),
	END_OF_TESTS,
};
