// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Merges of the log-block layers in steps along with writes, and logs that short writes share */
#include "log_support.h"

static struct fb_medium *fast_in_steps(u64 step_pages)
{
	struct fb_params p = log_params(FB_FTL_FAST, 3);

	p.merge_step_pages = step_pages;
	return new_log_medium(&p);
}

/*
 * As fast_shares_its_random_logs(), but the full log is emptied while the next one is filled: 12 pages are copied along
 * with four writes. Nothing is merged twice, and nothing more is copied: page 1 is merged by the write that is the last
 * to fit, and goes behind it.
 */
static void a_log_is_emptied_while_the_next_is_filled(void)
{
	struct fb_medium *m = fast_in_steps(1);

	write_pages(m, 0, 3 * GROUP);
	write_second_pages(m, 3);
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
	struct fb_medium *m = fast_in_steps(1);

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
	struct fb_medium *m = fast_in_steps(6);

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
	struct fb_params p = log_params(FB_FTL_BAST, 3);
	struct fb_medium *m;

	p.shared_logs = 2;
	p.short_write_bytes = 2 * PAGE;
	p.merge_step_pages = 1;
	m = new_log_medium(&p);
	write_pages(m, 0, 4 * GROUP);
	write_second_pages(m, 3);
	check_merges(m, 0, 0, 0);
	/* A request of two pages takes the group's own log; a short one to the same group then goes there, too */
	CHECK_EQUAL(WRITE_NS + PROGRAM_NS, idle_request(m, FB_WRITE, (GROUP + 2) * PAGE, 2 * PAGE));
	write_pages(m, GROUP + 2, GROUP + 3);
	check_merges(m, 0, 0, 0);
	/* The next one of another group has it merged, with the page that is in a shared log */
	CHECK_EQUAL(4 * (READ_NS + PROGRAM_NS) + 2 * ERASE_NS + WRITE_NS + PROGRAM_NS,
		    idle_request(m, FB_WRITE, 1 * PAGE, 2 * PAGE));
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
	struct fb_params p = log_params(FB_FTL_FAST, 2);

	p.merge_step_pages = 1;
	check_refused(&p, FB_PARAM_merge_step_pages);
	p = log_params(FB_FTL_FAST, 3);
	p.shared_logs = 1;
	check_refused(&p, FB_PARAM_shared_logs);
	p = log_params(FB_FTL_BAST, 3);
	p.short_write_bytes = 1;
	check_refused(&p, FB_PARAM_short_write_bytes);
	p.shared_logs = 3;
	check_refused(&p, FB_PARAM_shared_logs);
	/* A merge in steps needs a group of its own */
	p = log_params(FB_FTL_FAST, 3);
	p.capacity_bytes = 12 * GROUP * PAGE;
	CHECK(fb_check_params(&p, &complaint));
	p.merge_step_pages = 1;
	CHECK(!fb_check_params(&p, &complaint));
	CHECK_EQUAL(11 * GROUP * PAGE, complaint.max);
}

const struct test log_steps_tests[] = {
	TEST(a_log_is_emptied_while_the_next_is_filled),
	TEST(a_sequential_log_is_completed_along_with_writes),
	TEST(steps_may_be_larger_than_they_must),
	TEST(short_writes_share_logs),
	TEST(rules_of_shared_logs),
	END_OF_TESTS,
};
