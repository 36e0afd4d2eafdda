// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The log-block layers: what their merges cost, by hand, on groups of four pages; and what they are known for */
#include "ftl_log.h"
#include "samples.h"
#include "test.h"

enum {
	PAGE = 2048,
	GROUP = 4,		/* pages */
	WRITE_NS = 1000 + 20480 + 51200 + 200000,
	READ_NS = 25000 + 51200,
	PROGRAM_NS = 51200 + 200000,
	ERASE_NS = 1500000,
	STEP_NS = 1000000000,	/* between requests: all is idle again */
};

static u64 now_ns;

static struct fb_params params_of(u64 ftl, u64 log_blocks)
{
	struct fb_params p = sample_flash();

	p.ftl = ftl;
	p.log_blocks = log_blocks;
	p.blocks_per_group = 1;
	p.capacity_bytes = 8 * GROUP * PAGE;
	return p;
}

static struct fb_medium *medium_of(u64 ftl, u64 log_blocks)
{
	struct fb_params p = params_of(ftl, log_blocks);

	now_ns = 0;
	return new_medium(&p);
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

static void check_merges(const struct fb_medium *m, u64 switches, u64 partials, u64 fulls)
{
	const struct fb_counters *c = fb_medium_counters(m);

	CHECK_EQUAL(switches, c->switch_merges);
	CHECK_EQUAL(partials, c->partial_merges);
	CHECK_EQUAL(fulls, c->full_merges);
	CHECK(!fb_verify(m));
}

static void the_first_write_in_order_needs_no_log(void)
{
	u64 ftl;

	for (ftl = FB_FTL_BAST; ftl <= FB_FTL_FAST; ftl++) {
		struct fb_medium *m = medium_of(ftl, 2);

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
		struct fb_medium *m = medium_of(ftl, 2);

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
	struct fb_medium *m = medium_of(FB_FTL_BAST, 1);

	write_pages(m, 0, 2 * GROUP);
	write_pages(m, 0, 1);
	/* Another group wants the only log: three pages follow the first, all read before they are programmed */
	CHECK_EQUAL(3 * READ_NS + 3 * PROGRAM_NS + ERASE_NS + WRITE_NS, write_page(m, GROUP));
	check_merges(m, 0, 1, 0);
	free(m);
}

static void a_log_out_of_order_costs_a_full_merge(void)
{
	struct fb_medium *m = medium_of(FB_FTL_BAST, 1);

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
	struct fb_params p = params_of(FB_FTL_BAST, 1);
	struct fb_medium *m;

	p.copy_back = 1;
	now_ns = 0;
	m = new_medium(&p);
	write_pages(m, 0, 2 * GROUP);
	write_pages(m, 1, 2);
	CHECK_EQUAL(4 * (25000 + 200000) + 2 * ERASE_NS + WRITE_NS, write_page(m, GROUP + 1));
	CHECK(!fb_verify(m));
	free(m);

	/* In two planes page 1 is in the second; its newest is the log's first page, in the first plane */
	p.planes = 2;
	p.blocks_per_die = 32;
	p.capacity_bytes = 4 * 2 * GROUP * PAGE;
	now_ns = 0;
	m = new_medium(&p);
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
	struct fb_medium *m = medium_of(FB_FTL_BAST, 1);

	write_pages(m, 2, 3);
	CHECK_EQUAL(READ_NS + 3 * PROGRAM_NS + ERASE_NS + WRITE_NS, write_page(m, GROUP + 2));
	CHECK_EQUAL(1, fb_medium_counters(m)->collection_moved_pages);
	check_merges(m, 0, 0, 1);
	free(m);
}

static void fast_shares_its_random_logs(void)
{
	struct fb_medium *m = medium_of(FB_FTL_FAST, 2);

	write_pages(m, 0, 3 * GROUP);
	/* Four updates of three groups in one log; BAST would have merged with the third */
	write_pages(m, 1, 2);
	write_pages(m, GROUP + 1, GROUP + 2);
	write_pages(m, 2 * GROUP + 1, 2 * GROUP + 2);
	write_pages(m, 1, 2);
	check_merges(m, 0, 0, 0);
	/* The log is full: the three groups that have a page in it are merged, then the log is erased */
	CHECK_EQUAL(3 * (4 * READ_NS + 4 * PROGRAM_NS + ERASE_NS) + ERASE_NS + WRITE_NS, write_page(m, 2));
	check_merges(m, 0, 0, 3);
	free(m);
}

/*
 * As above, but the full log is emptied while the next one is filled: 12 pages are copied along with four writes.
 * Nothing is merged twice, and nothing more is copied: page 1 is merged by the write that is the last to fit, and goes
 * behind it.
 */
static void a_log_is_emptied_while_the_next_is_filled(void)
{
	struct fb_params p = params_of(FB_FTL_FAST, 3);
	struct fb_medium *m;

	p.merge_step_pages = 1;
	now_ns = 0;
	m = new_medium(&p);
	write_pages(m, 0, 3 * GROUP);
	write_pages(m, 1, 2);
	write_pages(m, GROUP + 1, GROUP + 2);
	write_pages(m, 2 * GROUP + 1, 2 * GROUP + 2);
	write_pages(m, 1, 2);
	CHECK_EQUAL(3 * (READ_NS + PROGRAM_NS) + WRITE_NS, write_page(m, 2));
	check_merges(m, 0, 0, 0);
	CHECK_EQUAL(3 * (READ_NS + PROGRAM_NS) + ERASE_NS + WRITE_NS, write_page(m, 3));
	check_merges(m, 0, 0, 1);
	CHECK_EQUAL(3 * (READ_NS + PROGRAM_NS) + ERASE_NS + WRITE_NS, write_page(m, 2));
	check_merges(m, 0, 0, 2);
	/* The last three pages of group 0, two of them from the newest log; then the emptied log is erased, too */
	CHECK_EQUAL(3 * (READ_NS + PROGRAM_NS) + 2 * ERASE_NS + WRITE_NS, write_page(m, 1));
	check_merges(m, 0, 0, 3);
	CHECK_EQUAL(12, fb_medium_counters(m)->collection_moved_pages);
	/* Only page 1 was written after it was merged: a group to merge in four writes, a page each */
	CHECK_EQUAL(READ_NS + PROGRAM_NS + WRITE_NS, write_page(m, 2));
	/* A group in the middle of its merge gets no sequential log: that would have to wait for the rest */
	CHECK_EQUAL(READ_NS + PROGRAM_NS + WRITE_NS, write_page(m, 0));
	check_merges(m, 0, 0, 3);
	free(m);
}

/* Writes that would begin another meanwhile go to a random log */
static void a_sequential_log_is_completed_along_with_writes(void)
{
	struct fb_params p = params_of(FB_FTL_FAST, 3);
	struct fb_medium *m;

	p.merge_step_pages = 1;
	now_ns = 0;
	m = new_medium(&p);
	write_pages(m, 0, 2 * GROUP);
	write_pages(m, 0, 1);
	CHECK_EQUAL(READ_NS + PROGRAM_NS + WRITE_NS, write_page(m, GROUP));
	CHECK_EQUAL(READ_NS + PROGRAM_NS + WRITE_NS, write_page(m, GROUP + 1));
	check_merges(m, 0, 0, 0);
	/* The host goes on in order, too: the page that is next needs no copy, and the log is full */
	write_pages(m, 3, 4);
	CHECK_EQUAL(ERASE_NS + WRITE_NS, write_page(m, GROUP + 2));
	check_merges(m, 0, 1, 0);
	CHECK_EQUAL(2, fb_medium_counters(m)->collection_moved_pages);
	write_pages(m, GROUP, GROUP + 2);
	/* What is newer in a random log stays there */
	CHECK_EQUAL(READ_NS + PROGRAM_NS + WRITE_NS, write_page(m, 0));
	check_merges(m, 0, 1, 0);
	free(m);
}

/* At least merge_step_pages, so that it is done sooner */
static void steps_may_be_larger_than_they_must(void)
{
	struct fb_params p = params_of(FB_FTL_FAST, 3);
	struct fb_medium *m;

	p.merge_step_pages = 6;
	now_ns = 0;
	m = new_medium(&p);
	write_pages(m, 0, 3 * GROUP);
	write_pages(m, 1, 4);
	write_pages(m, GROUP + 1, GROUP + 2);
	CHECK_EQUAL(6 * (READ_NS + PROGRAM_NS) + ERASE_NS + WRITE_NS, write_page(m, 2 * GROUP + 1));
	CHECK_EQUAL(2 * (READ_NS + PROGRAM_NS) + 2 * ERASE_NS + WRITE_NS, write_page(m, 2 * GROUP + 1));
	write_pages(m, 2 * GROUP + 1, 2 * GROUP + 3);
	check_merges(m, 0, 0, 2);
	/* A group that is discarded while it is merged */
	CHECK_EQUAL(4 * (READ_NS + PROGRAM_NS) + 2 * ERASE_NS + WRITE_NS, write_page(m, 1));
	free(m);
}

/* One log of a group's own, and two for short writes of any group */
static void short_writes_share_logs(void)
{
	struct fb_params p = params_of(FB_FTL_BAST, 3);
	struct fb_medium *m;

	p.shared_logs = 2;
	p.short_write_bytes = 2 * PAGE;
	p.merge_step_pages = 1;
	now_ns = 0;
	m = new_medium(&p);
	write_pages(m, 0, 4 * GROUP);
	write_pages(m, 1, 2);
	write_pages(m, GROUP + 1, GROUP + 2);
	write_pages(m, 2 * GROUP + 1, 2 * GROUP + 2);
	check_merges(m, 0, 0, 0);
	/* A request of two pages takes the group's own log; a short one to the same group then goes there, too */
	now_ns += STEP_NS;
	CHECK_EQUAL(now_ns + WRITE_NS + PROGRAM_NS, submit(m, FB_WRITE, (GROUP + 2) * PAGE, 2 * PAGE, now_ns));
	write_pages(m, GROUP + 2, GROUP + 3);
	check_merges(m, 0, 0, 0);
	/* The next one of another group has it merged, with the page that is in a shared log */
	now_ns += STEP_NS;
	CHECK_EQUAL(now_ns + 4 * (READ_NS + PROGRAM_NS) + 2 * ERASE_NS + WRITE_NS + PROGRAM_NS,
		    submit(m, FB_WRITE, 1 * PAGE, 2 * PAGE, now_ns));
	check_merges(m, 0, 0, 1);
	/* The shared log is full, with one page of group 2 that is still valid, and the one just written */
	write_pages(m, 3 * GROUP + 1, 3 * GROUP + 2);
	CHECK_EQUAL(2 * (READ_NS + PROGRAM_NS) + WRITE_NS, write_page(m, 3 * GROUP + 2));
	CHECK(!fb_verify(m));
	free(m);
}

static void rules_of_shared_logs(void)
{
	struct fb_complaint complaint;
	struct fb_params p = params_of(FB_FTL_FAST, 2);

	p.merge_step_pages = 1;
	CHECK(!fb_check_params(&p, &complaint));
	CHECK_EQUAL(FB_PARAM_merge_step_pages, complaint.param);
	p = params_of(FB_FTL_FAST, 3);
	p.shared_logs = 1;
	CHECK(!fb_check_params(&p, &complaint));
	CHECK_EQUAL(FB_PARAM_shared_logs, complaint.param);
	p = params_of(FB_FTL_BAST, 3);
	p.short_write_bytes = 1;
	CHECK(!fb_check_params(&p, &complaint));
	CHECK_EQUAL(FB_PARAM_short_write_bytes, complaint.param);
	p.shared_logs = 3;
	CHECK(!fb_check_params(&p, &complaint));
	CHECK_EQUAL(FB_PARAM_shared_logs, complaint.param);
	/* A merge in steps needs a group of its own */
	p = params_of(FB_FTL_FAST, 3);
	p.capacity_bytes = 12 * GROUP * PAGE;
	CHECK(fb_check_params(&p, &complaint));
	p.merge_step_pages = 1;
	CHECK(!fb_check_params(&p, &complaint));
	CHECK_EQUAL(11 * GROUP * PAGE, complaint.max);
}

static void fast_fills_up_a_sequential_log(void)
{
	struct fb_medium *m = medium_of(FB_FTL_FAST, 2);

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
	struct fb_medium *m = medium_of(FB_FTL_BAST, 2);

	write_pages(m, 0, 3 * GROUP);
	write_pages(m, GROUP + 1, GROUP + 2);
	now_ns += STEP_NS;
	CHECK_EQUAL(now_ns + 1000, submit(m, FB_DISCARD, PAGE, (3 * GROUP - 2) * PAGE, now_ns));
	CHECK_EQUAL(2, fb_medium_counters(m)->flash_erased_blocks);
	now_ns += STEP_NS;
	CHECK_EQUAL(now_ns + 1000 + 20480, submit(m, FB_READ, GROUP * PAGE, PAGE, now_ns));
	CHECK_EQUAL(0, fb_medium_counters(m)->flash_read_pages);
	submit(m, FB_READ, PAGE, PAGE, now_ns);
	submit(m, FB_READ, (3 * GROUP - 2) * PAGE, PAGE, now_ns);
	CHECK_EQUAL(2, fb_medium_counters(m)->flash_read_pages);
	CHECK(!fb_verify(m));
	free(m);
}

/* A group over two dies is copied by both at the same time */
static void dies_merge_side_by_side(void)
{
	struct fb_params p = params_of(FB_FTL_BAST, 1);
	struct fb_medium *m;

	p.dies = 2;
	p.channels = 2;
	m = new_medium(&p);
	now_ns = 0;
	write_pages(m, 0, 16);
	write_pages(m, 2, 3);
	CHECK_EQUAL(4 * READ_NS + 4 * PROGRAM_NS + ERASE_NS, write_page(m, 10) - WRITE_NS - ERASE_NS);
	CHECK_EQUAL(3, fb_medium_counters(m)->flash_erased_blocks);
	check_merges(m, 0, 0, 1);
	free(m);
}

static void note(u8 *written, const struct fb_request *request, const struct fb_params *p, u64 group)
{
	u64 first = request->offset_bytes / p->page_bytes;
	u64 end = (request->offset_bytes + request->length_bytes) / p->page_bytes;

	if (request->op == FB_WRITE)
		memset(written + first, 1, end - first);
	if (request->op == FB_DISCARD)
		for (first = fb_divide_up(first, group); (first + 1) * group <= end; first++)
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
		u64 most = next_random(&seed) % 2 ? 2 * group : p->short_write_bytes / PAGE + 1;
		u64 count = fb_smaller(1 + next_random(&seed) % most, pages - first);
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
		struct fb_params p = params_of(ftl, 2);

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
		struct fb_params p = params_of(ftl, 4);

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

/* Flash pages programmed for each that the host writes, at random places in so many groups */
static double amplification(u64 ftl, u64 logs, u64 working_groups)
{
	struct fb_params p = params_of(ftl, logs);
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

/* Each breaks one thing in the tables of a sound medium */
/* --- what the controller knows --- */

static u64 read_ns(struct fb_medium *m, u64 offset_bytes, u64 length_bytes)
{
	now_ns += STEP_NS;
	return submit(m, FB_READ, offset_bytes, length_bytes, now_ns) - now_ns;
}

static struct fb_medium *medium_that_knows(u64 ftl, u64 groups)
{
	struct fb_params p = params_of(ftl, 2);

	p.known_groups = groups;
	now_ns = 0;
	return new_medium(&p);
}

static void a_group_that_was_not_used_lately_is_looked_up(void)
{
	const u64 known_ns = 1000 + READ_NS + 20480, look_up_ns = 25000;
	u64 ftl;

	for (ftl = FB_FTL_BAST; ftl <= FB_FTL_FAST; ftl++) {
		struct fb_medium *m = medium_that_knows(ftl, 2);

		/* What is written is known: groups 2 and 3 are left */
		write_pages(m, 0, 4 * GROUP);
		CHECK_EQUAL(known_ns, read_ns(m, 2 * GROUP * PAGE, PAGE));
		CHECK_EQUAL(known_ns, read_ns(m, 3 * GROUP * PAGE, PAGE));
		CHECK_EQUAL(0, fb_medium_counters(m)->map_read_pages);
		/* Group 0 takes the place of 2, which was not used for longer than 3 */
		CHECK_EQUAL(known_ns + look_up_ns, read_ns(m, 0, PAGE));
		CHECK_EQUAL(known_ns, read_ns(m, 3 * GROUP * PAGE, PAGE));
		CHECK_EQUAL(known_ns + look_up_ns, read_ns(m, 2 * GROUP * PAGE, PAGE));
		CHECK_EQUAL(2, fb_medium_counters(m)->map_read_pages);
		/* There is nothing to look up where nothing was written */
		CHECK_EQUAL(1000 + 20480, read_ns(m, 6 * GROUP * PAGE, PAGE));
		/* Without power nothing is known */
		CHECK_EQUAL(known_ns, read_ns(m, 2 * GROUP * PAGE, PAGE));
		fb_power_on(m);
		CHECK_EQUAL(known_ns + look_up_ns, read_ns(m, 2 * GROUP * PAGE, PAGE));
		CHECK(!fb_verify(m));
		free(m);
	}
}

/* A log of the group's own is looked up too; one that groups share is known */
static void the_log_of_a_group_is_looked_up_with_it(void)
{
	u64 ftl;

	for (ftl = FB_FTL_BAST; ftl <= FB_FTL_FAST; ftl++) {
		struct fb_medium *m = medium_that_knows(ftl, 1);

		write_pages(m, 0, 2 * GROUP);
		/* Page 1 goes to a log: where, is looked up when it has come */
		CHECK_EQUAL(WRITE_NS + 25000, write_page(m, 1));
		CHECK_EQUAL(1000 + READ_NS + 20480 + 25000, read_ns(m, GROUP * PAGE, PAGE));
		CHECK_EQUAL(1000 + READ_NS + 20480 + (ftl == FB_FTL_BAST ? 2 : 1) * 25000, read_ns(m, PAGE, PAGE));
		CHECK(!fb_verify(m));
		free(m);
	}
}

enum { BENCH_GROUP = 64 * PAGE, BENCH_GROUPS = 64, POSITIONS = 7, TRIES = 3 };

/* For each position the shortest of all tries */
struct alignment {
	u64 before_ns[POSITIONS];
	u64 on_ns[POSITIONS];
	u64 after_ns[POSITIONS];
};

static void read_interval(struct fb_medium *m, u64 *least_ns, u64 first, u64 every, u64 bytes)
{
	u32 i;

	for (i = 0; i < POSITIONS; i++) {
		u64 ns = read_ns(m, first + i * every, bytes);

		if (!least_ns[i] || ns < least_ns[i])
			least_ns[i] = ns;
	}
}

/* The access pattern of "flashbench -a": what a read across such a boundary takes longer than those beside it */
static u64 alignment_ns(struct fb_medium *m, u64 align, u64 every, u64 bytes)
{
	struct alignment a = { { 0 }, { 0 }, { 0 } };
	u64 on_ns = 0, beside_ns = 0;
	u32 i;

	for (i = 0; i < TRIES; i++) {
		read_interval(m, a.before_ns, align - bytes, every, bytes);
		read_interval(m, a.on_ns, align - bytes / 2, every, bytes);
		read_interval(m, a.after_ns, align, every, bytes);
	}
	for (i = 0; i < POSITIONS; i++) {
		on_ns += a.on_ns[i];
		beside_ns += a.before_ns[i] + a.after_ns[i];
	}
	CHECK(2 * on_ns >= beside_ns);
	return (2 * on_ns - beside_ns) / (2 * POSITIONS);
}

static struct fb_medium *written_medium(u64 ftl, u64 known_groups)
{
	struct fb_params p = params_of(ftl, 2);
	struct fb_medium *m;

	p.blocks_per_group = BENCH_GROUP / PAGE / p.pages_per_block;
	p.blocks_per_die = (BENCH_GROUPS + 3) * p.blocks_per_group;
	p.capacity_bytes = BENCH_GROUPS * BENCH_GROUP;
	p.known_groups = known_groups;
	now_ns = 0;
	m = new_medium(&p);
	now_ns = submit(m, FB_WRITE, 0, p.capacity_bytes, 0);
	return m;
}

/* Blocks of two pages and more: of a smaller one, half a page is read on each side of any boundary of pages */
static void reads_across_two_groups_tell_how_large_groups_are(void)
{
	const u64 every = BENCH_GROUPS * BENCH_GROUP / 8;
	u64 ftl, bytes, align;

	for (ftl = FB_FTL_BAST; ftl <= FB_FTL_FAST; ftl++) {
		struct fb_medium *few = written_medium(ftl, 4);
		struct fb_medium *all = written_medium(ftl, 0);

		for (bytes = 2 * PAGE; bytes <= 16 * PAGE; bytes *= 2) {
			for (align = every / 2; align >= 2 * bytes; align /= 2) {
				CHECK_EQUAL(align >= BENCH_GROUP ? 25000 : 0, alignment_ns(few, align, every, bytes));
				CHECK_EQUAL(0, alignment_ns(all, align, every, bytes));
			}
		}
		CHECK(!fb_verify(few));
		free(few);
		free(all);
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
		struct fb_medium *m = medium_of(FB_FTL_BAST, 2);

		write_pages(m, 0, 5 * GROUP);
		write_pages(m, 1, 2);
		CHECK(!fb_verify(m));
		break_it(m, breakage);
		CHECK(fb_verify(m));
		free(m);
	}
}

const struct test log_tests[] = {
	TEST(the_first_write_in_order_needs_no_log),
	TEST(a_log_in_order_is_switched_in),
	TEST(the_rest_of_a_group_is_copied_behind_a_log_in_order),
	TEST(a_log_out_of_order_costs_a_full_merge),
	TEST(copying_back_spares_the_channel),
	TEST(a_merge_pads_what_was_never_written),
	TEST(fast_shares_its_random_logs),
	TEST(a_log_is_emptied_while_the_next_is_filled),
	TEST(a_sequential_log_is_completed_along_with_writes),
	TEST(steps_may_be_larger_than_they_must),
	TEST(short_writes_share_logs),
	TEST(rules_of_shared_logs),
	TEST(fast_fills_up_a_sequential_log),
	TEST(a_whole_group_can_be_discarded),
	TEST(dies_merge_side_by_side),
	TEST(random_requests_leave_groups_and_logs_sound),
	TEST(random_requests_leave_merges_in_steps_sound),
	TEST(random_writes_collapse_beyond_the_logs),
	TEST(a_group_that_was_not_used_lately_is_looked_up),
	TEST(the_log_of_a_group_is_looked_up_with_it),
	TEST(reads_across_two_groups_tell_how_large_groups_are),
	TEST(verify_finds_what_is_broken),
	END_OF_TESTS,
};
