// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What a power cut at a given moment makes of a write, and what the restart costs */
#include "fb_power.h"
#include "samples.h"
#include "state.h"
#include "test.h"

#define PAGE 2048u
#define SECTOR 512u

/* When the first write of a page of sample_flash() is programmed: command, link, channel; then tPROG */
#define PROGRAM_BEGINS 72680u
#define PROGRAM_ENDS 272680u

enum { MAX_TOLD = 4 * FB_MAX_PARTS, SEEDS = 64 };

static struct fb_fated told[MAX_TOLD];
static u32 told_count;

static void note(void *context, const struct fb_fated *fated)
{
	(void)context;
	CHECK(told_count < MAX_TOLD);
	told[told_count++] = *fated;
}

static void cut(struct fb_medium *m, u64 cut_ns, u64 seed)
{
	told_count = 0;
	fb_cut(m, cut_ns, seed, note, NULL);
	CHECK(!fb_verify(m));
}

static u64 bytes_of(enum fb_fate fate)
{
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < told_count; i++)
		if (told[i].fate == fate && !told[i].neighbour)
			bytes += told[i].length_bytes;
	return bytes;
}

static struct fb_medium *with_a_page_written(void)
{
	struct fb_params params = sample_flash();
	struct fb_medium *m = new_medium(&params);

	CHECK_EQUAL(PROGRAM_ENDS, submit(m, FB_WRITE, PAGE, PAGE, 0));
	return m;
}

static void a_page_is_old_until_it_is_programmed_and_new_afterwards(void)
{
	struct {
		u64 cut_ns;
		enum fb_fate fate;
	} cases[] = { { 0, FB_LOST }, { PROGRAM_BEGINS, FB_LOST }, { PROGRAM_ENDS, FB_KEPT } };
	u32 i;

	for (i = 0; i < 3; i++) {
		struct fb_medium *m = with_a_page_written();

		cut(m, cases[i].cut_ns, i);
		CHECK_EQUAL(1, told_count);
		CHECK_EQUAL(cases[i].fate, told[0].fate);
		CHECK_EQUAL(PAGE, told[0].offset_bytes);
		CHECK_EQUAL(PAGE, told[0].length_bytes);
		CHECK(!told[0].torn);
		free(m);
	}
}

/* It is written to a new place, so that nothing happens to the old one */
static void a_page_under_program_is_old_or_new(void)
{
	u32 kept = 0;
	u64 seed;

	for (seed = 0; seed < SEEDS; seed++) {
		struct fb_medium *m = with_a_page_written();

		cut(m, seed % 2 ? PROGRAM_BEGINS + 1 : PROGRAM_ENDS - 1, seed);
		CHECK_EQUAL(1, told_count);
		CHECK(told[0].torn && told[0].fate != FB_UNREADABLE);
		CHECK_EQUAL(PAGE, told[0].offset_bytes);
		CHECK_EQUAL(PAGE, told[0].length_bytes);
		CHECK_EQUAL(0, fb_unreadable_sectors(m));
		kept += told[0].fate == FB_KEPT;
		free(m);
	}
	CHECK(kept > SEEDS / 4 && kept < SEEDS * 3 / 4);
}

/* Logical page 9 is programmed into the cells of page 1, which is old by then */
static struct fb_medium *with_a_torn_upper_page(u64 paired_page_loss, u64 seed)
{
	struct fb_params params = sample_flash();
	struct fb_medium *m;
	u64 now_ns;

	params.bits_per_cell = 2;
	params.paired_page_loss = paired_page_loss;
	m = new_medium(&params);
	now_ns = submit(m, FB_WRITE, PAGE, PAGE, 0);
	cut(m, submit(m, FB_WRITE, 9 * PAGE, PAGE, now_ns) - 1, seed);
	return m;
}

static struct fb_medium *with_an_unreadable_page(void)
{
	u64 seed;

	for (seed = 0; ; seed++) {
		struct fb_medium *m = with_a_torn_upper_page(1, seed);

		if (fb_unreadable_sectors(m)) {
			fb_power_on(m);
			return m;
		}
		free(m);
	}
}

static void the_same_seed_tells_the_same(void)
{
	struct fb_fated first[MAX_TOLD / 16];
	u32 count;
	u64 seed;

	for (seed = 0; seed < SEEDS; seed++) {
		struct fb_medium *m = with_a_page_written();

		cut(m, PROGRAM_BEGINS + 1, seed);
		count = told_count;
		memcpy(first, told, count * sizeof(*told));
		free(m);
		m = with_a_page_written();
		cut(m, PROGRAM_BEGINS + 1, seed);
		CHECK_EQUAL(count, told_count);
		CHECK(!memcmp(first, told, count * sizeof(*told)));
		free(m);
	}
}

static void what_is_unreadable_is_so_until_it_is_written_again(void)
{
	struct fb_medium *m = with_an_unreadable_page();
	u64 done_ns;

	CHECK(fb_unreadable(m, 0, 2 * PAGE));
	CHECK(!fb_unreadable(m, 0, PAGE));
	CHECK(!fb_unreadable(m, 2 * PAGE, PAGE));
	fb_power_on(m);
	CHECK_EQUAL(PAGE / SECTOR, fb_unreadable_sectors(m));
	done_ns = submit(m, FB_WRITE, PAGE + SECTOR, SECTOR, 0);
	CHECK(!fb_unreadable(m, PAGE + SECTOR, SECTOR));
	CHECK(fb_unreadable(m, PAGE, SECTOR));
	CHECK(fb_unreadable(m, PAGE + 2 * SECTOR, SECTOR));
	cut(m, done_ns, 0);
	CHECK_EQUAL(PAGE / SECTOR - 1, fb_unreadable_sectors(m));
	free(m);
}

static void a_lost_rewrite_mends_nothing(void)
{
	struct fb_medium *m = with_an_unreadable_page();

	submit(m, FB_WRITE, PAGE, PAGE, 0);
	CHECK(!fb_unreadable(m, PAGE, PAGE));
	cut(m, 0, 0);
	CHECK_EQUAL(PAGE / SECTOR, fb_unreadable_sectors(m));
	fb_power_on(m);
	CHECK(fb_unreadable(m, PAGE, PAGE));
	free(m);
}

/* Two writes of a page that one after the other is lost or kept: the last that was kept counts */
static void a_kept_rewrite_mends_what_an_earlier_one_did_not(void)
{
	struct fb_medium *m = with_an_unreadable_page();
	u64 done_ns = submit(m, FB_WRITE, PAGE, PAGE, 0);

	submit(m, FB_WRITE, PAGE, PAGE, 0);
	cut(m, done_ns, 0);
	CHECK_EQUAL(0, fb_unreadable_sectors(m));
	free(m);
}

static void sectors_of_a_track_are_written_one_after_another(void)
{
	struct fb_params params = sample_disk();
	u64 seed;
	u32 unreadable = 0;

	for (seed = 0; seed < SEEDS; seed++) {
		struct fb_medium *m = new_medium(&params);
		u64 sector_ns = 100000;
		u64 done_ns = submit(m, FB_WRITE, 0, 50 * SECTOR, 0);
		u64 begin_ns = done_ns - 50 * sector_ns;

		cut(m, begin_ns + 20 * sector_ns + 1, seed);
		CHECK_EQUAL(3, told_count);
		CHECK_EQUAL(20 * SECTOR, told[0].length_bytes);
		CHECK_EQUAL(FB_KEPT, told[0].fate);
		CHECK_EQUAL(20 * SECTOR, told[1].offset_bytes);
		CHECK_EQUAL(SECTOR, told[1].length_bytes);
		CHECK(told[1].fate != FB_KEPT);
		CHECK_EQUAL(29 * SECTOR, told[2].length_bytes);
		CHECK_EQUAL(FB_LOST, told[2].fate);
		unreadable += told[1].fate == FB_UNREADABLE;
		free(m);
	}
	CHECK(unreadable > SEEDS / 4 && unreadable < SEEDS * 3 / 4);
}

static void a_write_without_room_waits_for_the_oldest(void)
{
	struct fb_params params = sample_flash();
	struct fb_medium *m = new_medium(&params);
	u64 first_ns = submit(m, FB_WRITE, 0, PAGE, 0);
	u32 i;

	for (i = 1; i < 2 * m->power.capacity; i++)
		submit(m, FB_WRITE, i % 32 * PAGE, PAGE, 0);
	CHECK(m->now_ns > first_ns);
	CHECK(m->power.parts <= m->power.capacity);
	CHECK_EQUAL(2 * m->power.capacity, fb_next_sequence(m));
	cut(m, m->now_ns, 0);
	CHECK_EQUAL(told_count * PAGE, bytes_of(FB_LOST) + bytes_of(FB_KEPT) + bytes_of(FB_UNREADABLE));
	free(m);
}

/* Its last part takes what does not fit, and no write is forgotten */
static void a_write_longer_than_the_ring_is_pending_as_a_whole(void)
{
	struct fb_params params = sample_flash();
	struct fb_medium *m;
	u64 length = (FB_MAX_PARTS + 100) * PAGE;

	params.capacity_bytes = length;
	params.blocks_per_die = 2048;
	m = new_medium(&params);
	submit(m, FB_WRITE, 0, length, 0);
	CHECK(!fb_verify(m));
	CHECK_EQUAL(length, m->power.bytes);
	cut(m, 0, 0);
	CHECK_EQUAL(length, bytes_of(FB_LOST));
	free(m);
}

/* 16 blocks and the 4 pages of the open block, 25 us each */
static void a_restart_scans_before_it_serves(void)
{
	struct fb_medium *m = with_a_page_written();

	fb_power_on(m);
	CHECK_EQUAL(0, m->counters.restarts);
	CHECK_EQUAL(21480, submit(m, FB_READ, 0, PAGE, 0));
	cut(m, 21480, 0);
	fb_power_on(m);
	CHECK_EQUAL(1, m->counters.restarts);
	CHECK_EQUAL(20 * 25000, m->counters.restart_ns);
	CHECK_EQUAL(20 * 25000 + 21480, submit(m, FB_READ, 0, PAGE, 0));
	fb_power_on(m);
	CHECK_EQUAL(1, m->counters.restarts);
	CHECK_EQUAL(21480, submit(m, FB_READ, 0, PAGE, 0));
	free(m);
}

static void a_half_erased_block_is_erased_again(void)
{
	struct fb_params params = sample_flash();
	struct fb_medium *m = new_medium(&params);
	u64 now_ns = 0, erases, end_ns, pages;
	u32 i;

	for (i = 0; !m->counters.flash_erased_blocks; i++)
		now_ns = submit(m, FB_WRITE, i * 7 % 32 * PAGE, PAGE, now_ns);
	erases = m->counters.flash_erased_blocks;
	end_ns = m->power.erasing[0].end_ns;
	cut(m, end_ns - 1, 0);
	CHECK_EQUAL(erases + 1, m->counters.flash_erased_blocks);
	pages = m->counters.flash_read_pages;
	fb_power_on(m);
	pages = m->counters.flash_read_pages - pages;
	CHECK(pages >= 16 && pages <= 16 + 2 * 4);
	CHECK_EQUAL(pages * 25000 + 1500000, m->counters.restart_ns);
	CHECK(!fb_verify(m));
	free(m);
}

static u32 neighbours_lost(u64 paired_page_loss)
{
	u32 count = 0;
	u64 seed;

	for (seed = 0; seed < SEEDS; seed++) {
		struct fb_medium *m = with_a_torn_upper_page(paired_page_loss, seed);

		count += fb_unreadable(m, PAGE, PAGE);
		free(m);
	}
	return count;
}

static void an_upper_page_takes_its_lower_page_along_where_firmware_lets_it(void)
{
	CHECK_EQUAL(0, neighbours_lost(0));
	CHECK(neighbours_lost(1) > SEEDS / 4);
}

static void pages_of_a_row_are_programmed_together(void)
{
	struct fb_params params = sample_flash();
	struct fb_medium *m;
	u64 done_ns;

	params.planes = 2;
	params.capacity_bytes = 16 * PAGE;
	m = new_medium(&params);
	done_ns = submit(m, FB_WRITE, 0, 2 * PAGE, 0);
	cut(m, done_ns - 200000, 0);
	CHECK_EQUAL(2 * PAGE, bytes_of(FB_LOST));
	free(m);
	m = new_medium(&params);
	CHECK_EQUAL(done_ns, submit(m, FB_WRITE, 0, 2 * PAGE, 0));
	cut(m, done_ns - 199999, 0);
	CHECK(told[0].torn && told[told_count - 1].torn);
	free(m);
}

static struct fb_medium *with_write_buffer(u64 flush_ignored)
{
	struct fb_params params = sample_flash();

	params.planes = 2;
	params.capacity_bytes = 16 * PAGE;
	params.write_buffer_bytes = 8 * PAGE;
	params.flush_ignored = flush_ignored;
	return new_medium(&params);
}

static void what_a_write_buffer_holds_is_lost(void)
{
	struct fb_medium *m = with_write_buffer(0);
	u64 done_ns = submit(m, FB_WRITE, 0, PAGE, 0);

	cut(m, done_ns, 0);
	CHECK_EQUAL(PAGE, bytes_of(FB_LOST));
	free(m);
	m = with_write_buffer(1);
	submit(m, FB_WRITE, 0, PAGE, 0);
	cut(m, submit(m, FB_FLUSH, 0, 0, 30000), 0);
	CHECK_EQUAL(PAGE, bytes_of(FB_LOST));
	free(m);
}

/*
 * A page that arrives just before the program of its row begins would join it and, with its transfer, make it later:
 * not if somebody was told when the program is done.
 */
static void an_acknowledged_program_is_not_made_later(void)
{
	struct fb_medium *m = with_write_buffer(0);
	u64 array_free_ns, flushed_ns;

	submit(m, FB_WRITE, 0, 2 * PAGE, 0);
	array_free_ns = m->flash.nand.last.end_ns;
	submit(m, FB_WRITE, 2 * PAGE, PAGE, 30000);
	flushed_ns = submit(m, FB_FLUSH, 0, 0, 60000);
	CHECK_EQUAL(array_free_ns + 51200 + 200000, flushed_ns);
	submit(m, FB_WRITE, 3 * PAGE, PAGE, array_free_ns - 22000);
	CHECK(!m->flash.nand.last.joined);
	cut(m, flushed_ns, 0);
	CHECK_EQUAL(3 * PAGE, bytes_of(FB_KEPT));
	free(m);
}

static void pages_that_join_are_programmed_when_the_last_is(void)
{
	struct fb_medium *m = with_write_buffer(0);
	u64 array_free_ns;

	submit(m, FB_WRITE, 0, 2 * PAGE, 0);
	array_free_ns = m->flash.nand.last.end_ns;
	submit(m, FB_WRITE, 2 * PAGE, PAGE, 30000);
	submit(m, FB_WRITE, 3 * PAGE, PAGE, array_free_ns - 22000);
	CHECK(m->flash.nand.last.joined);
	CHECK_EQUAL(array_free_ns + 2 * 51200 + 200000, m->flash.nand.last.end_ns);
	cut(m, array_free_ns + 51200 + 200000, 1);
	CHECK(told[0].fate == FB_KEPT && told[1].fate == FB_KEPT);
	CHECK(told[2].torn && told[told_count - 1].torn);
	free(m);
}

static struct fb_medium *caching_disk(void)
{
	struct fb_params params = sample_disk();

	params.write_cache_bytes = 1 << 20;
	return new_medium(&params);
}

/* 100 sectors a track: the write begins on one track and ends on the next; neither is on the platter at once */
static void what_a_write_cache_holds_is_lost(void)
{
	struct fb_medium *m = caching_disk();
	u64 done_ns = submit(m, FB_WRITE, 50 * SECTOR, 100 * SECTOR, 0);

	CHECK(done_ns < 1000000);
	cut(m, done_ns, 0);
	CHECK_EQUAL(2, told_count);
	CHECK_EQUAL(100 * SECTOR, bytes_of(FB_LOST));
	free(m);
}

/* The cut looks at what the disk did by itself since the last request */
static void a_write_cache_is_written_back_piece_by_piece(void)
{
	struct fb_medium *m = caching_disk();
	u32 i;

	submit(m, FB_WRITE, 0, 8 * SECTOR, 0);
	submit(m, FB_WRITE, 8 * SECTOR, 8 * SECTOR, 0);
	submit(m, FB_WRITE, 1000 * SECTOR, 8 * SECTOR, 0);
	cut(m, 1000000000, 0);
	CHECK_EQUAL(3, told_count);
	CHECK_EQUAL(24 * SECTOR, bytes_of(FB_KEPT));
	for (i = 0; i < told_count; i++)
		CHECK(!told[i].torn);
	free(m);
}

/* It is known to be on the medium: the next write finds its room */
static void what_was_flushed_is_kept(void)
{
	struct fb_medium *m = caching_disk();
	u64 flushed_ns, i;

	for (i = 0; i < 10; i++)
		submit(m, FB_WRITE, i * 97 % 48 * 100 * SECTOR, 8 * SECTOR, 0);
	flushed_ns = submit(m, FB_FLUSH, 0, 0, 1000000);
	CHECK_EQUAL(10, m->power.parts);
	submit(m, FB_WRITE, 4700 * SECTOR, 8 * SECTOR, flushed_ns);
	cut(m, flushed_ns, 0);
	CHECK_EQUAL(1, told_count);
	CHECK_EQUAL(8 * SECTOR, bytes_of(FB_LOST));
	free(m);
}

/* Small writes that the cache has room for, but the ring has not */
static void a_full_ring_makes_a_cache_write_back(void)
{
	struct fb_medium *m = caching_disk();
	u64 sectors = m->params.capacity_bytes / SECTOR, now_ns = 0, i;

	for (i = 0; i < 3 * m->power.capacity; i++)
		now_ns = submit(m, FB_WRITE, i % sectors / 10 * 10 * SECTOR, SECTOR, now_ns);
	CHECK(m->power.parts <= m->power.capacity);
	CHECK(!fb_verify(m));
	cut(m, now_ns, 0);
	CHECK_EQUAL(told_count * SECTOR, bytes_of(FB_LOST) + bytes_of(FB_KEPT) + bytes_of(FB_UNREADABLE));
	free(m);
}

const struct test power_tests[] = {
	TEST(a_page_is_old_until_it_is_programmed_and_new_afterwards),
	TEST(a_page_under_program_is_old_or_new),
	TEST(the_same_seed_tells_the_same),
	TEST(what_is_unreadable_is_so_until_it_is_written_again),
	TEST(a_lost_rewrite_mends_nothing),
	TEST(a_kept_rewrite_mends_what_an_earlier_one_did_not),
	TEST(sectors_of_a_track_are_written_one_after_another),
	TEST(a_write_without_room_waits_for_the_oldest),
	TEST(a_write_longer_than_the_ring_is_pending_as_a_whole),
	TEST(a_restart_scans_before_it_serves),
	TEST(a_half_erased_block_is_erased_again),
	TEST(an_upper_page_takes_its_lower_page_along_where_firmware_lets_it),
	TEST(pages_of_a_row_are_programmed_together),
	TEST(what_a_write_buffer_holds_is_lost),
	TEST(an_acknowledged_program_is_not_made_later),
	TEST(pages_that_join_are_programmed_when_the_last_is),
	TEST(what_a_write_cache_holds_is_lost),
	TEST(a_write_cache_is_written_back_piece_by_piece),
	TEST(what_was_flushed_is_kept),
	TEST(a_full_ring_makes_a_cache_write_back),
	END_OF_TESTS
};
