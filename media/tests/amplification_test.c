// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Write amplification and wear in the steady state, against closed forms. With uniform random writes, T pages in full
 * blocks and U of them valid, a large block that is collected has a share u of valid pages left, and
 *
 *	u = exp(-(T / U) * (1 - u)),  amplification 1 / (1 - u)
 *
 * (Robinson 1996; Desnoyers 2012, "Analytic modeling of SSD write performance"; Van Houdt 2013, "A mean field model for
 * a class of garbage collection algorithms in flash-based SSDs": the limit of greedy collection for large blocks).
 * Blocks of few pages do a little better, because greedy collection picks among blocks that differ by chance. The
 * balance of flows between blocks with i and with i - 1 valid pages gives that exactly for many blocks: see
 * finite_greedy().
 */
#include <math.h>

#include "ftl_page.h"
#include "samples.h"
#include "test.h"

enum { BLOCKS = 2048, PAGES = 64, RESERVE = 4 };

static double large_blocks(double spare_factor)
{
	double u = 0.5;
	int i;

	for (i = 0; i < 200; i++)
		u = exp(-spare_factor * (1 - u));
	return 1 / (1 - u);
}

/*
 * Let x_i be the share of full blocks with i of b pages valid, V the mean of valid pages a block, and r the blocks
 * collected for each page that the host writes, over the number of blocks. A valid page is overwritten at the rate 1 /
 * V a block, so blocks flow from i to i - 1 at the rate i * x_i / V. Filled blocks enter at i = b at the rate r, and
 * leave by collection at the lowest count m, or at once when they fall to m - 1. So i * x_i = r * V above m; shares add
 * up to one, valid pages to V. What is written into new blocks is 1 page by the host and r * b in all.
 */
static double finite_greedy(double valid_per_block, int b)
{
	double harmonic = 0;
	int m;

	for (m = b - 1; m > 0; m--) {
		double rate, share;

		harmonic += 1.0 / (m + 1);
		rate = (1 - m / valid_per_block) / (b - m - m * harmonic);
		share = 1 - rate * valid_per_block * harmonic;
		if (share >= 0 && m * share / valid_per_block <= rate)
			return rate * b;
	}
	return 1;
}

static struct fb_params device(double over_provisioning)
{
	struct fb_params p = sample_flash();

	p.blocks_per_die = BLOCKS;
	p.pages_per_block = PAGES;
	p.gc_reserve_blocks = RESERVE;
	p.capacity_bytes = (u64)(BLOCKS * PAGES / (1 + over_provisioning)) * 2048;
	return p;
}

/* Programs a page written by the host, from the third overwrite of the medium on */
static double measured(const struct fb_params *p, struct fb_medium **kept)
{
	struct fb_medium *m = new_medium(p);
	u64 pages = p->capacity_bytes / 2048, before = 0, seed = 5, i;
	double result;

	for (i = 0; i < pages; i++)
		submit(m, FB_WRITE, i * 2048, 2048, 0);
	for (i = 0; i < 5 * pages; i++) {
		if (i == 3 * pages)
			before = fb_medium_counters(m)->flash_programmed_pages;
		submit(m, FB_WRITE, next_random(&seed) % pages * 2048, 2048, 0);
	}
	result = (double)(fb_medium_counters(m)->flash_programmed_pages - before) / (2 * pages);
	CHECK(!fb_verify(m));
	if (kept)
		*kept = m;
	else
		free(m);
	return result;
}

/* When a block is chosen, the reserve is free and one block is half full of moved pages */
static double valid_per_block(const struct fb_params *p)
{
	return (p->capacity_bytes / 2048 - PAGES / 2) / (double)(BLOCKS - RESERVE - 1);
}

static void greedy_amplification_is_the_analytic_one(void)
{
	static const double over[] = { 0.07, 0.10, 0.15, 0.20, 0.28, 0.40, 0.60 };
	u32 i;

	for (i = 0; i < sizeof(over) / sizeof(*over); i++) {
		struct fb_params p = device(over[i]);
		double valid = valid_per_block(&p);
		double expected = finite_greedy(valid, PAGES);
		double is = measured(&p, NULL);

		printf("  over-provisioning %2.0f %%: %.3f programs a write, %.3f analytic (%+.2f %%), "
		       "large blocks %.3f\n",
		       over[i] * 100, is, expected, (is / expected - 1) * 100, large_blocks(PAGES / valid));
		CHECK(fabs(is / expected - 1) < 0.02);
	}
}

/*
 * A block drawn at random has as many valid pages as the mean, which gives b / (b - V) (Van Houdt 2013). Here blocks
 * without a stale page are not drawn; with their share x_b, which they leave at the rate b * x_b / V = r, the flows
 * give
 */
static double finite_random(double valid_per_block, int b)
{
	return b * b / (b * (b - valid_per_block) + valid_per_block);
}

/* The more blocks are looked at, the nearer to greedy */
static void more_choices_come_nearer_to_greedy(void)
{
	struct fb_params p = device(0.20);
	double greedy = measured(&p, NULL);
	double random, two, ten, cost_benefit;

	p.gc_policy = FB_GC_RANDOM;
	random = measured(&p, NULL);
	p.gc_policy = FB_GC_D_CHOICES;
	p.gc_choices = 2;
	two = measured(&p, NULL);
	p.gc_choices = 10;
	ten = measured(&p, NULL);
	p.gc_policy = FB_GC_COST_BENEFIT;
	cost_benefit = measured(&p, NULL);
	printf("  20 %%: greedy %.3f, 10 choices %.3f, 2 choices %.3f, "
	       "random %.3f (%.3f analytic), cost-benefit %.3f\n",
	       greedy, ten, two, random, finite_random(valid_per_block(&p), PAGES), cost_benefit);
	CHECK(greedy < ten && ten < two && two < random);
	CHECK(fabs(ten / greedy - 1) < 0.05);
	CHECK(fabs(random / finite_random(valid_per_block(&p), PAGES) - 1) < 0.02);
	CHECK(fabs(cost_benefit / greedy - 1) < 0.10);
}

/* Nine of ten writes go to a tenth of the pages */
static double skewed(struct fb_params p, struct fb_wear *wear)
{
	struct fb_medium *m = new_medium(&p);
	u64 pages = p.capacity_bytes / 2048, before = 0, seed = 11, i;
	double result;

	for (i = 0; i < pages; i++)
		submit(m, FB_WRITE, i * 2048, 2048, 0);
	for (i = 0; i < 12 * pages; i++) {
		u64 hot = next_random(&seed) % 10;
		u64 page = hot ? next_random(&seed) % (pages / 10) : next_random(&seed) % pages;

		if (i == 8 * pages)
			before = fb_medium_counters(m)->flash_programmed_pages;
		submit(m, FB_WRITE, page * 2048, 2048, 0);
	}
	result = (double)(fb_medium_counters(m)->flash_programmed_pages - before) / (4 * pages);
	CHECK(!fb_verify(m));
	if (wear)
		*wear = fb_medium_wear(m);
	free(m);
	return result;
}

/*
 * Greedy collection takes hot and cold blocks at the same count of valid pages, so keeping them apart gains nothing; a
 * policy that lets hot blocks ripen does gain
 */
static void keeping_hot_and_cold_apart_pays(void)
{
	struct fb_params p = device(0.15);
	double greedy, together, moved_apart, hot_apart;

	p.blocks_per_die /= 4;
	p.capacity_bytes /= 4 * 2048;
	p.capacity_bytes *= 2048;
	p.open_blocks = 3;
	greedy = skewed(p, NULL);
	p.gc_policy = FB_GC_COST_BENEFIT;
	p.open_blocks = 1;
	together = skewed(p, NULL);
	p.open_blocks = 2;
	moved_apart = skewed(p, NULL);
	p.open_blocks = 3;
	hot_apart = skewed(p, NULL);
	printf("  90 %% of writes to 10 %% of pages: greedy %.3f; "
	       "cost-benefit %.3f in one block, %.3f moved apart, %.3f hot apart\n",
	       greedy, together, moved_apart, hot_apart);
	CHECK(together < greedy * 0.7);
	CHECK(moved_apart < together);
	CHECK(hot_apart < moved_apart * 0.97);
}

/* Half of the pages are never written again: without a threshold their blocks are never erased */
static void static_wear_levelling_moves_data_that_rest(void)
{
	struct fb_params p = device(0.25);
	u64 pages, threshold, seed, i;

	p.blocks_per_die /= 8;
	p.capacity_bytes = p.capacity_bytes / 8 / 2048 * 2048;
	pages = p.capacity_bytes / 2048;
	for (threshold = 0; threshold <= 20; threshold += 10) {
		struct fb_medium *m;
		struct fb_wear wear;

		p.wear_threshold = threshold;
		m = new_medium(&p);
		for (i = 0; i < pages; i++)
			submit(m, FB_WRITE, i * 2048, 2048, 0);
		for (i = 0, seed = 3; i < 40 * pages; i++)
			submit(m, FB_WRITE, next_random(&seed) % (pages / 2) * 2048, 2048, 0);
		wear = fb_medium_wear(m);
		printf("  threshold %2d: erases %d to %d, %d blocks collected for wear\n", (int)threshold,
		       (int)wear.erase_count_min, (int)wear.erase_count_max,
		       (int)fb_medium_counters(m)->wear_collections);
		CHECK(!fb_verify(m));
		if (!threshold)
			CHECK(wear.erase_count_min == 0 && wear.erase_count_max > 60);
		else
			CHECK(wear.erase_count_max - wear.erase_count_min <= threshold + 2);
		free(m);
	}
}

const struct test amplification_tests[] = {
	TEST(greedy_amplification_is_the_analytic_one),
	TEST(more_choices_come_nearer_to_greedy),
	TEST(keeping_hot_and_cold_apart_pays),
	TEST(static_wear_levelling_moves_data_that_rest),
	END_OF_TESTS,
};
