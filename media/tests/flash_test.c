// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Times of single requests, computed by hand from sample_flash() */
#include "samples.h"
#include "test.h"

enum {
	PAGE = 2048,
	COMMAND_NS = 1000,
	LINK_NS = 20480,	/* a page */
	BUS_NS = 51200,		/* a page */
	READ_NS = 25000,
	PROGRAM_NS = 200000,
	LATER_NS = 10000000,	/* when all that came before is done */
};

static struct fb_medium *flash_with(u64 dies, u64 channels)
{
	struct fb_params params = sample_flash();

	params.dies = dies;
	params.channels = channels;
	return new_medium(&params);
}

static void an_unmapped_read_is_command_and_link(void)
{
	struct fb_medium *m = flash_with(1, 1);

	CHECK_EQUAL(COMMAND_NS + LINK_NS, submit(m, FB_READ, 0, PAGE, 0));
	CHECK_EQUAL(0, fb_medium_counters(m)->flash_read_pages);
	free(m);
}

static void a_write_is_link_bus_program(void)
{
	struct fb_medium *m = flash_with(1, 1);

	CHECK_EQUAL(COMMAND_NS + LINK_NS + BUS_NS + PROGRAM_NS, submit(m, FB_WRITE, 0, PAGE, 0));
	CHECK_EQUAL(1, fb_medium_counters(m)->flash_programmed_pages);
	CHECK_EQUAL(PROGRAM_NS, fb_medium_counters(m)->flash_program_ns);
	CHECK_EQUAL(BUS_NS, fb_medium_counters(m)->flash_bus_ns);
	CHECK_EQUAL(LINK_NS, fb_medium_counters(m)->link_ns);
	CHECK_EQUAL(COMMAND_NS, fb_medium_counters(m)->controller_ns);
	free(m);
}

/* Twice one after the other, with a pause between; then two at a time, of which the second waits for the first */
static void each_moment_with_a_request_under_way_counts_once(void)
{
	const u64 write_ns = COMMAND_NS + LINK_NS + BUS_NS + PROGRAM_NS;
	struct fb_medium *m = flash_with(1, 1);
	u64 done_ns;

	submit(m, FB_WRITE, 0, PAGE, 0);
	CHECK_EQUAL(write_ns, fb_medium_counters(m)->busy_ns);
	submit(m, FB_WRITE, 0, PAGE, LATER_NS);
	CHECK_EQUAL(2 * write_ns, fb_medium_counters(m)->busy_ns);
	submit(m, FB_WRITE, 0, PAGE, 2 * LATER_NS);
	done_ns = submit(m, FB_WRITE, 0, PAGE, 2 * LATER_NS + 1) - 2 * LATER_NS;
	CHECK(done_ns < 2 * write_ns);
	CHECK_EQUAL(2 * write_ns + done_ns, fb_medium_counters(m)->busy_ns);
	fb_power_on(m);
	submit(m, FB_WRITE, 0, PAGE, 0);
	CHECK_EQUAL(3 * write_ns + done_ns, fb_medium_counters(m)->busy_ns);
	free(m);
}

static void a_read_is_array_bus_link(void)
{
	struct fb_medium *m = flash_with(1, 1);

	submit(m, FB_WRITE, 0, PAGE, 0);
	CHECK_EQUAL(LATER_NS + COMMAND_NS + READ_NS + BUS_NS + LINK_NS, submit(m, FB_READ, 0, PAGE, LATER_NS));
	free(m);
}

static void a_part_page_read_moves_only_its_bytes(void)
{
	struct fb_medium *m = flash_with(1, 1);

	submit(m, FB_WRITE, 0, PAGE, 0);
	CHECK_EQUAL(LATER_NS + COMMAND_NS + READ_NS + BUS_NS / 4 + LINK_NS / 4,
		    submit(m, FB_READ, 512, 512, LATER_NS));
	free(m);
}

static void a_read_waits_for_the_write_on_its_die(void)
{
	struct fb_medium *m = flash_with(1, 1);
	u64 written_ns = submit(m, FB_WRITE, 0, PAGE, 0);

	CHECK_EQUAL(written_ns + READ_NS + BUS_NS + LINK_NS, submit(m, FB_READ, 0, PAGE, 1000));
	free(m);
}

static void pages_of_one_die_follow_each_other(void)
{
	struct fb_medium *m = flash_with(1, 1);

	CHECK_EQUAL(COMMAND_NS + LINK_NS + 2 * (BUS_NS + PROGRAM_NS), submit(m, FB_WRITE, 0, 2 * PAGE, 0));
	/*
	 * The second page is sensed when the register is free, and goes over the link when both are done with the first
	 */
	CHECK_EQUAL(LATER_NS + COMMAND_NS + 2 * (READ_NS + BUS_NS) + LINK_NS,
		    submit(m, FB_READ, 0, 2 * PAGE, LATER_NS));
	free(m);
}

static void two_dies_on_a_channel_share_the_bus(void)
{
	struct fb_medium *m = flash_with(2, 1);

	CHECK_EQUAL(COMMAND_NS + LINK_NS + 2 * BUS_NS + PROGRAM_NS, submit(m, FB_WRITE, 0, 2 * PAGE, 0));
	CHECK_EQUAL(LATER_NS + COMMAND_NS + READ_NS + 2 * BUS_NS + LINK_NS,
		    submit(m, FB_READ, 0, 2 * PAGE, LATER_NS));
	free(m);
}

static void two_channels_share_only_the_link(void)
{
	struct fb_medium *m = flash_with(2, 2);

	CHECK_EQUAL(COMMAND_NS + 2 * LINK_NS + BUS_NS + PROGRAM_NS, submit(m, FB_WRITE, 0, 2 * PAGE, 0));
	CHECK_EQUAL(LATER_NS + COMMAND_NS + READ_NS + BUS_NS + 2 * LINK_NS,
		    submit(m, FB_READ, 0, 2 * PAGE, LATER_NS));
	free(m);
}

static void a_slow_link_is_the_limit(void)
{
	struct fb_params params = sample_flash();
	struct fb_medium *m;
	u64 link_ns = PAGE * 1000ull;

	params.dies = 4;
	params.channels = 4;
	params.link_ps_per_byte = 1000000;
	m = new_medium(&params);
	submit(m, FB_WRITE, 0, 8 * PAGE, 0);
	CHECK_EQUAL(100 * LATER_NS + COMMAND_NS + READ_NS + BUS_NS + 8 * link_ns,
		    submit(m, FB_READ, 0, 8 * PAGE, 100 * LATER_NS));
	free(m);
}

static void the_controller_takes_requests_one_by_one(void)
{
	struct fb_medium *m = flash_with(1, 1);

	submit(m, FB_FLUSH, 0, 0, 0);
	submit(m, FB_FLUSH, 0, 0, 0);
	CHECK_EQUAL(3 * COMMAND_NS, submit(m, FB_FLUSH, 0, 0, 0));
	free(m);
}

static void lanes_take_requests_side_by_side(void)
{
	struct fb_params params = sample_flash();
	struct fb_medium *m;

	params.controller_lanes = 2;
	m = new_medium(&params);
	CHECK_EQUAL(COMMAND_NS, submit(m, FB_FLUSH, 0, 0, 0));
	CHECK_EQUAL(COMMAND_NS, submit(m, FB_FLUSH, 0, 0, 0));
	CHECK_EQUAL(2 * COMMAND_NS, submit(m, FB_FLUSH, 0, 0, 0));
	CHECK_EQUAL(2 * COMMAND_NS, submit(m, FB_FLUSH, 0, 0, 100));
	CHECK_EQUAL(4 * COMMAND_NS, submit(m, FB_FLUSH, 0, 0, 3 * COMMAND_NS));
	free(m);
}

/* A write takes its own time of the firmware, in the lanes of all requests or in two of its own */
static void writes_may_take_other_firmware(void)
{
	enum { WRITE_COMMAND_NS = 300 };
	struct fb_params params = sample_flash();
	struct fb_medium *m;
	u64 done_ns;

	params.write_command_ns = WRITE_COMMAND_NS;
	m = new_medium(&params);
	CHECK_EQUAL(WRITE_COMMAND_NS + LINK_NS + BUS_NS + PROGRAM_NS, submit(m, FB_WRITE, 0, PAGE, 0));
	CHECK_EQUAL(LATER_NS + COMMAND_NS, submit(m, FB_FLUSH, 0, 0, LATER_NS));
	CHECK_EQUAL(WRITE_COMMAND_NS + COMMAND_NS, fb_medium_counters(m)->controller_ns);
	free(m);

	params.write_lanes = 2;
	params.write_buffer_bytes = 8 * PAGE;
	params.link_ps_per_byte = 0;
	m = new_medium(&params);
	CHECK_EQUAL(WRITE_COMMAND_NS, submit(m, FB_WRITE, 0, PAGE, 0));
	CHECK_EQUAL(WRITE_COMMAND_NS, submit(m, FB_WRITE, PAGE, PAGE, 0));
	CHECK_EQUAL(2 * WRITE_COMMAND_NS, submit(m, FB_WRITE, 2 * PAGE, PAGE, 0));
	/* Reads have a lane of their own, and do not wait for writes: it is in the buffer */
	CHECK_EQUAL(COMMAND_NS, submit(m, FB_READ, 0, PAGE, 0));
	CHECK_EQUAL(2 * WRITE_COMMAND_NS, submit(m, FB_WRITE, 3 * PAGE, PAGE, 0));
	/* Without power the lanes are forgotten */
	fb_power_on(m);
	done_ns = submit(m, FB_WRITE, 0, PAGE, 0);
	CHECK_EQUAL(WRITE_COMMAND_NS, done_ns);
	free(m);
}

/* A read that waits for its die must not keep the channel from the dies that do not wait */
static void a_waiting_read_does_not_hold_the_channel(void)
{
	struct fb_medium *m = flash_with(2, 1);
	u64 written_ns, command_ns = LATER_NS + 3 * COMMAND_NS;

	submit(m, FB_WRITE, 0, 2 * PAGE, 0);
	written_ns = submit(m, FB_WRITE, 0, PAGE, LATER_NS);
	CHECK_EQUAL(written_ns + READ_NS + BUS_NS + LINK_NS, submit(m, FB_READ, 0, PAGE, LATER_NS));
	/* The channel carries the write until LATER + 72,680; the array read ends before that */
	CHECK(command_ns + READ_NS < LATER_NS + COMMAND_NS + LINK_NS + BUS_NS);
	CHECK_EQUAL(LATER_NS + COMMAND_NS + LINK_NS + BUS_NS + BUS_NS + LINK_NS,
		    submit(m, FB_READ, PAGE, PAGE, LATER_NS));
	free(m);
}

static void a_part_page_write_reads_what_it_does_not_have(void)
{
	struct fb_medium *m = flash_with(1, 1);

	/* Nothing there yet: nothing to read */
	CHECK_EQUAL(COMMAND_NS + LINK_NS / 4 + BUS_NS + PROGRAM_NS, submit(m, FB_WRITE, 0, 512, 0));
	/* Three quarters of the old page come out while the new quarter is on the link */
	CHECK_EQUAL(LATER_NS + COMMAND_NS + READ_NS + BUS_NS * 3 / 4 + BUS_NS + PROGRAM_NS,
		    submit(m, FB_WRITE, 512, 512, LATER_NS));
	CHECK_EQUAL(1, fb_medium_counters(m)->flash_modified_pages);
	CHECK_EQUAL(2, fb_medium_counters(m)->flash_programmed_pages);
	CHECK_EQUAL(1, fb_medium_counters(m)->flash_read_pages);
	free(m);
}

static void a_request_may_begin_and_end_within_pages(void)
{
	struct fb_medium *m = flash_with(1, 1);

	submit(m, FB_WRITE, 0, 3 * PAGE, 0);
	submit(m, FB_WRITE, 1024, 2 * PAGE, LATER_NS);
	CHECK_EQUAL(6, fb_medium_counters(m)->flash_programmed_pages);
	CHECK_EQUAL(2, fb_medium_counters(m)->flash_modified_pages);
	free(m);
}

static void a_flush_waits_for_programs(void)
{
	struct fb_medium *m = flash_with(1, 1);
	u64 written_ns = submit(m, FB_WRITE, 0, PAGE, 0);

	CHECK_EQUAL(written_ns, submit(m, FB_FLUSH, 0, 0, 10));
	CHECK_EQUAL(LATER_NS + COMMAND_NS, submit(m, FB_FLUSH, 0, 0, LATER_NS));
	free(m);
}

static void a_discard_unmaps_whole_pages(void)
{
	struct fb_medium *m = flash_with(1, 1);
	u64 reads;

	submit(m, FB_WRITE, 0, 3 * PAGE, 0);
	CHECK_EQUAL(LATER_NS + COMMAND_NS, submit(m, FB_DISCARD, 1024, 2 * PAGE, LATER_NS));
	reads = fb_medium_counters(m)->flash_read_pages;
	CHECK_EQUAL(2 * LATER_NS + COMMAND_NS + LINK_NS, submit(m, FB_READ, PAGE, PAGE, 2 * LATER_NS));
	CHECK_EQUAL(reads, fb_medium_counters(m)->flash_read_pages);
	submit(m, FB_READ, 0, PAGE, 3 * LATER_NS);
	submit(m, FB_READ, 2 * PAGE, PAGE, 4 * LATER_NS);
	CHECK_EQUAL(reads + 2, fb_medium_counters(m)->flash_read_pages);
	CHECK(!fb_verify(m));
	free(m);
}

static void a_device_without_discards_keeps_what_it_is_told_to_forget(void)
{
	struct fb_params params = sample_flash();
	struct fb_medium *m;
	u64 reads;

	CHECK_EQUAL(params.page_bytes, fb_discard_bytes(&params));
	params.discard = 0;
	CHECK_EQUAL(0, fb_discard_bytes(&params));
	m = new_medium(&params);
	submit(m, FB_WRITE, 0, PAGE, 0);
	reads = fb_medium_counters(m)->flash_read_pages;
	CHECK_EQUAL(LATER_NS + COMMAND_NS, submit(m, FB_DISCARD, 0, PAGE, LATER_NS));
	submit(m, FB_READ, 0, PAGE, 2 * LATER_NS);
	CHECK_EQUAL(reads + 1, fb_medium_counters(m)->flash_read_pages);
	CHECK(!fb_verify(m));
	free(m);
}

const struct test flash_tests[] = {
	TEST(an_unmapped_read_is_command_and_link),
	TEST(a_write_is_link_bus_program),
	TEST(each_moment_with_a_request_under_way_counts_once),
	TEST(a_read_is_array_bus_link),
	TEST(a_part_page_read_moves_only_its_bytes),
	TEST(a_read_waits_for_the_write_on_its_die),
	TEST(pages_of_one_die_follow_each_other),
	TEST(two_dies_on_a_channel_share_the_bus),
	TEST(two_channels_share_only_the_link),
	TEST(a_slow_link_is_the_limit),
	TEST(the_controller_takes_requests_one_by_one),
	TEST(lanes_take_requests_side_by_side),
	TEST(writes_may_take_other_firmware),
	TEST(a_waiting_read_does_not_hold_the_channel),
	TEST(a_part_page_write_reads_what_it_does_not_have),
	TEST(a_request_may_begin_and_end_within_pages),
	TEST(a_flush_waits_for_programs),
	TEST(a_discard_unmaps_whole_pages),
	TEST(a_device_without_discards_keeps_what_it_is_told_to_forget),
	END_OF_TESTS,
};
