// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Erases and programs that are suspended for reads, each time by hand: tR 25 us, tPROG 220 us, tBERS 1.5 ms, 51,200 ns
 * of channel a page; 20 us to suspend, 5 us to resume.
 */
#include "fb_power.h"
#include "samples.h"
#include "state.h"
#include "test.h"

#define LATER_NS 1000000000ull

static struct fb_params slc(void)
{
	struct fb_params p = sample_flash();

	p.command_ns = 0;
	p.link_ps_per_byte = 0;
	p.program_ns = 220000;
	p.cache_operations = 1;
	p.suspend_ns = 20000;
	p.resume_ns = 5000;
	return p;
}

static u64 read(struct fb_medium *m, u64 at_ns)
{
	return fb_nand_read(m, 0, 0, at_ns, 2048);
}

static void an_erase_makes_way(void)
{
	struct fb_params p = slc();
	struct fb_medium *m = new_medium(&p);

	CHECK_EQUAL(1500000, fb_nand_erase(m, 0, 3, 0));
	/* Sensed at 145,000; then 1.4 ms of the erase are left */
	CHECK_EQUAL(100000 + 20000 + 25000 + 51200, read(m, 100000));
	CHECK_EQUAL(145000 + 5000 + 1400000, fb_nand_free_ns(m, 0));
	/* Before it goes on: no need to suspend again; the page waits in the array for the register, until 196,200 */
	CHECK_EQUAL(196200 + 51200, read(m, 146000));
	CHECK_EQUAL(196200 + 5000 + 1400000, fb_nand_free_ns(m, 0));
	CHECK_EQUAL(1, fb_medium_counters(m)->flash_suspends);
	/* 11,200 ns before its end: it is not worth it */
	CHECK_EQUAL(1601200 + 25000 + 51200, read(m, 1590000));
	CHECK_EQUAL(1, fb_medium_counters(m)->flash_suspends);
	/* Only what was issued last is suspended */
	fb_nand_erase(m, 0, 3, LATER_NS);
	fb_nand_erase(m, 0, 4, LATER_NS);
	CHECK_EQUAL(LATER_NS + 1500000 + 25000 + 51200, read(m, LATER_NS));
	CHECK_EQUAL(LATER_NS + 1525000 + 1500000, fb_nand_free_ns(m, 0));
	CHECK(!fb_nand_verify(m));
	free(m);
}

static void without_the_parameter_nothing_makes_way(void)
{
	struct fb_params p = slc();
	struct fb_medium *m;

	p.suspend_ns = 0;
	m = new_medium(&p);
	fb_nand_erase(m, 0, 3, 0);
	CHECK_EQUAL(1500000 + 25000 + 51200, read(m, 100000));
	free(m);
}

static void a_program_of_collection_makes_way(void)
{
	struct fb_params p = slc();
	struct fb_medium *m = new_medium(&p);

	CHECK_EQUAL(51200 + 220000, fb_nand_program(m, 0, 0, FB_NO_PAGE, 0));
	CHECK_EQUAL(145000 + 51200, read(m, 100000));
	CHECK_EQUAL(145000 + 5000 + 171200, fb_nand_free_ns(m, 0));
	/* One that still loads its page does not */
	CHECK_EQUAL(LATER_NS + 271200, fb_nand_program(m, 0, 1, FB_NO_PAGE, LATER_NS));
	CHECK_EQUAL(LATER_NS + 271200 + 25000 + 51200, read(m, LATER_NS + 10000));
	free(m);
}

/* Page 4 is written first, so that there is one to read; then page 0 at LATER_NS */
static struct fb_medium *writing(const struct fb_params *p, bool fua)
{
	struct fb_medium *m = new_medium(p);
	struct fb_request request = { .op = FB_WRITE, .length_bytes = 2048, .fua = fua };

	submit(m, FB_WRITE, 4 * 2048, 2048, 0);
	fb_submit(m, &request, LATER_NS);
	return m;
}

static u64 read_4(struct fb_medium *m, u64 at_ns)
{
	return submit(m, FB_READ, 4 * 2048, 2048, LATER_NS + at_ns) - LATER_NS;
}

static void a_write_that_was_told_does_not_make_way(void)
{
	struct fb_params p = slc();
	struct fb_medium *m = writing(&p, false);

	CHECK_EQUAL(271200 + 25000 + 51200, read_4(m, 100000));
	free(m);
	p.write_buffer_bytes = 16 * 2048;
	m = writing(&p, true);
	CHECK_EQUAL(271200 + 25000 + 51200, read_4(m, 100000));
	free(m);
}

static void a_buffered_write_makes_way_until_it_is_flushed(void)
{
	struct fb_params p = slc();
	struct fb_medium *m;

	p.write_buffer_bytes = 16 * 2048;
	m = writing(&p, false);
	CHECK_EQUAL(145000 + 51200, read_4(m, 100000));
	CHECK_EQUAL(LATER_NS + 145000 + 5000 + 171200, submit(m, FB_FLUSH, 0, 0, LATER_NS + 160000));
	CHECK_EQUAL(321200 + 25000 + 51200, read_4(m, 170000));
	CHECK(!fb_verify(m));
	free(m);
}

static void count_torn(void *context, const struct fb_fated *fated)
{
	u64 *torn = context;

	*torn += fated->torn && fated->offset_bytes < 2048;
}

/* A cut finds what was suspended unfinished until its new end */
static void a_cut_knows_of_the_suspension(void)
{
	struct fb_params p = slc();
	struct fb_medium *m;
	u64 torn = 0;

	p.write_buffer_bytes = 16 * 2048;
	m = writing(&p, false);
	read_4(m, 100000);
	fb_cut(m, LATER_NS + 321199, 1, count_torn, &torn);
	CHECK(torn);
	free(m);
	torn = 0;
	m = writing(&p, false);
	read_4(m, 100000);
	fb_cut(m, LATER_NS + 321200, 1, count_torn, &torn);
	CHECK(!torn);
	free(m);

	m = new_medium(&p);
	fb_nand_erase(m, 0, 3, 0);
	read(m, 100000);
	fb_cut(m, 1549999, 1, count_torn, &torn);
	CHECK_EQUAL(1, fb_half_erased_blocks(m));
	free(m);
	m = new_medium(&p);
	fb_nand_erase(m, 0, 3, 0);
	read(m, 100000);
	fb_cut(m, 1550000, 1, count_torn, &torn);
	CHECK_EQUAL(0, fb_half_erased_blocks(m));
	free(m);
}

/* Pages of both planes in one read: the erase is suspended once, and waits for both */
static void a_read_of_planes_suspends_once(void)
{
	struct fb_params p = slc();
	struct fb_medium *m;

	p.planes = 2;
	m = new_medium(&p);
	fb_nand_erase(m, 0, 3, 0);
	fb_nand_begin_batch(m);
	CHECK_EQUAL(145000 + 51200, fb_nand_read(m, 0, 0, 100000, 2048));
	CHECK_EQUAL(145000 + 2 * 51200, fb_nand_read(m, 0, 1, 100000, 2048));
	/* The second plane's page leaves the array for the register when the first is out */
	CHECK_EQUAL(196200 + 5000 + 1400000, fb_nand_free_ns(m, 0));
	CHECK_EQUAL(1, fb_medium_counters(m)->flash_suspends);
	free(m);
}

const struct test suspend_tests[] = {
	TEST(an_erase_makes_way),
	TEST(without_the_parameter_nothing_makes_way),
	TEST(a_program_of_collection_makes_way),
	TEST(a_write_that_was_told_does_not_make_way),
	TEST(a_buffered_write_makes_way_until_it_is_flushed),
	TEST(a_cut_knows_of_the_suspension),
	TEST(a_read_of_planes_suspends_once),
	END_OF_TESTS,
};
