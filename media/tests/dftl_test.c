// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The map on flash: what a lookup costs, by hand, on pages of 2 KiB with 512 entries of the map each */
#include "ftl_page.h"
#include "samples.h"
#include "test.h"

enum {
	PAGE = 2048,
	ENTRIES = 512,
	COMMAND_NS = 1000,
	LINK_NS = 20480,
	READ_NS = 25000 + 51200,
	PROGRAM_NS = 51200 + 200000,
	STEP_NS = 1000000000,
};

static u64 now_ns;

static struct fb_params params_of(u64 ftl, u64 cached_pages)
{
	struct fb_params p = sample_flash();

	p.ftl = ftl;
	p.map_cache_bytes = cached_pages * PAGE;
	p.blocks_per_die = 160;
	p.pages_per_block = 16;
	p.gc_reserve_blocks = 4;
	p.capacity_bytes = 4 * ENTRIES * PAGE;
	return p;
}

static struct fb_medium *medium_of(u64 ftl, u64 cached_pages)
{
	struct fb_params p = params_of(ftl, cached_pages);

	now_ns = 0;
	return new_medium(&p);
}

static u64 ask(struct fb_medium *m, enum fb_op op, u64 page)
{
	now_ns += STEP_NS;
	return submit(m, op, page * PAGE, PAGE, now_ns) - now_ns;
}

static void a_lookup_that_misses_reads_the_map(void)
{
	struct fb_medium *m = medium_of(FB_FTL_DFTL, 1);

	/* The first page of the map is new: nothing to read */
	CHECK_EQUAL(COMMAND_NS + LINK_NS + PROGRAM_NS, ask(m, FB_WRITE, 0));
	CHECK_EQUAL(COMMAND_NS + LINK_NS + PROGRAM_NS, ask(m, FB_WRITE, 1));
	/* So is the second; the first was changed and is written when it is evicted */
	CHECK_EQUAL(COMMAND_NS + LINK_NS + 2 * PROGRAM_NS, ask(m, FB_WRITE, ENTRIES));
	/* The first is read; the second is written; then the data are read */
	CHECK_EQUAL(COMMAND_NS + READ_NS + PROGRAM_NS + READ_NS + LINK_NS, ask(m, FB_READ, 0));
	CHECK_EQUAL(COMMAND_NS + READ_NS + LINK_NS, ask(m, FB_READ, 1));
	/* Nothing was changed: nothing is written */
	CHECK_EQUAL(COMMAND_NS + 2 * READ_NS + LINK_NS, ask(m, FB_READ, ENTRIES));
	CHECK_EQUAL(2, fb_medium_counters(m)->map_hits);
	CHECK_EQUAL(2, fb_medium_counters(m)->map_read_pages);
	CHECK_EQUAL(2, fb_medium_counters(m)->map_written_pages);
	CHECK(!fb_verify(m));
	free(m);
}

/* Two changed entries are kept by themselves; the third makes the page of the map that comes next in turn be written */
static void changes_are_written_together(void)
{
	struct fb_params p = params_of(FB_FTL_DFTL, 1);
	struct fb_medium *m;

	p.map_update_bytes = 2 * 8;
	now_ns = 0;
	m = new_medium(&p);
	CHECK_EQUAL(COMMAND_NS + LINK_NS + PROGRAM_NS, ask(m, FB_WRITE, 0));
	CHECK_EQUAL(COMMAND_NS + LINK_NS + PROGRAM_NS, ask(m, FB_WRITE, 1));
	CHECK_EQUAL(COMMAND_NS + LINK_NS + 2 * PROGRAM_NS, ask(m, FB_WRITE, ENTRIES));
	/* The first page of the map is on flash now; the entry of the second is kept: nothing to look up */
	CHECK_EQUAL(COMMAND_NS + 2 * READ_NS + LINK_NS, ask(m, FB_READ, 0));
	CHECK_EQUAL(COMMAND_NS + READ_NS + LINK_NS, ask(m, FB_READ, ENTRIES));
	CHECK_EQUAL(COMMAND_NS + LINK_NS + PROGRAM_NS, ask(m, FB_WRITE, ENTRIES + 1));
	/*
	 * A write looks nothing up: the first is still in the cache; the second, which was never written, takes both
	 * changes
	 */
	CHECK_EQUAL(COMMAND_NS + LINK_NS + 2 * PROGRAM_NS, ask(m, FB_WRITE, 2));
	CHECK_EQUAL(COMMAND_NS + LINK_NS + PROGRAM_NS, ask(m, FB_WRITE, 0));
	CHECK_EQUAL(COMMAND_NS + LINK_NS + PROGRAM_NS, ask(m, FB_WRITE, 2));
	/* It is the first one's turn again, with three changes, and it is in the cache */
	CHECK_EQUAL(COMMAND_NS + LINK_NS + 2 * PROGRAM_NS, ask(m, FB_WRITE, 1));
	CHECK_EQUAL(3, fb_medium_counters(m)->map_written_pages);
	CHECK_EQUAL(1, fb_medium_counters(m)->map_read_pages);
	/* The second makes the first leave the cache; a write to it reads nothing, until its changes are written */
	CHECK_EQUAL(COMMAND_NS + 2 * READ_NS + LINK_NS, ask(m, FB_READ, ENTRIES));
	CHECK_EQUAL(COMMAND_NS + LINK_NS + PROGRAM_NS, ask(m, FB_WRITE, 3));
	CHECK_EQUAL(COMMAND_NS + LINK_NS + PROGRAM_NS, ask(m, FB_WRITE, 4));
	CHECK_EQUAL(2, fb_medium_counters(m)->map_read_pages);
	CHECK_EQUAL(COMMAND_NS + LINK_NS + READ_NS + 2 * PROGRAM_NS, ask(m, FB_WRITE, 5));
	CHECK_EQUAL(3, fb_medium_counters(m)->map_read_pages);
	CHECK(!fb_verify(m));
	free(m);
}

/* Collection changes entries all over the map; kept by themselves they cost a part of what cached pages do */
static void kept_changes_cost_fewer_programs(void)
{
	u64 programs[2];
	u64 kept, i;

	for (kept = 0; kept < 2; kept++) {
		struct fb_params p = params_of(FB_FTL_DFTL, 1);
		struct fb_medium *m;
		u64 seed = 2;

		p.gc_policy = FB_GC_COST_BENEFIT;
		p.map_update_bytes = kept * 256 * 8;
		m = new_medium(&p);
		for (i = 0; i < 40000; i++)
			submit(m, FB_WRITE, next_random(&seed) % (4 * ENTRIES) * PAGE, PAGE, 0);
		programs[kept] = fb_medium_counters(m)->map_written_pages;
		/* 256 changes of four pages: a page has 128 of them when its turn comes, were all of them different */
		if (kept)
			CHECK(programs[kept] < (40000 + fb_medium_counters(m)->collection_moved_pages) / 64);
		CHECK(!fb_verify(m));
		free(m);
	}
	printf("  pages of the map written: %" PRIu64 " with cached pages, %" PRIu64 " with kept changes\n",
	       programs[0], programs[1]);
	CHECK(programs[1] * 20 < programs[0]);
}

/* A controller that can hold the whole map is a page-mapped one, to the nanosecond */
static void with_the_whole_map_cached_it_is_page_mapped(void)
{
	struct fb_medium *dftl = medium_of(FB_FTL_DFTL, 4);
	struct fb_medium *page = medium_of(FB_FTL_PAGE, 0);
	u64 seed = 2, at_ns = 0;
	int i;

	for (i = 0; i < 30000; i++) {
		enum fb_op op = next_random(&seed) % 3 ? FB_WRITE : FB_READ;
		u64 offset_bytes = next_random(&seed) % (4 * ENTRIES) * PAGE;

		CHECK_EQUAL(submit(page, op, offset_bytes, PAGE, at_ns), submit(dftl, op, offset_bytes, PAGE, at_ns));
		at_ns += next_random(&seed) % 1000000;
	}
	CHECK(fb_medium_counters(page)->collections > 100);
	CHECK_EQUAL(0, fb_medium_counters(dftl)->map_written_pages);
	free(dftl);
	free(page);
}

static void a_smaller_cache_costs_more_programs(void)
{
	double before = 0;
	u64 cached, i;

	for (cached = 4; cached; cached--) {
		struct fb_medium *m = medium_of(FB_FTL_DFTL, cached);
		u64 seed = 2;
		double programs;

		for (i = 0; i < 40000; i++)
			submit(m, FB_WRITE, next_random(&seed) % (4 * ENTRIES) * PAGE, PAGE, 0);
		programs = (double)fb_medium_counters(m)->flash_programmed_pages / fb_medium_counters(m)->host_writes;
		printf("  %d of 4 pages of the map cached: %.2f programs a random write\n", (int)cached, programs);
		CHECK(programs > before);
		CHECK(!fb_verify(m));
		before = programs;
		free(m);
	}
}

static void exercise(const struct fb_params *p, u64 seed)
{
	struct fb_medium *m = new_medium(p);
	u64 pages = p->capacity_bytes / PAGE;
	u8 *written = calloc(1, pages);
	u64 at_ns = 0, i, page;

	for (i = 0; i < 8000; i++) {
		struct fb_request request = { .op = next_random(&seed) % 8 ? FB_WRITE : FB_DISCARD };
		u64 first = next_random(&seed) % pages;
		u64 count = fb_min(1 + next_random(&seed) % 40, pages - first);

		request.offset_bytes = first * PAGE;
		request.length_bytes = count * PAGE;
		at_ns = fb_submit(m, &request, at_ns) + next_random(&seed) % 3 * 5000000;
		memset(written + first, request.op == FB_WRITE, count);
		submit(m, FB_READ, next_random(&seed) % pages * PAGE, PAGE, at_ns);
		if (i % 100)
			continue;
		CHECKF(!fb_verify(m), "step %d: %s", (int)i, fb_verify(m));
		for (page = 0; page < pages; page++)
			CHECK_EQUAL(written[page], fb_page_mapped(m, page));
	}
	CHECK(fb_medium_counters(m)->collections > 0 && fb_medium_counters(m)->map_written_pages > 0);
	free(written);
	free(m);
}

static void random_requests_leave_map_and_cache_sound(void)
{
	struct fb_params p = params_of(FB_FTL_DFTL, 1);

	exercise(&p, 1);
	p.gc_step_pages = 3;
	p.gc_idle_blocks = 8;
	exercise(&p, 2);
	p.dies = 2;
	p.planes = 2;
	p.cache_operations = 1;
	p.wear_threshold = 5;
	p.write_buffer_bytes = 8 * PAGE;
	p.capacity_bytes = 8 * ENTRIES * PAGE;
	p.map_cache_bytes = 3 * PAGE;
	exercise(&p, 3);
	p.gc_policy = FB_GC_COST_BENEFIT;
	p.gc_step_pages = 0;
	exercise(&p, 4);
	p.map_update_bytes = 50 * 8;
	exercise(&p, 5);
	p.gc_step_pages = 3;
	p.gc_policy = FB_GC_GREEDY;
	exercise(&p, 6);
}

static void the_map_needs_room_on_flash(void)
{
	struct fb_params p = params_of(FB_FTL_DFTL, 1);
	struct fb_complaint complaint;

	/* 160 blocks - 4 in reserve - 3 open, less 5 pages of the map */
	p.capacity_bytes = (153 * 16 - 5) * PAGE;
	CHECK(fb_check_params(&p, &complaint));
	p.capacity_bytes += PAGE;
	CHECK(!fb_check_params(&p, &complaint));
	CHECK_EQUAL(FB_PARAM_capacity_bytes, complaint.param);
	CHECK_EQUAL((153 * 16 - 5) * PAGE, complaint.max);
}

const struct test dftl_tests[] = {
	TEST(a_lookup_that_misses_reads_the_map),
	TEST(changes_are_written_together),
	TEST(kept_changes_cost_fewer_programs),
	TEST(with_the_whole_map_cached_it_is_page_mapped),
	TEST(a_smaller_cache_costs_more_programs),
	TEST(random_requests_leave_map_and_cache_sound),
	TEST(the_map_needs_room_on_flash),
	END_OF_TESTS,
};
