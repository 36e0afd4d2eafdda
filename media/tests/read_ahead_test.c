// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The read buffer of a flash device, by hand, with room for four pages of sample_flash() */
#include "samples.h"
#include "state.h"
#include "test.h"

enum {
	PAGE = 2048,
	COMMAND_NS = 1000,
	LINK_NS = 20480,
	DIE_NS = 25000 + 51200,		/* with the transfer from the die */
	READ_NS = COMMAND_NS + DIE_NS + LINK_NS,
	HIT_NS = COMMAND_NS + LINK_NS,
	IDLE_NS = 4 * DIE_NS,
	BEGIN_NS = 100000000,
};

static struct fb_params params_with(u64 pages)
{
	struct fb_params p = sample_flash();

	p.read_ahead_bytes = pages * PAGE;
	return p;
}

static struct fb_medium *written(const struct fb_params *p)
{
	struct fb_medium *m = new_medium(p);

	submit(m, FB_WRITE, 0, 24 * PAGE, 0);
	return m;
}

static u64 read(struct fb_medium *m, u64 page, u64 now_ns)
{
	return submit(m, FB_READ, page * PAGE, PAGE, now_ns);
}

/* Reads pages 0 and 1; returns when the second is done, and pages 2 to 5 are fetched */
static u64 begin_stream(struct fb_medium *m)
{
	u64 done_ns = read(m, 0, BEGIN_NS);

	CHECK_EQUAL(BEGIN_NS + READ_NS, done_ns);
	CHECK_EQUAL(BEGIN_NS + 2 * READ_NS, read(m, 1, done_ns));
	return BEGIN_NS + 2 * READ_NS;
}

static void reads_in_order_take_what_the_die_takes(void)
{
	struct fb_params p = params_with(4);
	struct fb_medium *m = written(&p);
	u64 begin_ns = begin_stream(m);
	u64 now_ns = begin_ns;
	u64 page;

	/* The die goes on without a pause; the command and the link lie beside it */
	for (page = 2; page < 12; page++) {
		now_ns = read(m, page, now_ns);
		CHECK_EQUAL(begin_ns + (page - 1) * DIE_NS + LINK_NS, now_ns);
	}
	CHECK_EQUAL(10, fb_medium_counters(m)->read_ahead_hits);
	/* The last request that came was for page 11; before it, 11 to 14 were asked for */
	CHECK_EQUAL(13, fb_medium_counters(m)->read_ahead_pages);
	CHECK(!fb_verify(m));
	free(m);
}

static void a_page_that_is_there_costs_command_and_link(void)
{
	struct fb_params p = params_with(4);
	struct fb_medium *m = written(&p);
	u64 now_ns = begin_stream(m) + IDLE_NS;

	CHECK_EQUAL(now_ns + HIT_NS, read(m, 2, now_ns));
	/* Four pages were there; the fifth waits for the die, which takes it up when page 2 is done */
	CHECK_EQUAL(now_ns + HIT_NS + COMMAND_NS + 3 * LINK_NS,
		    submit(m, FB_READ, 3 * PAGE, 3 * PAGE, now_ns + HIT_NS));
	CHECK_EQUAL(now_ns + HIT_NS + DIE_NS + LINK_NS, read(m, 6, now_ns + HIT_NS + COMMAND_NS + 3 * LINK_NS));
	free(m);
}

static void without_a_buffer_nothing_is_fetched(void)
{
	struct fb_params p = params_with(0);
	struct fb_medium *m = written(&p);
	u64 now_ns = begin_stream(m) + IDLE_NS;

	CHECK_EQUAL(now_ns + READ_NS, read(m, 2, now_ns));
	CHECK_EQUAL(0, fb_medium_counters(m)->read_ahead_pages);
	free(m);
}

static void another_read_waits_for_the_page_under_way(void)
{
	struct fb_params p = params_with(4);
	struct fb_medium *m = written(&p);
	u64 begin_ns = begin_stream(m);

	CHECK_EQUAL(begin_ns + 2 * DIE_NS + LINK_NS, read(m, 10, begin_ns + 100));
	CHECK_EQUAL(1, fb_medium_counters(m)->read_ahead_pages);
	/* Page 2 is there; the stream has ended, so page 3 is not */
	CHECK_EQUAL(BEGIN_NS * 2 + HIT_NS, read(m, 2, BEGIN_NS * 2));
	CHECK_EQUAL(BEGIN_NS * 3 + HIT_NS + DIE_NS, read(m, 3, BEGIN_NS * 3));
	free(m);
}

static void another_read_that_comes_at_once_waits_for_none(void)
{
	struct fb_params p = params_with(4);
	struct fb_medium *m = written(&p);
	u64 begin_ns = begin_stream(m);

	CHECK_EQUAL(begin_ns + READ_NS, read(m, 10, begin_ns));
	CHECK_EQUAL(0, fb_medium_counters(m)->read_ahead_pages);
	free(m);
}

/* The die begins with the second while the first is on the link */
static void requests_that_wait_go_first(void)
{
	struct fb_params p = params_with(4);
	struct fb_medium *m = written(&p);
	u32 page;

	for (page = 0; page < 8; page++)
		CHECK_EQUAL(BEGIN_NS + COMMAND_NS + (page + 1) * DIE_NS + LINK_NS, read(m, page, BEGIN_NS));
	CHECK_EQUAL(0, fb_medium_counters(m)->read_ahead_pages);
	free(m);
}

static void what_was_written_or_discarded_is_not_there_any_more(void)
{
	struct fb_params p = params_with(4);
	struct fb_medium *m = written(&p);
	u64 now_ns = begin_stream(m) + IDLE_NS;

	submit(m, FB_WRITE, 2 * PAGE, 512, now_ns);
	submit(m, FB_DISCARD, 3 * PAGE, PAGE, now_ns);
	CHECK_EQUAL(BEGIN_NS * 2 + HIT_NS, read(m, 3, BEGIN_NS * 2));
	CHECK_EQUAL(BEGIN_NS * 3 + READ_NS, read(m, 2, BEGIN_NS * 3));
	CHECK_EQUAL(0, fb_medium_counters(m)->read_ahead_hits);
	CHECK_EQUAL(BEGIN_NS * 4 + HIT_NS, read(m, 4, BEGIN_NS * 4));
	CHECK_EQUAL(1, fb_medium_counters(m)->read_ahead_hits);
	/* Far more pages than the buffer has */
	submit(m, FB_DISCARD, 5 * PAGE, 20 * PAGE, BEGIN_NS * 5);
	read(m, 5, BEGIN_NS * 6);
	CHECK_EQUAL(1, fb_medium_counters(m)->read_ahead_hits);
	free(m);
}

static void without_power_the_buffer_forgets(void)
{
	struct fb_params p = params_with(4);
	struct fb_medium *m = written(&p);

	submit(m, FB_FLUSH, 0, 0, begin_stream(m) + IDLE_NS);
	CHECK_EQUAL(4, fb_medium_counters(m)->read_ahead_pages);
	fb_power_on(m);
	CHECK_EQUAL(READ_NS, read(m, 2, 0));
	CHECK_EQUAL(0, fb_medium_counters(m)->read_ahead_hits);
	free(m);
}

/* 0.1 % of the bits are wrong, some eight in a codeword, of which one can be mended */
static void what_could_not_be_corrected_is_an_error_from_the_buffer_too(void)
{
	struct fb_params p = params_with(4);
	struct fb_medium *m;

	p.bit_error_ppt = 1000000000;
	p.ecc_bits = 1;
	m = written(&p);
	read(m, 2, begin_stream(m) + IDLE_NS);
	CHECK_EQUAL(1, fb_medium_counters(m)->read_ahead_hits);
	CHECK_EQUAL(FB_UNCORRECTABLE, fb_last_outcome(m));
	free(m);
}

/* Two dies on channels of their own: eight pages take four times the die's time; the last two arrive together */
static void all_dies_fetch_at_the_same_time(void)
{
	struct fb_params p = params_with(8);
	struct fb_medium *m;
	u64 begin_ns;

	p.dies = 2;
	p.channels = 2;
	m = written(&p);
	begin_ns = begin_stream(m);
	CHECK_EQUAL(begin_ns + 4 * DIE_NS + 2 * LINK_NS, submit(m, FB_READ, 2 * PAGE, 8 * PAGE, begin_ns));
	free(m);
}

static void nothing_is_fetched_beyond_the_end(void)
{
	struct fb_params p = params_with(4);
	struct fb_medium *m = new_medium(&p);

	read(m, 29, 0);
	read(m, 30, 100000);
	submit(m, FB_FLUSH, 0, 0, BEGIN_NS);
	CHECK_EQUAL(1, fb_medium_counters(m)->read_ahead_pages);
	CHECK(!fb_verify(m));
	free(m);
}

static void a_torn_buffer_is_found(void)
{
	struct fb_params p = params_with(4);
	struct fb_medium *m = written(&p);
	struct fb_fetched *entry = fb_table(m, m->flash.ahead.offset);

	submit(m, FB_FLUSH, 0, 0, begin_stream(m) + IDLE_NS);
	CHECK(!fb_verify(m));
	entry[2].page = 33;
	CHECK(fb_verify(m));
	entry[2].page = 4;
	CHECK(fb_verify(m));
	entry[2].page = 7;
	CHECK(!fb_verify(m));
	free(m);
}

const struct test read_ahead_tests[] = {
	TEST(reads_in_order_take_what_the_die_takes),
	TEST(a_page_that_is_there_costs_command_and_link),
	TEST(without_a_buffer_nothing_is_fetched),
	TEST(another_read_waits_for_the_page_under_way),
	TEST(another_read_that_comes_at_once_waits_for_none),
	TEST(requests_that_wait_go_first),
	TEST(what_was_written_or_discarded_is_not_there_any_more),
	TEST(without_power_the_buffer_forgets),
	TEST(what_could_not_be_corrected_is_an_error_from_the_buffer_too),
	TEST(all_dies_fetch_at_the_same_time),
	TEST(nothing_is_fetched_beyond_the_end),
	TEST(a_torn_buffer_is_found),
	END_OF_TESTS
};
