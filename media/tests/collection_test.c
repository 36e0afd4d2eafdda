// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What collection does and costs, on six blocks of four pages with one in reserve: three blocks of data */
#include "ftl_page.h"
#include "samples.h"
#include "test.h"

enum {
	PAGE = 2048,
	WRITE_NS = 1000 + 20480 + 51200 + 200000,
	MOVE_NS = 25000 + 51200 + 51200 + 200000,
	ERASE_NS = 1500000,
	STEP_NS = 100000000,	/* between requests: all is idle again */
};

static u64 now_ns;

static struct fb_medium *small_flash(void)
{
	struct fb_params params = sample_flash();

	params.blocks_per_die = 6;
	params.gc_reserve_blocks = 1;
	params.capacity_bytes = 12 * PAGE;
	now_ns = 0;
	return new_medium(&params);
}

/* Writes a page when all is idle; returns how long that took */
static u64 write_page(struct fb_medium *m, u64 page)
{
	now_ns += STEP_NS;
	return submit(m, FB_WRITE, page * PAGE, PAGE, now_ns) - now_ns;
}

static void write_pages(struct fb_medium *m, u64 first, u64 end)
{
	for (; first < end; first++)
		CHECK_EQUAL(WRITE_NS, write_page(m, first));
}

static void a_block_without_valid_pages_costs_an_erase(void)
{
	struct fb_medium *m = small_flash();
	u64 block, erased = 0;

	write_pages(m, 0, 12);		/* three blocks full, three free */
	write_pages(m, 0, 8);		/* two more full, the first two stale, one free */
	CHECK_EQUAL(ERASE_NS + WRITE_NS, write_page(m, 8));
	CHECK_EQUAL(1, fb_medium_counters(m)->collections);
	CHECK_EQUAL(0, fb_medium_counters(m)->collection_moved_pages);
	CHECK_EQUAL(1, fb_medium_counters(m)->flash_erased_blocks);
	CHECK_EQUAL(ERASE_NS, fb_medium_counters(m)->collection_ns);
	CHECK_EQUAL(1, fb_medium_wear(m).erase_count_max);
	CHECK_EQUAL(0, fb_medium_wear(m).erase_count_min);
	CHECK_EQUAL(1, fb_medium_wear(m).erase_count_sum);
	for (block = 0; block < fb_blocks(m); block++)
		erased += fb_block_erases(m, block);
	CHECK_EQUAL(6, fb_blocks(m));
	CHECK_EQUAL(1, erased);
	CHECK(!fb_verify(m));
	free(m);
}

/*
 * Two blocks are half valid. The first's pages go to a fresh block, which leaves no more free blocks than before; the
 * second's fill that block up.
 */
static void valid_pages_are_moved(void)
{
	struct fb_medium *m = small_flash();

	write_pages(m, 0, 12);
	write_pages(m, 0, 2);
	write_pages(m, 4, 6);
	write_pages(m, 8, 10);
	write_pages(m, 0, 2);
	CHECK_EQUAL(2 * (2 * MOVE_NS + ERASE_NS) + WRITE_NS, write_page(m, 11));
	CHECK_EQUAL(2, fb_medium_counters(m)->collections);
	CHECK_EQUAL(4, fb_medium_counters(m)->collection_moved_pages);
	CHECK_EQUAL(20 + 4 + 1, fb_medium_counters(m)->flash_programmed_pages);
	CHECK(!fb_verify(m));
	free(m);
}

static u32 block_of(struct fb_die_tables *t, u32 page)
{
	return (t->map[page] - FB_MAPPED) / t->pages_per_block;
}

/* Pages that outlived their block are likely to outlive those that the host writes now */
static void moved_pages_are_kept_apart_from_written_ones(void)
{
	struct fb_medium *m = small_flash();
	struct fb_die_tables t = fb_die_tables(m, 0);
	int i;

	write_pages(m, 0, 12);
	write_pages(m, 0, 3);		/* first block: page 3 valid */
	write_pages(m, 4, 8);		/* second block: none valid */
	write_pages(m, 8, 9);
	for (i = 0; i < 5; i++)
		write_page(m, 9);
	CHECK(fb_medium_counters(m)->collection_moved_pages > 0);
	CHECK(block_of(&t, 3) != block_of(&t, 9));
	CHECK(!fb_verify(m));
	free(m);
}

static void the_block_with_the_fewest_valid_pages_goes_first(void)
{
	struct fb_medium *m = small_flash();

	write_pages(m, 0, 12);
	write_pages(m, 0, 1);		/* first block: 3 valid */
	write_pages(m, 4, 7);		/* second block: 1 valid */
	write_pages(m, 8, 10);		/* third block: 2 valid */
	write_pages(m, 0, 2);		/* one more full: first block 2 valid */
	/* 1 page of the second block, then 2 of whichever waited longer, then room is made */
	CHECK_EQUAL(3 * MOVE_NS + 2 * ERASE_NS + WRITE_NS, write_page(m, 11));
	CHECK(!fb_verify(m));
	free(m);
}

/* A read that comes while its die collects and then writes waits for both */
static void a_read_waits_while_its_die_collects(void)
{
	struct fb_medium *m = small_flash();
	u64 took_ns;

	write_pages(m, 0, 12);
	write_pages(m, 0, 8);
	took_ns = write_page(m, 8);
	CHECK_EQUAL(now_ns + took_ns + 25000 + 51200 + 20480, submit(m, FB_READ, 11 * PAGE, PAGE, now_ns));
	free(m);
}

static void discarded_pages_need_no_move(void)
{
	struct fb_medium *m = small_flash();

	write_pages(m, 0, 12);
	write_pages(m, 0, 2);
	submit(m, FB_DISCARD, 2 * PAGE, 2 * PAGE, now_ns);
	write_pages(m, 4, 6);
	write_pages(m, 8, 10);
	write_pages(m, 0, 2);
	CHECK_EQUAL(ERASE_NS + WRITE_NS, write_page(m, 11));
	CHECK_EQUAL(0, fb_medium_counters(m)->collection_moved_pages);
	CHECK(!fb_verify(m));
	free(m);
}

static struct fb_medium *medium_with(u64 step_pages, u64 idle_blocks)
{
	struct fb_params p = sample_flash();

	p.blocks_per_die = 64;
	p.pages_per_block = 16;
	p.gc_reserve_blocks = 6;
	p.gc_step_pages = step_pages;
	p.gc_idle_blocks = idle_blocks;
	p.capacity_bytes = 48 * 16 * PAGE;
	now_ns = 0;
	return new_medium(&p);
}

/* Fills the medium, then rewrites it at random, a page whenever all is idle; returns the longest that one took */
static u64 longest_write(struct fb_medium *m, u64 from, u64 writes)
{
	u64 pages = 48 * 16, seed = 5, longest_ns = 0, i;

	for (i = 0; i < pages; i++)
		write_page(m, i);
	for (i = 0; i < writes; i++) {
		u64 took_ns = write_page(m, next_random(&seed) % pages);

		if (i >= from && took_ns > longest_ns)
			longest_ns = took_ns;
		CHECKF(!fb_verify(m), "step %d: %s", (int)i, fb_verify(m));
	}
	return longest_ns;
}

/* Some pages with each write: at most that many moves and an erase, instead of whole blocks */
static void collection_in_steps_shortens_the_longest_write(void)
{
	struct fb_medium *at_once = medium_with(0, 0);
	struct fb_medium *in_steps = medium_with(4, 0);

	CHECK(longest_write(at_once, 0, 3000) > WRITE_NS + ERASE_NS + 8 * MOVE_NS);
	CHECK(longest_write(in_steps, 0, 3000) <= WRITE_NS + ERASE_NS + 4 * MOVE_NS);
	CHECK(fb_medium_counters(in_steps)->collections > 100);
	free(at_once);
	free(in_steps);
}

/* With enough idle time before each write, none waits for collection */
static void an_idle_die_collects_ahead(void)
{
	struct fb_medium *m = medium_with(0, 10);

	CHECK_EQUAL(WRITE_NS, longest_write(m, 0, 3000));
	CHECK(fb_medium_counters(m)->collections > 100);
	CHECK_EQUAL(0, fb_medium_counters(m)->collection_ns);
	free(m);
}

/* A request finds the step that began before it came; the step after that does not begin */
static void a_request_waits_for_the_step_that_has_begun(void)
{
	struct fb_medium *m = medium_with(0, 10);
	u64 pages = 48 * 16, seed = 5, i;

	for (i = 0; i < pages; i++)
		write_page(m, i);
	for (i = 0; fb_medium_counters(m)->collections == 0; i++)
		write_page(m, next_random(&seed) % pages);
	for (i = 0; i < 40; i++) {
		u64 done_ns = write_page(m, next_random(&seed) % pages) + now_ns;
		u64 at_ns = done_ns + 1000;
		u64 took_ns = submit(m, FB_READ, 0, PAGE, at_ns) - at_ns;

		CHECK(took_ns <= 1000 + MOVE_NS + ERASE_NS + 25000 + 51200 + 20480);
	}
	CHECK(!fb_verify(m));
	free(m);
}

/*
 * Two planes: a page that the host writes when all is idle is programmed by itself, and what collection moves two at a
 * time, whichever blocks it comes from. In steps each write has its share: never more than a row beyond gc_step_pages.
 */
static void collection_fills_program_units(void)
{
	struct fb_params p = sample_flash();
	struct fb_medium *m;
	u64 seed = 5, before = 0, i;

	p.planes = 2;
	p.blocks_per_die = 24;
	p.capacity_bytes = 60 * PAGE;
	p.gc_step_pages = 4;
	m = new_medium(&p);
	now_ns = 0;
	for (i = 0; i < 2000; i++) {
		u64 moved;

		write_page(m, i < 60 ? i : next_random(&seed) % 60);
		moved = fb_medium_counters(m)->collection_moved_pages;
		CHECK(moved - before <= p.gc_step_pages + 1);
		before = moved;
	}
	CHECK(before > 1000);
	CHECK_EQUAL((2000 + before / 2) * 200000, fb_medium_counters(m)->flash_program_ns);
	CHECK(!fb_verify(m));
	free(m);
}

/*
 * Random writes in steady state cost a die, for each page of the host, its share of whole program units, of the reads
 * of what is moved, and of erases. So many dies as there are make the rate, if each is busy: by 85 % at
 * least, as the write buffer waits for the slowest. The map is on flash: some blocks are nearly empty when they are
 * collected, some nearly full, and its pages are written by the row.
 */
static void all_dies_are_busy_in_steady_state(void)
{
	struct fb_params p = sample_flash();
	const struct fb_counters *c;
	struct fb_counters before = { 0 };
	struct fb_medium *m;
	u64 seed = 5, at_ns = 0, i;
	double writes, cost_ns, rate, max;

	p.dies = 4;
	p.channels = 1;
	p.planes = 8;
	p.blocks_per_die = 8 * 128;
	p.pages_per_block = 16;
	p.capacity_bytes = 112 * 128 * 4 * PAGE;
	p.write_buffer_bytes = 128 * PAGE;
	p.bus_ps_per_byte = 2500;
	p.cache_operations = 1;
	p.program_ns = 1300000;
	p.ftl = FB_FTL_DFTL;
	p.map_cache_bytes = 16 * PAGE;
	p.map_update_bytes = 32768;
	p.gc_policy = FB_GC_COST_BENEFIT;
	p.gc_reserve_blocks = 8;
	p.gc_step_pages = 8;
	m = new_medium(&p);
	c = fb_medium_counters(m);
	for (i = 0; i < p.capacity_bytes / PAGE; i++)
		at_ns = submit(m, FB_WRITE, i * PAGE, PAGE, at_ns);
	for (i = 0; i < 150000; i++) {
		if (i == 100000) {
			before = *c;
			at_ns = 0;
			fb_power_on(m);
		}
		at_ns = submit(m, FB_WRITE, next_random(&seed) % (p.capacity_bytes / PAGE) * PAGE, PAGE, at_ns);
	}
	writes = 50000;
	cost_ns = (c->flash_programmed_pages - before.flash_programmed_pages) / writes / p.planes * p.program_ns +
		  (c->collection_moved_pages - before.collection_moved_pages) / writes / p.planes * p.read_ns +
		  (c->map_read_pages - before.map_read_pages) / writes * p.read_ns +
		  (c->flash_erased_blocks - before.flash_erased_blocks) / writes / p.planes * p.erase_ns;
	rate = writes / at_ns * 1e9;
	max = p.dies / cost_ns * 1e9;
	CHECKF(rate > 0.85 * max && rate <= max, "%.0f a second of %.0f", rate, max);
	CHECK(!fb_verify(m));
	free(m);
}

const struct test collection_tests[] = {
	TEST(a_block_without_valid_pages_costs_an_erase),
	TEST(valid_pages_are_moved),
	TEST(moved_pages_are_kept_apart_from_written_ones),
	TEST(the_block_with_the_fewest_valid_pages_goes_first),
	TEST(a_read_waits_while_its_die_collects),
	TEST(discarded_pages_need_no_move),
	TEST(collection_in_steps_shortens_the_longest_write),
	TEST(an_idle_die_collects_ahead),
	TEST(a_request_waits_for_the_step_that_has_begun),
	TEST(collection_fills_program_units),
	TEST(all_dies_are_busy_in_steady_state),
	END_OF_TESTS,
};
