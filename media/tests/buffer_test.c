// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The write buffer of a flash device, by hand, with room for two pages of sample_flash() */
#include "fb_power.h"
#include "samples.h"
#include "test.h"

enum {
	PAGE = 2048,
	COMMAND_NS = 1000,
	LINK_NS = 20480,
	PROGRAM_NS = 51200 + 200000,	/* with the transfer to the die */
	ARRIVED_NS = COMMAND_NS + LINK_NS,
	LATER_NS = 10000000,
};

static struct fb_medium *flash_with(u64 buffer_pages, bool flush_ignored)
{
	struct fb_params p = sample_flash();

	p.write_buffer_bytes = buffer_pages * PAGE;
	p.flush_ignored = flush_ignored;
	return new_medium(&p);
}

static u64 write_through(struct fb_medium *m, u64 page, u64 now_ns)
{
	struct fb_request request = { .op = FB_WRITE, .offset_bytes = page * PAGE, .length_bytes = PAGE, .fua = true };

	return fb_submit(m, &request, now_ns);
}

static void a_buffered_write_is_done_when_it_has_arrived(void)
{
	struct fb_medium *m = flash_with(2, false);

	CHECK(fb_volatile_cache(fb_medium_params(m)));
	CHECK_EQUAL(ARRIVED_NS, submit(m, FB_WRITE, 0, PAGE, 0));
	CHECK_EQUAL(1, fb_medium_counters(m)->flash_programmed_pages);
	free(m);
}

static void a_full_buffer_holds_writes_up(void)
{
	struct fb_medium *m = flash_with(2, false);

	CHECK_EQUAL(ARRIVED_NS, submit(m, FB_WRITE, 0, PAGE, 0));
	CHECK_EQUAL(ARRIVED_NS + LINK_NS, submit(m, FB_WRITE, PAGE, PAGE, 0));
	/* The first is programmed at ARRIVED + PROGRAM; then the third can be sent */
	CHECK_EQUAL(ARRIVED_NS + PROGRAM_NS + LINK_NS, submit(m, FB_WRITE, 2 * PAGE, PAGE, 0));
	CHECK_EQUAL(ARRIVED_NS + PROGRAM_NS - 3 * COMMAND_NS, fb_medium_counters(m)->buffer_wait_ns);
	CHECK_EQUAL(ARRIVED_NS + 2 * PROGRAM_NS + LINK_NS, submit(m, FB_WRITE, 3 * PAGE, PAGE, 0));
	free(m);
}

static void a_flush_waits_for_what_is_in_the_buffer(void)
{
	struct fb_medium *m = flash_with(2, false);

	submit(m, FB_WRITE, 0, PAGE, 0);
	submit(m, FB_WRITE, PAGE, PAGE, 0);
	CHECK_EQUAL(ARRIVED_NS + 2 * PROGRAM_NS, submit(m, FB_FLUSH, 0, 0, ARRIVED_NS));
	CHECK_EQUAL(LATER_NS + COMMAND_NS, submit(m, FB_FLUSH, 0, 0, LATER_NS));
	free(m);
}

static void a_write_through_is_done_when_it_is_programmed(void)
{
	struct fb_medium *m = flash_with(2, false);

	CHECK_EQUAL(ARRIVED_NS + PROGRAM_NS, write_through(m, 0, 0));
	free(m);
}

static void a_device_may_ignore_flushes(void)
{
	struct fb_medium *m = flash_with(2, true);

	CHECK_EQUAL(ARRIVED_NS, write_through(m, 0, 0));
	CHECK_EQUAL(ARRIVED_NS + COMMAND_NS, submit(m, FB_FLUSH, 0, 0, ARRIVED_NS));
	free(m);
}

static void a_page_in_the_buffer_is_read_from_it(void)
{
	struct fb_medium *m = flash_with(2, false);

	submit(m, FB_WRITE, 0, PAGE, 0);
	CHECK_EQUAL(ARRIVED_NS + COMMAND_NS + LINK_NS, submit(m, FB_READ, 0, PAGE, ARRIVED_NS));
	CHECK_EQUAL(1, fb_medium_counters(m)->buffer_read_pages);
	CHECK_EQUAL(0, fb_medium_counters(m)->flash_read_pages);
	/* Programmed since: from flash */
	CHECK_EQUAL(LATER_NS + COMMAND_NS + 25000 + 51200 + LINK_NS, submit(m, FB_READ, 0, PAGE, LATER_NS));
	CHECK_EQUAL(1, fb_medium_counters(m)->flash_read_pages);
	free(m);
}

/* A part of a page that is in the buffer needs nothing from flash to be complete */
static void a_part_of_a_buffered_page_needs_no_read(void)
{
	struct fb_medium *m = flash_with(2, false);

	submit(m, FB_WRITE, 0, PAGE, 0);
	CHECK_EQUAL(ARRIVED_NS + COMMAND_NS + LINK_NS / 4, submit(m, FB_WRITE, 0, 512, ARRIVED_NS));
	CHECK_EQUAL(0, fb_medium_counters(m)->flash_modified_pages);
	submit(m, FB_WRITE, 0, 512, LATER_NS);
	CHECK_EQUAL(1, fb_medium_counters(m)->flash_modified_pages);
	free(m);
}

static void power_on_empties_the_buffer(void)
{
	struct fb_medium *m = flash_with(2, false);

	submit(m, FB_WRITE, 0, PAGE, LATER_NS);
	submit(m, FB_WRITE, PAGE, PAGE, LATER_NS);
	fb_power_on(m);
	CHECK_EQUAL(ARRIVED_NS, submit(m, FB_WRITE, 2 * PAGE, PAGE, 0));
	CHECK_EQUAL(0, fb_medium_counters(m)->buffer_read_pages);
	free(m);
}

/* In the long run writes go no faster than the dies, with any buffer */
static void a_buffer_does_not_make_the_dies_faster(void)
{
	struct fb_medium *m = flash_with(8, false);
	u64 now_ns = 0;
	int i;

	for (i = 0; i < 32; i++)
		now_ns = submit(m, FB_WRITE, i * PAGE, PAGE, now_ns);
	CHECK_EQUAL(ARRIVED_NS + 24 * PROGRAM_NS + LINK_NS, now_ns);
	CHECK_EQUAL(ARRIVED_NS + 32 * PROGRAM_NS, submit(m, FB_FLUSH, 0, 0, now_ns));
	free(m);
}

/* Journal and parity: two units, each sent to the die and programmed when the one before it is there; once a write */
static void a_flush_writes_the_journal_of_the_map(void)
{
	struct fb_params p = sample_flash();
	struct fb_medium *m;

	p.write_buffer_bytes = 2 * PAGE;
	p.flush_units = 2;
	m = new_medium(&p);
	submit(m, FB_WRITE, 0, PAGE, 0);
	CHECK_EQUAL(ARRIVED_NS + 3 * PROGRAM_NS, submit(m, FB_FLUSH, 0, 0, ARRIVED_NS));
	CHECK_EQUAL(LATER_NS + COMMAND_NS, submit(m, FB_FLUSH, 0, 0, LATER_NS));
	CHECK_EQUAL(2 * LATER_NS + ARRIVED_NS + 3 * PROGRAM_NS, write_through(m, 1, 2 * LATER_NS));
	free(m);

	/* Two planes of two bits: four pages a unit, 200 us for the lower ones and 600 us for the upper ones */
	p.planes = 2;
	p.blocks_per_die = 32;
	p.bits_per_cell = 2;
	p.program_upper_ns = 600000;
	m = new_medium(&p);
	CHECK_EQUAL(ARRIVED_NS + PROGRAM_NS + 2 * (4 * 51200 + 800000), write_through(m, 0, 0));
	CHECK_EQUAL(1 + 1 + 8, fb_medium_counters(m)->flash_programmed_pages);
	CHECK_EQUAL(8, fb_medium_counters(m)->map_written_pages);
	CHECK(!fb_verify(m));
	free(m);
}

/* A row of two planes goes onto flash with whatever it has: what is written later goes to the next one */
static void a_flush_pads_the_row(void)
{
	struct fb_params p = sample_flash();
	struct fb_medium *m;
	u64 i;

	p.write_buffer_bytes = 4 * PAGE;
	p.planes = 2;
	p.blocks_per_die = 32;
	m = new_medium(&p);
	submit(m, FB_WRITE, 0, PAGE, 0);
	submit(m, FB_FLUSH, 0, 0, LATER_NS);
	CHECK_EQUAL(2, fb_medium_counters(m)->flash_programmed_pages);
	submit(m, FB_FLUSH, 0, 0, 2 * LATER_NS);
	CHECK_EQUAL(2, fb_medium_counters(m)->flash_programmed_pages);
	submit(m, FB_WRITE, PAGE, 2 * PAGE, 3 * LATER_NS);
	submit(m, FB_FLUSH, 0, 0, 4 * LATER_NS);
	CHECK_EQUAL(4, fb_medium_counters(m)->flash_programmed_pages);
	CHECK_EQUAL(2 * 200000, fb_medium_counters(m)->flash_program_ns);

	/* Until blocks are full of them and collected */
	for (i = 5; i < 1000; i++) {
		submit(m, FB_WRITE, i % 10 * PAGE, PAGE, i * LATER_NS);
		submit(m, FB_FLUSH, 0, 0, i * LATER_NS);
		CHECKF(!fb_verify(m), "%d: %s", (int)i, fb_verify(m));
	}
	CHECK_EQUAL(4 + 2 * 995 + fb_medium_counters(m)->collection_moved_pages,
		    fb_medium_counters(m)->flash_programmed_pages);
	free(m);
}

/* A block of four pages in one plane is full of units of one page after four, and is erased before the fifth */
static void the_journal_wears_blocks(void)
{
	struct fb_params p = sample_flash();
	struct fb_medium *m;
	u64 i;

	p.write_buffer_bytes = 2 * PAGE;
	p.flush_units = 1;
	m = new_medium(&p);
	for (i = 1; i <= 5; i++) {
		u64 erase_ns = i == 5 ? 1500000 : 0;

		submit(m, FB_WRITE, 0, PAGE, i * LATER_NS);
		CHECK_EQUAL(i * LATER_NS + ARRIVED_NS + 2 * PROGRAM_NS + erase_ns,
			    submit(m, FB_FLUSH, 0, 0, i * LATER_NS + ARRIVED_NS));
	}
	CHECK_EQUAL(10, fb_medium_counters(m)->flash_programmed_pages);
	CHECK_EQUAL(1, fb_medium_counters(m)->flash_erased_blocks);
	CHECK_EQUAL(1, fb_medium_wear(m).erase_count_sum);
	CHECK(!fb_verify(m));
	free(m);
}

static void count_lost(void *context, const struct fb_fated *fated)
{
	*(u64 *)context += fated->fate != FB_KEPT;
}

static void capacitors_make_flushes_free(void)
{
	struct fb_params p = sample_flash();
	struct fb_medium *m;
	u64 lost = 0;

	p.write_buffer_bytes = 2 * PAGE;
	p.power_loss_protection = 1;
	m = new_medium(&p);
	CHECK(!fb_volatile_cache(&p));
	CHECK_EQUAL(ARRIVED_NS, write_through(m, 0, 0));
	CHECK_EQUAL(ARRIVED_NS + COMMAND_NS, submit(m, FB_FLUSH, 0, 0, ARRIVED_NS));
	fb_cut(m, ARRIVED_NS + COMMAND_NS, 1, count_lost, &lost);
	CHECK_EQUAL(0, lost);
	free(m);

	p.flush_units = 1;
	check_refused(&p, FB_PARAM_power_loss_protection);
}

const struct test buffer_tests[] = {
	TEST(a_buffered_write_is_done_when_it_has_arrived),
	TEST(a_full_buffer_holds_writes_up),
	TEST(a_flush_waits_for_what_is_in_the_buffer),
	TEST(a_write_through_is_done_when_it_is_programmed),
	TEST(a_device_may_ignore_flushes),
	TEST(a_page_in_the_buffer_is_read_from_it),
	TEST(a_part_of_a_buffered_page_needs_no_read),
	TEST(power_on_empties_the_buffer),
	TEST(a_buffer_does_not_make_the_dies_faster),
	TEST(a_flush_writes_the_journal_of_the_map),
	TEST(a_flush_pads_the_row),
	TEST(the_journal_wears_blocks),
	TEST(capacitors_make_flushes_free),
	END_OF_TESTS,
};
