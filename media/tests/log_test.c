// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The log-block layers: what their merges cost, by hand, on groups of four pages; and what they are known for */
#include "log_support.h"

static void the_first_write_in_order_needs_no_log(void)
{
	u64 ftl;

	for (ftl = FB_FTL_BAST; ftl <= FB_FTL_FAST; ftl++) {
		struct fb_medium *m = log_medium(ftl, 2);

		write_pages(m, 0, 8 * GROUP);
		CHECK_EQUAL(8 * GROUP, fb_medium_counters(m)->flash_programmed_pages);
		CHECK_EQUAL(0, fb_medium_counters(m)->flash_erased_blocks);
		check_merges(m, 0, 0, 0);
		free(m);
	}
}

static void a_log_in_order_is_switched_in(void)
{
	u64 ftl;

	for (ftl = FB_FTL_BAST; ftl <= FB_FTL_FAST; ftl++) {
		struct fb_medium *m = log_medium(ftl, 2);

		write_pages(m, 0, GROUP);
		write_pages(m, 0, GROUP);
		/* The log is full: it becomes the data group, and the old one is erased */
		CHECK_EQUAL(ERASE_NS + WRITE_NS, write_page(m, 0));
		CHECK_EQUAL(0, fb_medium_counters(m)->collection_moved_pages);
		CHECK_EQUAL(ERASE_NS, fb_medium_counters(m)->collection_ns);
		check_merges(m, 1, 0, 0);
		free(m);
	}
}

static void the_rest_of_a_group_is_copied_behind_a_log_in_order(void)
{
	struct fb_medium *m = log_medium(FB_FTL_BAST, 1);

	write_pages(m, 0, 2 * GROUP);
	write_pages(m, 0, 1);
	/* Another group wants the only log: three pages follow the first, all read before they are programmed */
	CHECK_EQUAL(3 * READ_NS + 3 * PROGRAM_NS + ERASE_NS + WRITE_NS, write_page(m, GROUP));
	check_merges(m, 0, 1, 0);
	free(m);
}

static void a_log_out_of_order_costs_a_full_merge(void)
{
	struct fb_medium *m = log_medium(FB_FTL_BAST, 1);

	write_pages(m, 0, 2 * GROUP);
	write_pages(m, 1, 2);
	CHECK_EQUAL(4 * READ_NS + 4 * PROGRAM_NS + 2 * ERASE_NS + WRITE_NS, write_page(m, GROUP + 1));
	CHECK_EQUAL(4, fb_medium_counters(m)->collection_moved_pages);
	CHECK_EQUAL(8 + 1 + 4 + 1, fb_medium_counters(m)->flash_programmed_pages);
	check_merges(m, 0, 0, 1);
	free(m);
}

/* Pages that stay in their plane do not take the channel; in a log they may be in another */
static void copying_back_spares_the_channel(void)
{
	struct fb_params p = log_params(FB_FTL_BAST, 1);
	struct fb_medium *m;

	p.copy_back = 1;
	m = new_log_medium(&p);
	write_pages(m, 0, 2 * GROUP);
	write_pages(m, 1, 2);
	CHECK_EQUAL(4 * (25000 + 200000) + 2 * ERASE_NS + WRITE_NS, write_page(m, GROUP + 1));
	CHECK(!fb_verify(m));
	free(m);

	/* In two planes page 1 is in the second; its newest is the log's first page, in the first plane */
	p.planes = 2;
	p.blocks_per_die = 32;
	p.capacity_bytes = 4 * 2 * GROUP * PAGE;
	m = new_log_medium(&p);
	write_pages(m, 0, 4 * GROUP);
	write_pages(m, 1, 2);
	/* Rows of two are read and programmed together, but of the first row page 1 is read by itself, and moved */
	CHECK_EQUAL(5 * 25000 + 4 * 200000 + 2 * 51200 + 2 * ERASE_NS + WRITE_NS, write_page(m, 2 * GROUP + 1));
	CHECK(!fb_verify(m));
	free(m);
}

/* Pages in front that nobody wrote are padded: programmed without being read */
static void a_merge_pads_what_was_never_written(void)
{
	struct fb_medium *m = log_medium(FB_FTL_BAST, 1);

	write_pages(m, 2, 3);
	CHECK_EQUAL(READ_NS + 3 * PROGRAM_NS + ERASE_NS + WRITE_NS, write_page(m, GROUP + 2));
	CHECK_EQUAL(1, fb_medium_counters(m)->collection_moved_pages);
	check_merges(m, 0, 0, 1);
	free(m);
}

static void fast_shares_its_random_logs(void)
{
	struct fb_medium *m = log_medium(FB_FTL_FAST, 2);

	write_pages(m, 0, 3 * GROUP);
	/* Four updates of three groups in one log; BAST would have merged with the third */
	write_second_pages(m, 3);
	write_pages(m, 1, 2);
	check_merges(m, 0, 0, 0);
	/* The log is full: the three groups that have a page in it are merged, then the log is erased */
	CHECK_EQUAL(3 * (4 * READ_NS + 4 * PROGRAM_NS + ERASE_NS) + ERASE_NS + WRITE_NS, write_page(m, 2));
	check_merges(m, 0, 0, 3);
	free(m);
}

static void fast_fills_up_a_sequential_log(void)
{
	struct fb_medium *m = log_medium(FB_FTL_FAST, 2);

	write_pages(m, 0, 2 * GROUP);
	write_pages(m, 0, 2);
	write_pages(m, 1, 2);		/* newer, in the random log */
	/* The two pages left are copied; the newer second page stays where it is */
	CHECK_EQUAL(2 * READ_NS + 2 * PROGRAM_NS + ERASE_NS + WRITE_NS, write_page(m, GROUP));
	check_merges(m, 0, 1, 0);
	write_pages(m, GROUP + 2, GROUP + 3);
	write_pages(m, 2, 4);
	/* All of the random log is still valid: two groups are merged; the second takes the sequential log with it */
	CHECK_EQUAL(2 * (4 * READ_NS + 4 * PROGRAM_NS + ERASE_NS) + 2 * ERASE_NS + WRITE_NS, write_page(m, 1));
	check_merges(m, 0, 1, 2);
	free(m);
}

static void a_whole_group_can_be_discarded(void)
{
	struct fb_medium *m = log_medium(FB_FTL_BAST, 2);

	write_pages(m, 0, 3 * GROUP);
	write_pages(m, GROUP + 1, GROUP + 2);
	CHECK_EQUAL(1000, idle_request(m, FB_DISCARD, PAGE, (3 * GROUP - 2) * PAGE));
	CHECK_EQUAL(2, fb_medium_counters(m)->flash_erased_blocks);
	CHECK_EQUAL(1000 + 20480, idle_request(m, FB_READ, GROUP * PAGE, PAGE));
	CHECK_EQUAL(0, fb_medium_counters(m)->flash_read_pages);
	idle_request(m, FB_READ, PAGE, PAGE);
	idle_request(m, FB_READ, (3 * GROUP - 2) * PAGE, PAGE);
	CHECK_EQUAL(2, fb_medium_counters(m)->flash_read_pages);
	CHECK(!fb_verify(m));
	free(m);
}

/* A group over two dies is copied by both at the same time */
static void dies_merge_side_by_side(void)
{
	struct fb_params p = log_params(FB_FTL_BAST, 1);
	struct fb_medium *m;

	p.dies = 2;
	p.channels = 2;
	m = new_log_medium(&p);
	write_pages(m, 0, 16);
	write_pages(m, 2, 3);
	CHECK_EQUAL(4 * READ_NS + 4 * PROGRAM_NS + ERASE_NS, write_page(m, 10) - WRITE_NS - ERASE_NS);
	CHECK_EQUAL(3, fb_medium_counters(m)->flash_erased_blocks);
	check_merges(m, 0, 0, 1);
	free(m);
}

/* Flash pages programmed for each that the host writes, at random places in so many groups */
static double amplification(u64 ftl, u64 logs, u64 working_groups)
{
	struct fb_params p = log_params(ftl, logs);
	struct fb_medium *m;
	u64 seed = 7, before;
	double result;
	int i, writes = 20000;

	p.pages_per_block = 64;
	p.blocks_per_die = 128;
	p.capacity_bytes = 96 * 64 * PAGE;
	m = new_medium(&p);
	submit(m, FB_WRITE, 0, p.capacity_bytes, 0);
	for (i = 0; i < writes; i++)
		submit(m, FB_WRITE, next_random(&seed) % (working_groups * 64) * PAGE, PAGE, 0);
	before = fb_medium_counters(m)->flash_programmed_pages;
	for (i = 0; i < writes; i++)
		submit(m, FB_WRITE, next_random(&seed) % (working_groups * 64) * PAGE, PAGE, 0);
	result = (double)(fb_medium_counters(m)->flash_programmed_pages - before) / writes;
	CHECK(!fb_verify(m));
	free(m);
	return result;
}

/*
 * With a log for each group, a log is merged when it is full: two programs for a write. With half as many logs as
 * groups, every second write finds no log and costs a merge of 64 pages: 1 + 64 / 2.
 */
static void random_writes_collapse_beyond_the_logs(void)
{
	static const u64 groups[] = { 2, 4, 8, 9, 10, 12, 16, 32, 64 };
	double bast[9];
	u32 i;

	for (i = 0; i < 9; i++) {
		bast[i] = amplification(FB_FTL_BAST, 8, groups[i]);
		printf("  8 logs, random writes in %2d groups: bast %5.2f fast %5.2f programs a write\n",
		       (int)groups[i], bast[i], amplification(FB_FTL_FAST, 8, groups[i]));
	}
	CHECK(bast[0] < 2.05 && bast[2] < 2.05);
	CHECK(bast[6] > 33 * 0.95 && bast[6] < 33 * 1.05);
	CHECK(bast[8] > (1 + 64 * 7 / 8.0) * 0.95 && bast[8] < (1 + 64 * 7 / 8.0) * 1.05);
	for (i = 3; i < 9; i++)
		CHECK(bast[i] > bast[i - 1]);
}

const struct test log_tests[] = {
	TEST(the_first_write_in_order_needs_no_log),
	TEST(a_log_in_order_is_switched_in),
	TEST(the_rest_of_a_group_is_copied_behind_a_log_in_order),
	TEST(a_log_out_of_order_costs_a_full_merge),
	TEST(copying_back_spares_the_channel),
	TEST(a_merge_pads_what_was_never_written),
	TEST(fast_shares_its_random_logs),
	TEST(fast_fills_up_a_sequential_log),
	TEST(a_whole_group_can_be_discarded),
	TEST(dies_merge_side_by_side),
	TEST(random_writes_collapse_beyond_the_logs),
	END_OF_TESTS,
};
