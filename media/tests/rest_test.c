// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A pause between two measurements: what the firmware does in it, and that no later count has a part of that */
#include <math.h>

#include "ftl_page.h"
#include "samples.h"
#include "test.h"

enum {
	PAGE = 2048,
	BUS_NS = 51200,
	MOVE_NS = 15000 + BUS_NS + BUS_NS,	/* a page in SLC mode is read, and sent both ways */
	LOWER_NS = 200000,
	UPPER_NS = 600000,
	ERASE_NS = 1500000,
	CACHE_PAGES = 6,	/* in blocks of two */
	LONG_NS = 100000000,
};

static u64 now_ns;

static void write_page(struct fb_medium *m, u64 page)
{
	now_ns = submit(m, FB_WRITE, page * PAGE, PAGE, now_ns);
}

static u64 rest(struct fb_medium *m)
{
	u64 begin_ns = now_ns;

	now_ns = fb_rest(m, now_ns);
	CHECK(!fb_verify(m));
	return now_ns - begin_ns;
}

/* The pause lasts until five pages are folded: two full blocks, and one that is half full. Then nothing is left. */
static void rest_leaves_nothing_to_fold(void)
{
	struct fb_params p = sample_slc_flash();
	const struct fb_counters *c;
	struct fb_medium *m;
	u64 page;

	p.slc_idle_fold = 1;
	m = new_medium(&p);
	c = fb_medium_counters(m);
	for (page = 0; page < CACHE_PAGES - 1; page++)
		write_page(m, page);
	CHECK_EQUAL(5 * MOVE_NS + 3 * LOWER_NS + 2 * UPPER_NS + 3 * ERASE_NS, rest(m));
	CHECK_EQUAL(CACHE_PAGES - 1, c->slc_folded_pages);
	CHECK_EQUAL(0, rest(m));
	for (; page < 2 * CACHE_PAGES - 1; page++)
		write_page(m, page);
	CHECK_EQUAL(CACHE_PAGES - 1, c->slc_folded_pages);
	free(m);
}

/* Firmware that folds only when it must does not do so at rest either */
static void rest_adds_no_idle_work_that_firmware_lacks(void)
{
	struct fb_params p = sample_slc_flash();
	struct fb_medium *m = new_medium(&p);
	u64 page;

	for (page = 0; page < CACHE_PAGES; page++)
		write_page(m, page);
	CHECK_EQUAL(0, rest(m));
	CHECK_EQUAL(0, fb_medium_counters(m)->slc_folded_pages);
	free(m);
}

/* Pages programmed for each that a load writes, between two rests, on a medium that was just filled in part */
static double amplification(u64 writes)
{
	struct fb_params p = sample_slc_flash();
	const struct fb_counters *c;
	struct fb_medium *m;
	u64 seed = 7, before, i;
	double result;

	p.slc_idle_fold = 1;
	p.slc_step_pages = 1;
	p.blocks_per_die = 6000;
	p.slc_cache_bytes = 500 * 2 * PAGE;
	p.capacity_bytes = 20000 * PAGE;
	m = new_medium(&p);
	c = fb_medium_counters(m);
	for (i = 0; i < 900; i++)
		write_page(m, i);
	rest(m);
	before = c->flash_programmed_pages;
	for (i = 0; i < writes; i++) {
		write_page(m, 1000 + next_random(&seed) % 900);
		now_ns += i % 4 ? 0 : LONG_NS;
	}
	rest(m);
	result = (double)(c->flash_programmed_pages - before) / writes;
	free(m);
	return result;
}

/* The 900 pages that were there before are four times as many as the short load writes, and add nothing */
static void amplification_does_not_depend_on_the_length_of_a_load(void)
{
	double brief = amplification(200), six_times = amplification(1200);

	printf("  %.3f pages programmed a write in a short load, %.3f in one six times as long\n", brief, six_times);
	CHECK(fabs(brief / six_times - 1) < 0.02);
}

const struct test rest_tests[] = {
	TEST(rest_leaves_nothing_to_fold),
	TEST(rest_adds_no_idle_work_that_firmware_lacks),
	TEST(amplification_does_not_depend_on_the_length_of_a_load),
	END_OF_TESTS,
};
