// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Random requests leave the tables of the log-block layers sound, and a table that is not is found */
#include "ftl_log.h"
#include "log_support.h"

static void note(u8 *written, const struct fb_request *request, const struct fb_params *p, u64 group)
{
	u64 first = request->offset_bytes / p->page_bytes;
	u64 end = (request->offset_bytes + request->length_bytes) / p->page_bytes;

	if (request->op == FB_WRITE)
		memset(written + first, 1, end - first);
	if (request->op == FB_DISCARD)
		for (first = fb_div_round_up(first, group); (first + 1) * group <= end; first++)
			memset(written + first * group, 0, group);
}

/* Each written page is the newest in one flash page, and no other is in more than one */
static void check_ppns(const struct fb_medium *m, const u8 *written)
{
	u64 pages = m->params.capacity_bytes / m->params.page_bytes;
	u8 *found = calloc(1, pages + m->flash.ftl.pages_per_group);
	u32 ppns = m->params.blocks_per_die * m->params.pages_per_block;
	u64 page;
	u32 die, ppn;

	for (die = 0; die < m->params.dies; die++)
		for (ppn = 0; ppn < ppns; ppn++) {
			page = fb_log_page_at(m, die, ppn);
			if (page != FB_NO_PAGE)
				CHECK(!found[page]++);
		}
	for (page = 0; page < pages; page++)
		CHECK(!written[page] || found[page]);
	free(found);
}

static void exercise(const struct fb_params *p, u64 seed)
{
	struct fb_medium *m = new_medium(p);
	u64 pages = p->capacity_bytes / p->page_bytes;
	u64 group = p->dies * p->planes * p->blocks_per_group * p->pages_per_block;
	u8 *written = calloc(1, pages);
	u64 at_ns = 0;
	int i;

	for (i = 0; i < 3000; i++) {
		struct fb_request request = { .op = next_random(&seed) % 16 ? FB_WRITE : FB_DISCARD };
		u64 first = next_random(&seed) % pages;
		u64 max = next_random(&seed) % 2 ? 2 * group : p->short_write_bytes / PAGE + 1;
		u64 count = fb_min(1 + next_random(&seed) % max, pages - first);
		u64 page, done_ns;

		request.offset_bytes = first * p->page_bytes;
		request.length_bytes = count * p->page_bytes;
		done_ns = fb_submit(m, &request, at_ns);
		CHECK(done_ns >= at_ns && done_ns != FB_NEVER);
		note(written, &request, p, group);
		for (page = 0; page < pages; page++)
			CHECK(!written[page] || fb_log_mapped(m, page));
		CHECKF(!fb_verify(m), "step %d: %s", (int)i, fb_verify(m));
		if (i % 8 == 0)
			check_ppns(m, written);
		at_ns = done_ns;
	}
	CHECK(fb_medium_counters(m)->full_merges > 0);
	CHECK(fb_medium_counters(m)->switch_merges > 0);
	free(written);
	free(m);
}

static void random_requests_leave_groups_and_logs_sound(void)
{
	u64 ftl;

	for (ftl = FB_FTL_BAST; ftl <= FB_FTL_FAST; ftl++) {
		struct fb_params p = log_params(ftl, 2);

		exercise(&p, 1);
		p.capacity_bytes = 13 * GROUP * PAGE;	/* as full as it may be */
		exercise(&p, 2);
		p.dies = 3;
		p.channels = 2;
		p.log_blocks = 4;
		p.blocks_per_group = 2;
		p.capacity_bytes = 3 * 24 * PAGE - PAGE;
		exercise(&p, 3);
		p.planes = 2;
		p.blocks_per_die = 32;
		p.bits_per_cell = 2;
		p.capacity_bytes = 3 * 48 * PAGE;
		exercise(&p, 4);
	}
}

/* Merges in steps, among requests of all sizes, on media as full as they may be */
static void random_requests_leave_merges_in_steps_sound(void)
{
	u64 ftl, seed;

	for (ftl = FB_FTL_BAST; ftl <= FB_FTL_FAST; ftl++) {
		struct fb_params p = log_params(ftl, 4);

		p.merge_step_pages = 1;
		p.shared_logs = ftl == FB_FTL_BAST ? 2 : 0;
		p.short_write_bytes = ftl == FB_FTL_BAST ? 2 * PAGE : 0;
		p.capacity_bytes = 10 * GROUP * PAGE;
		for (seed = 1; seed <= 8; seed++) {
			p.merge_step_pages = seed;
			exercise(&p, seed);
		}
		p.dies = 2;
		p.channels = 2;
		p.planes = 2;
		p.blocks_per_group = 2;
		p.blocks_per_die = 40;
		p.capacity_bytes = 4 * 32 * PAGE - PAGE;
		p.known_groups = 2;
		exercise(&p, 9);
		p.merge_step_pages = 2;
		p.blocks_per_die = 60;
		p.factory_bad_blocks = 2;
		p.spare_blocks = 16;
		p.program_fail_ppb = 2000000;
		p.erase_fail_ppb = 2000000;
		p.endurance_erases = 400;
		exercise(&p, 10);
	}
}

enum breakage {
	A_GROUP_OF_ANOTHER, A_GROUP_TOO_FAR, A_TORN_LIST, A_LOST_GROUP, A_LOG_OF_ANOTHER, A_PLACE_OF_ANOTHER,
	A_PLACE_TOO_FAR, A_COUNT_OF_PAGES, AN_OWNER_TOO_FAR, A_MERGE_WITHOUT_STEPS, A_LOG_EMPTIED_THAT_IS_NONE,
	A_LOG_COMPLETED_THAT_IS_NONE, BREAKAGES
};

static void break_it(struct fb_medium *m, enum breakage breakage)
{
	struct fb_log_tables t = fb_log_tables(m);

	switch (breakage) {
	case A_GROUP_OF_ANOTHER:
		t.map[1] = t.map[2];
		break;
	case A_GROUP_TOO_FAR:
		t.map[1] = 4711;
		break;
	case A_TORN_LIST:
		t.groups[t.free->first].next_free = 0;
		break;
	case A_LOST_GROUP:
		t.free->first = t.groups[t.free->first].next_free;
		t.free->count--;
		break;
	case A_LOG_OF_ANOTHER:
		t.logs[0].logical_group = 3;
		break;
	case A_PLACE_OF_ANOTHER:
		t.latest[4] = t.latest[1];
		break;
	case A_PLACE_TOO_FAR:
		t.latest[4] = 4711;
		break;
	case A_COUNT_OF_PAGES:
		t.groups[0].programmed_pages--;
		break;
	case AN_OWNER_TOO_FAR:
		t.owner[0] = 4711;
		break;
	case A_MERGE_WITHOUT_STEPS:
		t.free->merging = 0;
		break;
	case A_LOG_EMPTIED_THAT_IS_NONE:
		t.free->emptying_log = 1;
		break;
	case A_LOG_COMPLETED_THAT_IS_NONE:
		t.free->closing = FB_CLOSING;
		break;
	case BREAKAGES:
		break;
	}
}

static void verify_finds_what_is_broken(void)
{
	int breakage;

	for (breakage = 0; breakage < BREAKAGES; breakage++) {
		struct fb_medium *m = log_medium(FB_FTL_BAST, 2);

		write_pages(m, 0, 5 * GROUP);
		write_pages(m, 1, 2);
		CHECK(!fb_verify(m));
		break_it(m, breakage);
		CHECK(fb_verify(m));
		free(m);
	}
}

const struct test log_sound_tests[] = {
	TEST(random_requests_leave_groups_and_logs_sound),
	TEST(random_requests_leave_merges_in_steps_sound),
	TEST(verify_finds_what_is_broken),
	END_OF_TESTS,
};
