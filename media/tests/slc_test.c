// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The SLC cache, on blocks of four pages in which a lower and an upper page take turns, or of two pages in SLC mode;
 * the cache has three of them. Times are added up by hand.
 */
#include "ftl_page.h"
#include "power.h"
#include "samples.h"
#include "test.h"

enum {
	PAGE = 2048,
	COMMAND_NS = 1000,
	LINK_NS = 20480,
	BUS_NS = 51200,
	WRITE_NS = COMMAND_NS + LINK_NS + BUS_NS + 100000,
	FOLD_LOWER_NS = 15000 + BUS_NS + BUS_NS + 200000,
	FOLD_UPPER_NS = 15000 + BUS_NS + BUS_NS + 600000,
	ERASE_NS = 1500000,
	FOLD_NS = FOLD_LOWER_NS + FOLD_UPPER_NS + ERASE_NS,	/* a block of two valid pages */
	CACHE_PAGES = 6,
	LONG_NS = 100000000,
};

static u64 now_ns;

/* As soon as the one before is done; returns how long it took */
static u64 write_page(struct fb_medium *m, u64 page)
{
	u64 done_ns = submit(m, FB_WRITE, page * PAGE, PAGE, now_ns);
	u64 took_ns = done_ns - now_ns;

	now_ns = done_ns;
	return took_ns;
}

static u64 read_page(struct fb_medium *m, u64 page)
{
	now_ns += LONG_NS;
	return submit(m, FB_READ, page * PAGE, PAGE, now_ns) - now_ns;
}

static struct fb_medium *medium_with(struct fb_params params)
{
	now_ns = 0;
	return new_medium(&params);
}

/* Six pages at the rate of SLC; from then on every other write folds a block first */
static void a_burst_is_fast_until_the_cache_is_full(void)
{
	struct fb_medium *m = medium_with(sample_slc_flash());
	const struct fb_counters *c = fb_medium_counters(m);
	u64 page;

	for (page = 0; page < CACHE_PAGES; page++)
		CHECK_EQUAL(WRITE_NS, write_page(m, page));
	CHECK_EQUAL(0, c->slc_folded_pages);
	for (; page < 32; page += 2) {
		CHECK_EQUAL(FOLD_NS + WRITE_NS, write_page(m, page));
		CHECK_EQUAL(WRITE_NS, write_page(m, page + 1));
		CHECK(!fb_verify(m));
	}
	CHECK_EQUAL(32, c->slc_programmed_pages);
	CHECK_EQUAL(32 - CACHE_PAGES, c->slc_folded_pages);
	CHECK_EQUAL(32 + 32 - CACHE_PAGES, c->flash_programmed_pages);
	CHECK_EQUAL(13 * FOLD_NS, c->slc_fold_ns);
	CHECK_EQUAL(13, fb_medium_wear(m).erase_count_sum);
	CHECK_EQUAL(0, c->collections);
	free(m);
}

/*
 * Both bits of a cell are programmed at once: a fold reads two pages, sends both, and programs them in the time of one.
 * A page that has no partner yet waits in the controller.
 */
static void one_shot_programs_all_pages_of_the_cells_together(void)
{
	enum { FOLD_ONE_SHOT_NS = 2 * (15000 + BUS_NS) + 2 * BUS_NS + 200000 + ERASE_NS };
	struct fb_params p = sample_slc_flash();
	struct fb_medium *m;
	u64 page;

	p.one_shot = 1;
	m = medium_with(p);
	for (page = 0; page < CACHE_PAGES; page++)
		CHECK_EQUAL(WRITE_NS, write_page(m, page));
	CHECK_EQUAL(FOLD_ONE_SHOT_NS + WRITE_NS, write_page(m, page));
	CHECK_EQUAL(7 * 100000 + 200000, fb_medium_counters(m)->flash_program_ns);
	free(m);

	/* In two planes a word line has four pages; a block in SLC mode has as many */
	p.planes = 2;
	p.blocks_per_die = 48;
	p.slc_cache_bytes *= 2;
	m = medium_with(p);
	for (page = 0; page < 2 * CACHE_PAGES; page++)
		CHECK_EQUAL(WRITE_NS, write_page(m, page));
	/* Pages of a row are read together */
	CHECK_EQUAL(2 * (15000 + 2 * BUS_NS) + 4 * BUS_NS + 200000 + ERASE_NS + WRITE_NS, write_page(m, page));
	CHECK(!fb_verify(m));
	free(m);

	/* Of four pages one was rewritten, so three, two of them in a row, are moved and wait for a fourth: nothing is
	 * programmed */
	m = medium_with(p);
	for (page = 0; page < 2 * CACHE_PAGES - 1; page++)
		write_page(m, page);
	write_page(m, 1);
	CHECK_EQUAL(2 * 15000 + 3 * BUS_NS + ERASE_NS + WRITE_NS, write_page(m, page));
	CHECK_EQUAL((2 * CACHE_PAGES + 1) * 100000, fb_medium_counters(m)->flash_program_ns);
	CHECK_EQUAL(3, fb_medium_counters(m)->slc_folded_pages);
	CHECK(!fb_verify(m));
	free(m);

	p.slc_cache_bytes = 0;
	check_refused(&p, FB_PARAM_one_shot);
}

/* All that is full is folded while the die has nothing else to do */
static void idle_time_restores_the_cache(void)
{
	struct fb_params p = sample_slc_flash();
	struct fb_medium *m;
	u64 page;

	p.slc_idle_fold = 1;
	m = medium_with(p);
	for (page = 0; page < CACHE_PAGES; page++)
		CHECK_EQUAL(WRITE_NS, write_page(m, page));
	now_ns += LONG_NS;
	for (; page < 2 * CACHE_PAGES; page++)
		CHECK_EQUAL(WRITE_NS, write_page(m, page));
	CHECK_EQUAL(CACHE_PAGES, fb_medium_counters(m)->slc_folded_pages);
	CHECK_EQUAL(0, fb_medium_counters(m)->slc_fold_ns);
	CHECK(!fb_verify(m));
	free(m);
}

/* A host that thinks for 10 us after each write still has its burst; the die folds 1 ms after its last work */
static void pauses_within_a_burst_fold_nothing(void)
{
	struct fb_params p = sample_slc_flash();
	struct fb_medium *m;
	u64 page;

	p.slc_idle_fold = 1;
	p.slc_idle_ns = 1000000;
	m = medium_with(p);
	for (page = 0; page < CACHE_PAGES - 1; page++) {
		CHECK_EQUAL(WRITE_NS, write_page(m, page));
		now_ns += 10000;
	}
	now_ns += 1000000 - 10000;
	CHECK_EQUAL(WRITE_NS, write_page(m, page));
	CHECK_EQUAL(0, fb_medium_counters(m)->slc_folded_pages);
	/* One page is under way, and the cache is full: the write waits for all of the block */
	now_ns += 1000001;
	CHECK_EQUAL(FOLD_NS - 1 + BUS_NS + 100000, write_page(m, page));
	CHECK_EQUAL(2, fb_medium_counters(m)->slc_folded_pages);
	free(m);
}

/* As full as it may be, and overwritten at random many times: what the cache may take is free all the same */
static void collection_keeps_out_of_a_burst(void)
{
	u32 steps;

	for (steps = 0; steps < 3; steps += 2) {
		struct fb_params p = sample_slc_flash();
		struct fb_medium *m;
		u64 seed = 1, pages, i;

		p.slc_idle_fold = 1;
		p.slc_idle_ns = 1000000;
		p.slc_step_pages = steps;
		p.gc_step_pages = steps;
		p.capacity_bytes = (p.blocks_per_die - p.gc_reserve_blocks - 2 - 3) * 4 * PAGE;
		pages = p.capacity_bytes / PAGE;
		m = medium_with(p);
		for (i = 0; i < 1000; i++)
			write_page(m, next_random(&seed) % pages);
		CHECK(fb_medium_counters(m)->collection_moved_pages > 100);
		now_ns += 10 * LONG_NS;
		for (i = 0; i < CACHE_PAGES - 1; i++)
			CHECK_EQUAL(WRITE_NS, write_page(m, i));
		CHECK(!fb_verify(m));
		free(m);
	}
}

static u64 failures_until_worn_out(struct fb_params p)
{
	struct fb_medium *m = medium_with(p);
	const struct fb_counters *c = fb_medium_counters(m);
	u64 seed = 1, count, failures;

	for (count = 0; count < 20000 && !fb_read_only(m); count++) {
		write_page(m, next_random(&seed) % (p.capacity_bytes / PAGE));
		now_ns += next_random(&seed) % 64 ? 0 : LONG_NS;
		if (count % 16 == 0)
			CHECK(!fb_verify(m));
	}
	CHECK(!fb_verify(m));
	CHECK(fb_read_only(m));
	CHECK(c->slc_folded_pages > count / 4);
	failures = c->program_failures + c->erase_failures;
	free(m);
	return failures;
}

/* Programs and erases fail in both modes, until the reserve is used up */
static void failures_leave_the_tables_in_agreement(void)
{
	u32 kind;

	for (kind = 0; kind < 4; kind++) {
		struct fb_params p = sample_slc_flash();

		p.ftl = kind & 1 ? FB_FTL_DFTL : FB_FTL_PAGE;
		p.map_cache_bytes = kind & 1 ? PAGE : 0;
		p.slc_step_pages = kind & 2;
		p.gc_step_pages = kind & 2;
		p.gc_idle_blocks = kind & 2 ? 6 : 0;
		p.slc_idle_fold = 1;
		p.slc_idle_ns = 1000000;
		p.wear_threshold = 8;
		p.blocks_per_die = 40;
		p.gc_reserve_blocks = 4;
		p.capacity_bytes = 64 * PAGE;
		p.spare_blocks = 8;
		p.endurance_erases = 20;
		p.program_fail_ppb = 2000000;
		p.erase_fail_ppb = 10000000;
		CHECK_EQUAL(8, failures_until_worn_out(p));
	}
}

/* A write that comes while a page is being folded waits for it: 1 ms after the burst that is the second page */
static void a_write_waits_for_the_page_being_folded(void)
{
	struct fb_params p = sample_slc_flash();
	struct fb_medium *m;
	u64 page;

	p.slc_idle_fold = 1;
	m = medium_with(p);
	for (page = 0; page < CACHE_PAGES; page++)
		write_page(m, page);
	now_ns += 1000000;
	/* The upper page ends with the erase behind it, after FOLD_NS; the link and the command are over by then */
	CHECK_EQUAL(FOLD_NS - 1000000 + BUS_NS + 100000, write_page(m, page));
	CHECK_EQUAL(2, fb_medium_counters(m)->slc_folded_pages);
	free(m);
}

/* The same work, a page with each write: from the second page of the last block on */
static void folding_in_steps_goes_along_with_writes(void)
{
	struct fb_params p = sample_slc_flash();
	struct fb_medium *m;
	u64 page;

	p.slc_step_pages = 1;
	m = medium_with(p);
	for (page = 0; page < CACHE_PAGES - 1; page++)
		CHECK_EQUAL(WRITE_NS, write_page(m, page));
	for (; page < 31; page += 2) {
		CHECK_EQUAL(FOLD_LOWER_NS + WRITE_NS, write_page(m, page));
		CHECK_EQUAL(FOLD_UPPER_NS + ERASE_NS + WRITE_NS, write_page(m, page + 1));
	}
	CHECK_EQUAL(26, fb_medium_counters(m)->slc_folded_pages);
	CHECK(!fb_verify(m));
	free(m);
}

static void what_was_rewritten_is_not_folded(void)
{
	struct fb_medium *m = medium_with(sample_slc_flash());
	int i;

	for (i = 0; i < CACHE_PAGES; i++)
		write_page(m, 0);
	CHECK_EQUAL(ERASE_NS + WRITE_NS, write_page(m, 0));
	CHECK_EQUAL(0, fb_medium_counters(m)->slc_folded_pages);
	CHECK(!fb_verify(m));
	free(m);
}

static void reads_take_the_time_of_the_mode(void)
{
	struct fb_medium *m = medium_with(sample_slc_flash());
	u64 page;

	for (page = 0; page < CACHE_PAGES + 1; page++)
		write_page(m, page);
	CHECK_EQUAL(COMMAND_NS + 25000 + BUS_NS + LINK_NS, read_page(m, 0));	/* folded to a lower page */
	CHECK_EQUAL(COMMAND_NS + 35000 + BUS_NS + LINK_NS, read_page(m, 1));	/* to an upper page */
	CHECK_EQUAL(COMMAND_NS + 15000 + BUS_NS + LINK_NS, read_page(m, 2));
	CHECK_EQUAL(COMMAND_NS + 15000 + BUS_NS + LINK_NS, read_page(m, 3));
	free(m);
}

/* Two planes of SLC pages are programmed together, too: a request of two pages has two transfers and one program */
static void planes_join_in_slc_mode(void)
{
	struct fb_params p = sample_slc_flash();
	struct fb_medium *m;

	p.planes = 2;
	p.blocks_per_die = 48;
	p.slc_cache_bytes = 3 * 4 * PAGE;
	m = medium_with(p);
	CHECK_EQUAL(COMMAND_NS + LINK_NS + BUS_NS + BUS_NS + 100000, submit(m, FB_WRITE, 0, 2 * PAGE, 0));
	free(m);
}

/* Whatever happens, each page that was programmed was the host's, folded or collected; and the tables agree */
static void random_work_adds_up(void)
{
	u32 kind;

	for (kind = 0; kind < 8; kind++) {
		struct fb_params p = sample_slc_flash();
		struct fb_medium *m;
		const struct fb_counters *c;
		u64 seed = kind + 1, pages, i;

		p.ftl = kind & 1 ? FB_FTL_DFTL : FB_FTL_PAGE;
		p.map_cache_bytes = kind & 1 ? PAGE : 0;
		p.slc_step_pages = kind & 2 ? 3 : 0;
		p.gc_step_pages = kind & 2 ? 4 : 0;
		p.slc_idle_fold = kind >> 2;
		p.gc_idle_blocks = kind >> 2 ? 5 : 0;
		p.bits_per_cell = kind >> 2 ? 3 : 2;
		p.pages_per_block = 9;
		p.planes = 2;
		p.blocks_per_die = 60;
		p.dies = 2;
		p.slc_cache_bytes = 3 * 2 * 2 * 4 * PAGE;
		p.capacity_bytes = 600 * PAGE;
		m = medium_with(p);
		c = fb_medium_counters(m);
		pages = p.capacity_bytes / PAGE;
		for (i = 0; i < 20000; i++) {
			u64 page = next_random(&seed) % pages;
			u64 draw = next_random(&seed) >> 56;

			now_ns = submit(m, draw < 200 ? FB_WRITE : draw < 240 ? FB_READ : FB_DISCARD, page * PAGE,
					PAGE, now_ns);
			now_ns += draw & 1 ? 0 : 3000000;
			if (i % 64 == 0)
				CHECK(!fb_verify(m));
		}
		CHECK(c->slc_folded_pages > 1000);
		CHECK_EQUAL(c->host_writes, c->slc_programmed_pages);
		CHECK_EQUAL(c->host_writes + c->slc_folded_pages + c->collection_moved_pages + c->map_written_pages,
			    c->flash_programmed_pages);
		free(m);
	}
}

static void count_neighbours(void *context, const struct fb_fated *fated)
{
	*(u64 *)context += fated->neighbour;
}

/* Every page is torn, by many seeds: none takes others along */
static void torn_pages_take_no_others_along(void)
{
	u64 neighbours = 0, seed, page;

	for (seed = 0; seed < 40; seed++) {
		struct fb_params p = sample_slc_flash();
		struct fb_medium *m;

		p.paired_page_loss = 1;
		m = medium_with(p);
		for (page = 0; page <= seed % 20; page++)
			write_page(m, page);
		fb_cut(m, now_ns - 1, seed, count_neighbours, &neighbours);
		CHECK(!fb_verify(m));
		free(m);
	}
	CHECK_EQUAL(0, neighbours);
}

/* 24 first pages, and those of the open blocks: one of four pages (folded to), one of two */
static void a_restart_scans_the_open_blocks(void)
{
	struct fb_medium *m = medium_with(sample_slc_flash());
	u64 neighbours = 0, page;

	for (page = 0; page < CACHE_PAGES + 1; page++)
		write_page(m, page);
	fb_cut(m, now_ns + LONG_NS, 1, count_neighbours, &neighbours);
	fb_power_on(m);
	CHECK_EQUAL((24 + 4 + 2) * 25000, fb_medium_counters(m)->restart_ns);
	CHECK(!fb_verify(m));
	free(m);
}

static void what_makes_no_sense_is_refused(void)
{
	struct fb_params p = sample_slc_flash();

	p.bits_per_cell = 1;
	check_refused(&p, FB_PARAM_slc_cache_bytes);
	p = sample_slc_flash();
	p.slc_cache_bytes = 2 * PAGE - 1;
	check_refused(&p, FB_PARAM_slc_cache_bytes);
	p = sample_slc_flash();
	p.slc_cache_bytes = 19 * 2 * PAGE;
	check_refused(&p, FB_PARAM_slc_cache_bytes);
	p = sample_slc_flash();
	p.ftl = FB_FTL_BAST;
	p.log_blocks = 2;
	check_refused(&p, FB_PARAM_slc_cache_bytes);
	p = sample_slc_flash();
	p.bits_per_cell = 3;
	p.pages_per_block = 2;
	p.slc_cache_bytes = 6 * PAGE;
	check_refused(&p, FB_PARAM_slc_cache_bytes);
	p.slc_cache_bytes = 0;
	free(new_medium(&p));
}

const struct test slc_tests[] = {
	TEST(a_burst_is_fast_until_the_cache_is_full),
	TEST(one_shot_programs_all_pages_of_the_cells_together),
	TEST(idle_time_restores_the_cache),
	TEST(pauses_within_a_burst_fold_nothing),
	TEST(collection_keeps_out_of_a_burst),
	TEST(failures_leave_the_tables_in_agreement),
	TEST(a_write_waits_for_the_page_being_folded),
	TEST(folding_in_steps_goes_along_with_writes),
	TEST(what_was_rewritten_is_not_folded),
	TEST(reads_take_the_time_of_the_mode),
	TEST(planes_join_in_slc_mode),
	TEST(random_work_adds_up),
	TEST(torn_pages_take_no_others_along),
	TEST(a_restart_scans_the_open_blocks),
	TEST(what_makes_no_sense_is_refused),
	END_OF_TESTS,
};
