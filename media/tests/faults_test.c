// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* How often NAND fails, against the closed form, by hand and by statistics */
#include <math.h>

#include "nand_faults.h"
#include "samples.h"
#include "test.h"

static struct fb_params worn(u64 endurance_erases)
{
	struct fb_params p = sample_flash();

	p.endurance_erases = endurance_erases;
	p.seed = 7;
	return p;
}

/* Of so many draws with the odds, no more than five standard deviations from what is expected */
static void within_five_deviations(double seen, double draws, double odds)
{
	double deviation = sqrt(draws * odds * (1 - odds));

	CHECK(fabs(seen - draws * odds) <= 5 * deviation + 1);
}

static void exponentials_are_right(void)
{
	u32 x;

	CHECK_EQUAL(1ull << 36, fb_faults_exp(0));
	for (x = 0; x <= 8u << 24; x += 99991) {
		double expected = exp(-(double)x / (1 << 24)) * (1ull << 36);

		CHECK(fabs((double)fb_faults_exp(x) - expected) < 64);
	}
}

/* The first block never, each other one alike often, and always as many as asked for */
static void factories_ship_so_many_bad_blocks(void)
{
	enum { BLOCKS = 41, BAD = 8, DIES = 20000 };
	struct fb_params p = worn(0);
	u32 times[BLOCKS] = { 0 };
	u32 die, i;

	for (die = 0; die < DIES; die++) {
		struct fb_nand_block blocks[BLOCKS] = { 0 };
		u32 bad = 0;

		fb_faults_ship(&p, die, blocks, BLOCKS, BAD);
		for (i = 0; i < BLOCKS; i++) {
			bad += blocks[i].flags == FB_BLOCK_FACTORY_BAD;
			times[i] += blocks[i].flags == FB_BLOCK_FACTORY_BAD;
		}
		CHECK_EQUAL(BAD, bad);
	}
	CHECK_EQUAL(0, times[0]);
	for (i = 1; i < BLOCKS; i++)
		within_five_deviations(times[i], DIES, (double)BAD / (BLOCKS - 1));
}

static void another_seed_ships_other_blocks(void)
{
	struct fb_params p = worn(0);
	struct fb_nand_block of[3][256] = { 0 };

	fb_faults_ship(&p, 0, of[0], 256, 20);
	fb_faults_ship(&p, 0, of[1], 256, 20);
	p.seed++;
	fb_faults_ship(&p, 0, of[2], 256, 20);
	CHECK(!memcmp(of[0], of[1], sizeof(of[0])));
	CHECK(memcmp(of[0], of[2], sizeof(of[0])));
	memset(of[2], 0, sizeof(of[2]));
	fb_faults_ship(&p, 1, of[2], 256, 20);
	CHECK(memcmp(of[0], of[2], sizeof(of[0])));
}

static double failing(const struct fb_params *p, u32 erases, u32 draws, bool erase)
{
	u32 failures = 0;
	u32 i;

	for (i = 0; i < draws; i++) {
		struct fb_fault_spot spot = { i % 4, i / 4, erases };

		failures += erase ? fb_faults_erase_fails(p, &spot) : fb_faults_program_fails(p, &spot);
	}
	return failures;
}

/* 2 % at the endurance: none when new, a quarter of it at half, all at seven times (98 %) and more */
static void failures_grow_with_the_square_of_wear(void)
{
	enum { DRAWS = 1000000 };
	struct fb_params p = worn(1000);
	u32 erase;

	p.program_fail_ppb = p.erase_fail_ppb = 20000000;
	for (erase = 0; erase < 2; erase++) {
		CHECK(!failing(&p, 0, DRAWS, erase));
		/* 500 / 1000 is 512 / 1024 */
		within_five_deviations(failing(&p, 500, DRAWS, erase), DRAWS, 0.005);
		within_five_deviations(failing(&p, 1000, DRAWS, erase), DRAWS, 0.02);
		within_five_deviations(failing(&p, 7000, DRAWS, erase), DRAWS, 0.98);
		CHECK(failing(&p, 8000, DRAWS, erase) == DRAWS);
	}
	p.program_fail_ppb = 0;
	CHECK(!failing(&p, 8000, DRAWS, false));
}

/* 10 + 20 * 1.5^2 + 1000 * 1.5 * 2 years + 7000 * 0.5 million reads */
static void bit_error_rates_by_hand(void)
{
	struct fb_params p = worn(1000);
	struct fb_nand_past past = { .programmed_hours = 100, .reads = 500000 };
	u32 erases = 1500;

	CHECK_EQUAL(0, fb_faults_bit_error_ppt(&p, erases, &past, 100 + 2 * 8766));
	p.bit_error_ppt = 10;
	p.worn_bit_error_ppt = 20;
	p.year_bit_error_ppt = 1000;
	p.read_bit_error_ppt = 7000;
	CHECK_EQUAL(10 + 45 + 3000 + 3500, fb_faults_bit_error_ppt(&p, erases, &past, 100 + 2 * 8766));
	CHECK_EQUAL(10 + 45 + 3500, fb_faults_bit_error_ppt(&p, erases, &past, 0));
	erases = 0;
	past.reads = 0;
	CHECK_EQUAL(10, fb_faults_bit_error_ppt(&p, erases, &past, 1000000));
	/* Sixteen times the endurance, and a bit in a hundred, are the most */
	p.worn_bit_error_ppt = 1000000;
	erases = 1 << 24;
	p.year_bit_error_ppt = 0;
	CHECK_EQUAL(10 + 256 * 1000000, fb_faults_bit_error_ppt(&p, erases, &past, 0));
	p.worn_bit_error_ppt = 1000000000;
	CHECK_EQUAL(10000000000ull, fb_faults_bit_error_ppt(&p, erases, &past, 0));
}

/* Mean and variance of the wrong bits in a page are both the rate times its bits; the odds of none are e^-mean */
static void wrong_bits_are_poisson(double mean)
{
	enum { DRAWS = 200000 };
	struct fb_params p = worn(0);
	u64 ppt = mean * 1e12 / (2048 * 8);
	double sum = 0, squares = 0;
	u32 i, none = 0;

	p.ecc_bits = 1000;
	for (i = 0; i < DRAWS; i++) {
		struct fb_fault_spot spot = { 0, i, 3 };
		double bits = fb_faults_bit_errors(&p, &spot, 0, ppt).bits;

		sum += bits;
		squares += bits * bits;
		none += bits == 0;
	}
	CHECK(fabs(sum / DRAWS - mean) <= 5 * sqrt(mean / DRAWS) + mean / 10000);
	/* The variance of a sample variance is (mean + 2 mean^2) / draws */
	CHECK(fabs(squares / DRAWS - sum * sum / DRAWS / DRAWS - mean) <=
	      5 * sqrt((mean + 2 * mean * mean) / DRAWS) + mean / 1000);
	within_five_deviations(none, DRAWS, exp(-mean));
}

static void wrong_bits_follow_their_rate(void)
{
	wrong_bits_are_poisson(0.001);
	wrong_bits_are_poisson(0.7);
	wrong_bits_are_poisson(5);
	wrong_bits_are_poisson(8.5);
	wrong_bits_are_poisson(60);
}

/* Two codewords with 1.5 wrong bits each in the mean: with F the odds of at most 3 in one, a page fails with 1 - F^2 */
static void codewords_fail_as_often_as_they_should(void)
{
	enum { DRAWS = 200000 };
	struct fb_params p = worn(0);
	double at_most_three = exp(-1.5) * (1 + 1.5 + 1.5 * 1.5 / 2 + 1.5 * 1.5 * 1.5 / 6);
	struct fb_nand_past past = { 0 };
	u32 i, failed = 0, retried = 0;

	p.ecc_bits = 3;
	p.bit_error_ppt = 1.5e12 / (1024 * 8);
	p.read_retries = 1;
	p.retry_bit_error_percent = 100;
	for (i = 0; i < DRAWS; i++) {
		struct fb_fault_spot spot = { 1, i, 0 };
		struct fb_faulty_read read = fb_faults_read(&p, &spot, &past, 0);

		retried += read.retries;
		failed += read.uncorrectable;
		CHECK(!read.uncorrectable || !read.corrected_bits);
		CHECK(read.corrected_bits <= 6);
	}
	within_five_deviations(retried, DRAWS, 1 - at_most_three * at_most_three);
	within_five_deviations(failed, DRAWS, pow(1 - at_most_three * at_most_three, 2));
}

/* A thousandth of all bits, 8 in a codeword; a hundredth of them after a retry */
static void retries_lower_the_rate(void)
{
	struct fb_params p = worn(0);
	struct fb_nand_past past = { 0 };
	struct fb_fault_spot spot = { 0 };
	struct fb_faulty_read read;

	p.ecc_bits = 24;
	p.bit_error_ppt = 1000000000;		/* 8 wrong bits in a codeword */
	CHECK(!fb_faults_read(&p, &spot, &past, 0).retries);
	p.ecc_bits = 1;
	p.read_retries = 3;
	p.retry_bit_error_percent = 1;
	read = fb_faults_read(&p, &spot, &past, 0);
	CHECK_EQUAL(1, read.retries);
	CHECK(!read.uncorrectable);
	p.retry_bit_error_percent = 100;
	read = fb_faults_read(&p, &spot, &past, 0);
	CHECK_EQUAL(3, read.retries);
	CHECK(read.uncorrectable);
}

const struct test faults_tests[] = {
	TEST(exponentials_are_right),
	TEST(factories_ship_so_many_bad_blocks),
	TEST(another_seed_ships_other_blocks),
	TEST(failures_grow_with_the_square_of_wear),
	TEST(bit_error_rates_by_hand),
	TEST(wrong_bits_follow_their_rate),
	TEST(codewords_fail_as_often_as_they_should),
	TEST(retries_lower_the_rate),
	END_OF_TESTS,
};
