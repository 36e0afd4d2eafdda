// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What a device with a translation layer does when its NAND fails: nothing that was written is ever lost by it */
#include "ftl.h"
#include "nand_faults.h"
#include "nand_health.h"
#include "samples.h"
#include "state.h"
#include "test.h"

#define PAGES 160u
#define LATER_NS 1000000000ull

/* 64 blocks of 8 pages on each of two dies with two planes, 24 of them bad from the factory, 12 to spare */
static struct fb_params failing(u64 ftl)
{
	struct fb_params p = sample_flash();

	p.capacity_bytes = PAGES * 2048;
	p.ftl = ftl;
	p.log_blocks = ftl == FB_FTL_BAST || ftl == FB_FTL_FAST ? 3 : 0;
	p.map_cache_bytes = ftl == FB_FTL_DFTL ? p.page_bytes : 0;
	p.pages_per_block = 8;
	p.blocks_per_die = 64;
	p.planes = 2;
	p.dies = 2;
	p.channels = 2;
	p.gc_reserve_blocks = 4;
	p.endurance_erases = 50;
	p.factory_bad_blocks = 24;
	p.spare_blocks = 12;
	return p;
}

/* Each page that was written lies in one flash page, and no other does */
static void everything_is_there(const struct fb_medium *m, const bool *written)
{
	u32 ppns = m->flash.nand.layout.blocks_per_die * m->flash.nand.layout.pages_per_block;
	u32 found[2 * PAGES] = { 0 };
	u32 die, ppn, page;

	CHECK(!fb_verify(m));
	for (die = 0; die < m->params.dies; die++)
		for (ppn = 0; ppn < ppns; ppn++) {
			u64 at = fb_ftl(&m->params)->page_at(m, die, ppn);

			if (at == FB_NO_PAGE)
				continue;
			CHECK(at < 2 * PAGES);
			found[at]++;
		}
	for (page = 0; page < PAGES; page++) {
		CHECK(!written[page] || found[page] == 1);
		CHECK(!written[page] || fb_ftl(&m->params)->mapped(m, page));
	}
}

/* Runs of one to eight pages anywhere, until the medium is read-only; returns how many there were */
static u32 wear_out(struct fb_medium *m, bool *written, u32 max)
{
	u64 random = 99, now_ns = 0;
	u32 writes;

	for (writes = 0; writes < max && !fb_read_only(m); writes++) {
		u64 first = next_random(&random) % PAGES;
		u64 count = fb_min(next_random(&random) % 8 + 1, PAGES - first);

		now_ns = submit(m, FB_WRITE, first * 2048, count * 2048, now_ns);
		CHECK_EQUAL(FB_DONE, fb_last_outcome(m));
		while (count--)
			written[first + count] = true;
		if (writes % 16 == 0)
			everything_is_there(m, written);
	}
	everything_is_there(m, written);
	return writes;
}

static void bad_blocks_from_the_factory_are_never_used(void)
{
	u64 ftl;

	for (ftl = 0; ftl < FB_FTL_COUNT; ftl++) {
		struct fb_params p = failing(ftl);
		bool written[PAGES] = { 0 };
		struct fb_medium *m = new_medium(&p);
		struct fb_wear wear;

		CHECK_EQUAL(1000, wear_out(m, written, 1000));
		wear = fb_medium_wear(m);
		CHECK_EQUAL(2 * 24, wear.factory_bad_blocks);
		CHECK_EQUAL(0, wear.grown_bad_blocks);
		CHECK_EQUAL(2 * (64 - 24), wear.blocks);
		CHECK(wear.erase_count_max > 0);	/* fb_nand_verify() knows if a bad one was erased */
		free(m);
	}
}

static void worn_out(u64 ftl, u64 program_fail_ppb, u64 erase_fail_ppb, u64 gc_step_pages)
{
	struct fb_params p = failing(ftl);
	bool written[PAGES] = { 0 };
	struct fb_medium *m;
	struct fb_wear wear;
	u64 failures, done_ns;

	p.program_fail_ppb = program_fail_ppb;
	p.erase_fail_ppb = erase_fail_ppb;
	p.gc_step_pages = gc_step_pages;
	m = new_medium(&p);
	CHECK(wear_out(m, written, 1000000) > 10);
	CHECK(fb_read_only(m));
	wear = fb_medium_wear(m);
	failures = fb_medium_counters(m)->program_failures + fb_medium_counters(m)->erase_failures;
	CHECK(!program_fail_ppb || fb_medium_counters(m)->program_failures);
	CHECK(!erase_fail_ppb || fb_medium_counters(m)->erase_failures);
	CHECK_EQUAL(2 * failures, wear.grown_bad_blocks);
	CHECK(failures >= 6 && failures <= 11);	/* all six of a die's reserve, fewer of the other's */

	/* What is there stays, whatever is asked for */
	done_ns = submit(m, FB_WRITE, 0, 2048, 1000 * LATER_NS);
	CHECK_EQUAL(FB_READ_ONLY, fb_last_outcome(m));
	CHECK_EQUAL(1000 * LATER_NS + p.command_ns, done_ns);
	submit(m, FB_DISCARD, 0, p.capacity_bytes, done_ns);
	CHECK_EQUAL(FB_READ_ONLY, fb_last_outcome(m));
	CHECK_EQUAL(2, fb_medium_counters(m)->refused_writes);
	submit(m, FB_FLUSH, 0, 0, done_ns);
	CHECK_EQUAL(FB_DONE, fb_last_outcome(m));
	submit(m, FB_READ, 0, 2048, done_ns);
	CHECK_EQUAL(FB_DONE, fb_last_outcome(m));
	fb_power_on(m);
	CHECK(fb_read_only(m));
	everything_is_there(m, written);
	free(m);
}

static void failures_lose_nothing_and_end_read_only(void)
{
	u64 ftl;

	for (ftl = 0; ftl < FB_FTL_COUNT; ftl++) {
		worn_out(ftl, 20000000, 0, 0);
		worn_out(ftl, 0, 20000000, 0);
		worn_out(ftl, 5000000, 20000000, 2);
		/* Everything fails as soon as a block was erased often */
		worn_out(ftl, 1000000000, 1000000000, 0);
		worn_out(ftl, 1000000000, 0, 2);
	}
}

static void the_same_seed_fails_in_the_same_way(void)
{
	struct fb_params p = failing(FB_FTL_PAGE);
	struct fb_medium *m[3];
	u32 i;

	p.program_fail_ppb = p.erase_fail_ppb = 10000000;
	p.ecc_bits = 2;
	p.bit_error_ppt = 100000000;
	for (i = 0; i < 3; i++) {
		bool written[PAGES] = { 0 };

		p.seed = 1 + i / 2;
		m[i] = new_medium(&p);
		wear_out(m[i], written, 3000);
	}
	CHECK(!memcmp(m[0], m[1], fb_state_bytes(&p)));
	CHECK(fb_medium_counters(m[0])->corrected_bits > 0);
	CHECK(fb_medium_counters(m[0])->corrected_bits != fb_medium_counters(m[2])->corrected_bits);
	for (i = 0; i < 3; i++)
		free(m[i]);
}

/*
 * 51,200 ns of channel a page. The first block's second page fails; the same page goes to the next block when that is
 * known, and the first page, still valid, is moved when the next write comes.
 */
static void a_failed_program_is_done_again_elsewhere(void)
{
	struct fb_params p = sample_flash();
	struct fb_medium *m;
	u64 fails_at_seed;

	p.command_ns = p.link_ps_per_byte = 0;
	p.gc_reserve_blocks = 4;
	p.capacity_bytes = 8 * 2048;
	p.spare_blocks = 2;
	p.endurance_erases = 1;
	p.program_fail_ppb = 500000000;
	/* Find a seed with which, on blocks erased once, page 0 is good, 1 fails, and the next block is good */
	for (fails_at_seed = 1;; fails_at_seed++) {
		u32 ppn;
		bool fits = true;

		p.seed = fails_at_seed;
		m = new_medium(&p);
		for (ppn = 0; ppn < 16; ppn++)
			fb_nand_erase(m, 0, ppn, 0);
		for (ppn = 0; ppn < 8; ppn++)
			fits &= fb_health_program_fails(m, 0, ppn) == (ppn == 1);
		if (fits)
			break;
		free(m);
	}
	CHECK_EQUAL(LATER_NS + 251200, submit(m, FB_WRITE, 0, 2048, LATER_NS));
	CHECK_EQUAL(2 * LATER_NS + 2 * 251200, submit(m, FB_WRITE, 2048, 2048, 2 * LATER_NS));
	CHECK_EQUAL(0, fb_ftl(&p)->page_at(m, 0, 0));
	CHECK_EQUAL(FB_NO_PAGE, fb_ftl(&p)->page_at(m, 0, 1));
	CHECK_EQUAL(1, fb_ftl(&p)->page_at(m, 0, 4));
	CHECK_EQUAL(FB_BLOCK_GROWN_BAD, fb_nand_block(&m->flash.nand, 0, 0)->flags);
	CHECK(!fb_verify(m));
	submit(m, FB_WRITE, 2 * 2048, 2048, 3 * LATER_NS);
	CHECK_EQUAL(FB_NO_PAGE, fb_ftl(&p)->page_at(m, 0, 0));
	CHECK_EQUAL(1, fb_medium_counters(m)->program_failures);
	CHECK_EQUAL(1, fb_medium_counters(m)->collection_moved_pages);
	CHECK(!fb_verify(m));
	free(m);
}

/* 64 bits of nanoseconds end after 584 years */
static void seven_centuries_count_as_the_one_that_can_be_told(void)
{
	struct fb_params p = sample_flash();
	struct fb_medium *m = new_medium(&p);
	int i;

	for (i = 0; i < 7; i++)
		fb_age(m, 36500);
	CHECK_EQUAL(36500 * 24 * 3600000000000ull, fb_age_ns(m));
	free(m);
}

/* Three retries, 25 us each, and then the page is lost until it is written again */
static void what_cannot_be_corrected_is_told(void)
{
	struct fb_params p = sample_flash();
	struct fb_medium *m;
	u64 read_ns = 25000 + 51200;

	p.command_ns = p.link_ps_per_byte = 0;
	p.ecc_bits = 1;
	p.ecc_codeword_bytes = 2048;
	p.endurance_erases = 100;
	p.year_bit_error_ppt = 1000000000;	/* 16 wrong bits a page at full wear after a year */
	p.read_retries = 3;
	p.retry_bit_error_percent = 100;
	m = new_medium(&p);
	submit(m, FB_WRITE, 0, 2048, 0);
	fb_nand_block(&m->flash.nand, 0, 0)->erase_count = 100;
	CHECK_EQUAL(LATER_NS + read_ns, submit(m, FB_READ, 0, 2048, LATER_NS));
	CHECK_EQUAL(FB_DONE, fb_last_outcome(m));
	fb_power_on(m);
	fb_age(m, 365);
	CHECK_EQUAL(365 * 24 * 3600000000000ull + LATER_NS, fb_age_ns(m));
	CHECK_EQUAL(LATER_NS + read_ns + 3 * 25000, submit(m, FB_READ, 0, 2048, LATER_NS));
	CHECK_EQUAL(FB_UNCORRECTABLE, fb_last_outcome(m));
	CHECK_EQUAL(3, fb_medium_counters(m)->flash_read_retries);
	CHECK_EQUAL(1, fb_medium_counters(m)->uncorrectable_pages);
	submit(m, FB_READ, 2048, 2048, 2 * LATER_NS);
	CHECK_EQUAL(FB_DONE, fb_last_outcome(m));

	/* Half of it is written anew: the other half stays lost, though it lies in a fresh flash page */
	submit(m, FB_WRITE, 0, 1024, 2 * LATER_NS);
	CHECK_EQUAL(FB_DONE, fb_last_outcome(m));
	submit(m, FB_READ, 0, 1024, 3 * LATER_NS);
	CHECK_EQUAL(FB_DONE, fb_last_outcome(m));
	submit(m, FB_READ, 1024, 1024, 3 * LATER_NS);
	CHECK_EQUAL(FB_UNCORRECTABLE, fb_last_outcome(m));
	submit(m, FB_WRITE, 0, 2048, 3 * LATER_NS);
	submit(m, FB_READ, 0, 2048, 4 * LATER_NS);
	CHECK_EQUAL(FB_DONE, fb_last_outcome(m));
	free(m);
}

static u32 ppn_of(const struct fb_medium *m, u64 page)
{
	u32 ppn = 0;

	while (fb_ftl(&m->params)->page_at(m, 0, ppn) != page)
		ppn++;
	return ppn;
}

/* A page that could not be corrected when it was moved is wrong where it lies now, too */
static void moving_a_page_does_not_mend_it(void)
{
	u64 ftl;

	for (ftl = 0; ftl < FB_FTL_COUNT; ftl++) {
		struct fb_params p = sample_flash();
		struct fb_medium *m;
		u64 now_ns = LATER_NS, random = 5, i;
		u32 ppn;

		p.ftl = ftl;
		p.log_blocks = ftl == FB_FTL_BAST || ftl == FB_FTL_FAST ? 2 : 0;
		p.map_cache_bytes = ftl == FB_FTL_DFTL ? p.page_bytes : 0;
		p.ecc_bits = 1;
		p.endurance_erases = 100;
		p.year_bit_error_ppt = 1000000000;
		p.retry_bit_error_percent = 100;
		m = new_medium(&p);
		submit(m, FB_WRITE, 0, 4 * 2048, 0);
		ppn = ppn_of(m, 0);
		fb_nand_block(&m->flash.nand, 0, ppn / 4)->erase_count = 100;
		fb_age(m, 730);
		for (i = 0; ppn_of(m, 0) == ppn; i++) {
			CHECK(i < 10000);
			now_ns = submit(m, FB_WRITE, (1 + next_random(&random) % 31) * 2048, 2048, now_ns);
		}
		CHECK(fb_medium_counters(m)->collection_moved_pages > 0);
		submit(m, FB_READ, 0, 2048, now_ns);
		CHECK_EQUAL(FB_UNCORRECTABLE, fb_last_outcome(m));
		now_ns = submit(m, FB_WRITE, 0, 2048, now_ns);
		submit(m, FB_READ, 0, 2048, now_ns);
		CHECK_EQUAL(FB_DONE, fb_last_outcome(m));
		free(m);
	}
}

/* A million reads add 4 wrong bits to a page; an erase begins anew */
static void reads_disturb(void)
{
	struct fb_params p = sample_flash();
	struct fb_medium *m;
	u64 i;

	p.ecc_bits = 100;
	p.read_bit_error_ppt = 4ull * 1000000000000 / (2048 * 8);
	m = new_medium(&p);
	fb_nand_program(m, 0, 0, 0, 0);
	for (i = 0; i < 1000; i++)
		fb_nand_read(m, 0, 0, 0, 0);
	CHECK(fb_medium_counters(m)->corrected_bits < 100);	/* 0.002 in the mean */
	CHECK_EQUAL(1000, fb_nand_past(&m->flash.nand, 0, 0)->reads);
	CHECK_EQUAL(p.read_bit_error_ppt / 1000, fb_faults_bit_error_ppt(&p, 0, fb_nand_past(&m->flash.nand, 0, 0), 0));
	fb_nand_erase(m, 0, 0, 0);
	CHECK_EQUAL(0, fb_nand_past(&m->flash.nand, 0, 0)->reads);
	free(m);
}

static void blocks_must_suffice(void)
{
	struct fb_params p = failing(FB_FTL_PAGE);
	struct fb_complaint complaint;

	/* Of 32 blocks of a die 12 are bad, 6 spare, 4 free, 2 open: 8 of 16 pages on two dies hold 256 pages */
	p.capacity_bytes = 256 * 2048;
	CHECK(fb_check_params(&p, &complaint));
	p.capacity_bytes += 2048;
	check_refused(&p, FB_PARAM_capacity_bytes);
}

static void rules_between_the_parameters(void)
{
	struct fb_params p = failing(FB_FTL_PAGE);

	p.capacity_bytes = 32 * 2048;
	p.program_fail_ppb = 1;
	p.spare_blocks = 0;
	check_refused(&p, FB_PARAM_spare_blocks);
	p.spare_blocks = 2;
	p.gc_reserve_blocks = 3;
	check_refused(&p, FB_PARAM_gc_reserve_blocks);
	p.gc_reserve_blocks = 4;
	p.endurance_erases = 0;
	check_refused(&p, FB_PARAM_endurance_erases);
	p.endurance_erases = 1;
	p.factory_bad_blocks = 57;
	check_refused(&p, FB_PARAM_factory_bad_blocks);
	p.factory_bad_blocks = 0;
	p.ecc_bits = 1;
	p.ecc_codeword_bytes = 768;
	check_refused(&p, FB_PARAM_ecc_codeword_bytes);
	p.ecc_codeword_bytes = 4096;
	check_refused(&p, FB_PARAM_ecc_codeword_bytes);
	p.ecc_codeword_bytes = 512;
	p.suspend_ns = 1;
	check_refused(&p, FB_PARAM_suspend_ns);
}

const struct test health_tests[] = {
	TEST(bad_blocks_from_the_factory_are_never_used),
	TEST(failures_lose_nothing_and_end_read_only),
	TEST(the_same_seed_fails_in_the_same_way),
	TEST(a_failed_program_is_done_again_elsewhere),
	TEST(seven_centuries_count_as_the_one_that_can_be_told),
	TEST(what_cannot_be_corrected_is_told),
	TEST(moving_a_page_does_not_mend_it),
	TEST(reads_disturb),
	TEST(blocks_must_suffice),
	TEST(rules_between_the_parameters),
	END_OF_TESTS,
};
