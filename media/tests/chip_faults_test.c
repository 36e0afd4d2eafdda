// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A raw chip that fails: bad blocks, operations that fail, bits that read wrong */
#include "chip_support.h"

static void bad_blocks_are_shipped_and_stay_bad(void)
{
	struct fb_params p = sample_large_chip();
	struct fb_medium *m;
	u32 block, bad = 0, count = 0;

	p.factory_bad_blocks = 3;
	m = new_medium(&p);
	for (block = 0; block < 8; block++)
		if (fb_chip_bad_from_factory(m, block)) {
			bad = block;
			count++;
		}
	CHECK_EQUAL(3, count);
	CHECK(!fb_chip_bad_from_factory(m, 0));
	CHECK(!fb_chip_bad_from_factory(m, 8));
	CHECK_EQUAL(2048, fb_chip_bad_mark_column(&p));
	CHECK_EQUAL(2000000, fb_chip_erase(m, bad, 0));
	CHECK(fb_chip_status(m, 2000000).failed);
	CHECK_EQUAL(1, fb_medium_counters(m)->erase_failures);
	CHECK_EQUAL(3, fb_medium_wear(m).factory_bad_blocks);
	CHECK_EQUAL(0, fb_medium_wear(m).grown_bad_blocks);
	CHECK_EQUAL(5, fb_medium_wear(m).blocks);
	CHECK(!fb_verify(m));
	free(m);
	p = sample_chip();
	CHECK_EQUAL(512 + 5, fb_chip_bad_mark_column(&p));
}

/* At its endurance every erase fails with 10^9 of 10^9; before its first it never does */
static void failures_show_in_the_status(void)
{
	struct fb_params p = sample_large_chip();
	struct fb_medium *m;
	u64 now_ns = 0;

	p.endurance_erases = 1;
	p.erase_fail_ppb = 1000000000;
	m = new_medium(&p);
	now_ns = fb_chip_erase(m, 1, now_ns);
	CHECK(!fb_chip_status(m, now_ns).failed);
	now_ns = fb_chip_erase(m, 1, now_ns);
	CHECK(fb_chip_status(m, now_ns).failed);
	CHECK_EQUAL(1, fb_medium_wear(m).grown_bad_blocks);
	CHECK_EQUAL(p.blocks_per_die, fb_blocks(m));
	CHECK_EQUAL(2, fb_block_erases(m, 1));
	CHECK_EQUAL(0, fb_block_erases(m, 2));
	/* It stays bad; of a cached program, the one before shows in the other bit */
	now_ns = program_page_cached(m, 64, now_ns);
	now_ns = program_page(m, 2 * 64, now_ns);
	CHECK(!fb_chip_status(m, now_ns).failed);
	CHECK(fb_chip_status(m, now_ns).failed_before);
	CHECK_EQUAL(1, fb_medium_counters(m)->program_failures);
	now_ns = reset_chip(m, now_ns);
	CHECK(!fb_chip_status(m, now_ns).failed_before);
	CHECK(!fb_verify(m));
	free(m);
}

/* 100 wrong bits of a million, 16,384 bits a page: 1.6384 a page; over 1,000 pages 1,638 +- 4 * 40 */
static void wrong_bits_are_as_many_as_they_should_be(void)
{
	struct fb_params p = sample_large_chip();
	struct fb_medium *m;
	u32 positions[64], again[64], few[2], page, i, j;
	u64 sum = 0;

	p.capacity_bytes = 2048 * 64 * 16;
	p.blocks_per_die = 16;
	p.ecc_bits = 1;
	p.bit_error_ppt = 100000000;
	m = new_medium(&p);
	CHECK_EQUAL(0, fb_chip_flips(m, 0, positions, 64));	/* erased */
	for (page = 0; page < 1000; page++) {
		u32 count;

		program_page(m, page, page * 300000);
		count = fb_chip_flips(m, page, positions, 64);
		CHECK_EQUAL(count, fb_chip_flips(m, page, again, 64));
		CHECK(!memcmp(positions, again, count * sizeof(u32)));
		for (i = 0; i < count; i++) {
			CHECK(positions[i] < 16384);
			for (j = 0; j < i; j++)
				CHECK(positions[i] != positions[j]);
		}
		if (count > 2) {
			CHECK_EQUAL(2, fb_chip_flips(m, page, few, 2));
			CHECK(!memcmp(positions, few, sizeof(few)));
		}
		sum += count;
	}
	CHECK(sum > 1638 - 160 && sum < 1638 + 160);
	CHECK(fb_medium_counters(m)->wrong_bits >= 2 * sum);
	free(m);
}

/* What was wrong stays wrong; age adds to it */
static void age_adds_wrong_bits(void)
{
	struct fb_params p = sample_large_chip();
	struct fb_medium *m;
	u32 young[256], old[256], page, young_count, old_count, sum = 0;

	p.ecc_bits = 1;
	p.bit_error_ppt = 50000000;
	p.endurance_erases = 1;
	p.year_bit_error_ppt = 500000000;
	m = new_medium(&p);
	fb_chip_erase(m, 0, 0);
	for (page = 0; page < 64; page++)
		program_page(m, page, 3000000 + page * 300000);
	for (page = 0; page < 64; page++) {
		young_count = fb_chip_flips(m, page, young, 256);
		fb_age(m, page ? 0 : 365);
		old_count = fb_chip_flips(m, page, old, 256);
		CHECK(old_count >= young_count);
		CHECK(!memcmp(young, old, young_count * sizeof(u32)));
		sum += old_count;
	}
	/* 0.00005 + 0.0005 * 365/365.25 of 16,384 bits: 9.0 a page, 576 on 64 */
	CHECK(sum > 576 - 96 && sum < 576 + 96);
	free(m);
}

const struct test chip_faults_tests[] = {
	TEST(bad_blocks_are_shipped_and_stay_bad),
	TEST(failures_show_in_the_status),
	TEST(wrong_bits_are_as_many_as_they_should_be),
	TEST(age_adds_wrong_bits),
	END_OF_TESTS,
};
