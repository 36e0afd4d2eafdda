// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A raw chip's rules: what breaks one is counted, and carried out where a chip would */
#include "chip_support.h"

static void a_small_page_chip_has_no_cache(void)
{
	struct fb_params p = sample_chip();
	struct fb_medium *m = new_medium(&p);

	CHECK_EQUAL(15000, fb_chip_read(m, 0, 0));
	CHECK_EQUAL(FB_NEVER, fb_chip_read_cached(m, false, 15000));
	CHECK_EQUAL(FB_CHIP_NOT_OFFERED, fb_chip_breach(m));
	CHECK_EQUAL(FB_NEVER, program_page_cached(m, 0, 15000));
	CHECK_EQUAL(FB_CHIP_NOT_OFFERED, fb_chip_breach(m));
	CHECK_EQUAL(FB_NEVER, queue_page(m, FB_CHIP_READ, 0, 15000));
	CHECK_EQUAL(FB_CHIP_NOT_TOGETHER, fb_chip_breach(m));
	CHECK_EQUAL(3, fb_chip_breaches(m));
	free(m);
}

static void the_chip_makes_those_wait_who_come_too_early(void)
{
	struct fb_params p = sample_large_chip();
	struct fb_medium *m = new_medium(&p);

	CHECK_EQUAL(300000, program_page(m, 0, 0));
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
	CHECK_EQUAL(FB_NEVER, program_page(m, 8 * 64, 0));
	CHECK_EQUAL(FB_NEVER, fb_chip_erase(m, 8, 0));
	CHECK_EQUAL(FB_NEVER, fb_chip_program(m, &(struct fb_chip_span) { 0, 2112, 1 }, 0));
	CHECK_EQUAL(FB_NEVER, fb_chip_program(m, &(struct fb_chip_span) { 0, 1, 0xffffffff }, 0));
	CHECK_EQUAL(FB_CHIP_OUT_OF_RANGE, fb_chip_breach(m));
	CHECK_EQUAL(5, fb_chip_breaches(m));
	CHECK_EQUAL(0, fb_medium_counters(m)->flash_read_pages + fb_medium_counters(m)->flash_programmed_pages +
		       fb_medium_counters(m)->flash_erased_blocks);
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
	CHECK_EQUAL(4000000 + 300000 + now_ns, program_page(m, 5, 4000000 + now_ns));
	CHECK_EQUAL(FB_CHIP_KEPT, fb_chip_breach(m));
	free(m);

	m = new_medium(&small);
	program_page(m, 0, 0);
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

	program_page(m, 3, 0);
	program_page(m, 64, 300000);		/* another block */
	CHECK_EQUAL(0, fb_chip_breaches(m));
	program_page(m, 2, 600000);
	CHECK_EQUAL(FB_CHIP_OUT_OF_ORDER, fb_chip_breach(m));
	program_page(m, 3, 900000);		/* once more is no matter of order */
	CHECK_EQUAL(FB_CHIP_KEPT, fb_chip_breach(m));
	CHECK(!fb_verify(m));
	free(m);

	m = new_medium(&small);
	program_page(m, 3, 0);
	program_page(m, 2, 200000);
	CHECK_EQUAL(0, fb_chip_breaches(m));
	free(m);
}

const struct test chip_rules_tests[] = {
	TEST(a_small_page_chip_has_no_cache),
	TEST(the_chip_makes_those_wait_who_come_too_early),
	TEST(what_is_out_of_range_is_not_carried_out),
	TEST(pages_are_not_programmed_more_often_than_allowed),
	TEST(a_program_of_nothing_counts),
	TEST(pages_are_programmed_in_order_where_the_chip_wants_it),
	END_OF_TESTS,
};
