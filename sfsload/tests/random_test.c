// SPDX-License-Identifier: Apache-2.0
/* Random numbers: their distribution, and that they are the same everywhere */
#include <math.h>

#include "random.h"
#include "test.h"

/* A million draws of each seed are as far from their expectation as chance has it: 4.5 standard deviations would be one
 * in 150,000, and the seeds are fixed. */
#define FAR 4.5

enum { DRAWS = 1000000 };

static void test_streams_differ_and_repeat(void)
{
	struct random a, b, c, d;

	random_start(&a, 1, 1);
	random_start(&b, 1, 1);
	random_start(&c, 1, 2);
	random_start(&d, 2, 1);
	for (int i = 0; i < 100; i++) {
		uint64_t drawn = random_u64(&a);

		CHECK_EQUAL(drawn, random_u64(&b));
		CHECK(drawn != random_u64(&c));
		CHECK(drawn != random_u64(&d));
	}
}

static void test_splitmix64_by_its_published_first_numbers(void)
{
	struct random random = { .state = 1234567 };

	CHECK_EQUAL(UINT64_C(6457827717110365317), random_u64(&random));
	CHECK_EQUAL(UINT64_C(3203168211198807973), random_u64(&random));
	CHECK_EQUAL(UINT64_C(9817491932198370423), random_u64(&random));
}

static void test_below_is_even(void)
{
	static uint32_t counts[30];
	struct random random;
	double sum = 0;

	random_start(&random, 3, 1);
	for (int i = 0; i < DRAWS; i++)
		counts[random_below(&random, 30)]++;
	for (int i = 0; i < 30; i++)
		sum += pow(counts[i] - DRAWS / 30.0, 2) / (DRAWS / 30.0);
	CHECKF(sum < 29 + FAR * sqrt(2 * 29) && sum > 29 - FAR * sqrt(2 * 29), "chi-square of 29 degrees is %g", sum);
	for (int i = 0; i < 100; i++)
		CHECK_EQUAL(0, random_below(&random, 1));
}

/* Shares below t of the mean are 1 - exp(-t); mean and variance follow */
static void test_exponential(void)
{
	static const uint64_t mean = 1000000000;
	uint64_t below[5] = { 0 };
	struct random random;
	double sum = 0, squares = 0;

	random_start(&random, 4, 1);
	for (int i = 0; i < DRAWS; i++) {
		double drawn = (double)random_exponential(&random, mean) / (double)mean;

		sum += drawn;
		squares += drawn * drawn;
		for (int t = 0; t < 5; t++)
			below[t] += drawn < t * 0.5 + 0.1;
	}
	CHECKF(fabs(sum / DRAWS - 1) < FAR / sqrt(DRAWS), "mean %g", sum / DRAWS);
	CHECKF(fabs(squares / DRAWS - 2) < FAR * sqrt(20.0 / DRAWS), "second moment %g", squares / DRAWS);
	for (int t = 0; t < 5; t++) {
		double share = 1 - exp(-(t * 0.5 + 0.1));

		CHECKF(fabs((double)below[t] / DRAWS - share) < FAR * sqrt(share * (1 - share) / DRAWS), "%g below %g",
		       (double)below[t] / DRAWS, t * 0.5 + 0.1);
	}
}

/* The logarithm is our own, in integers */
static void test_exponential_by_the_logarithm_of_the_host(void)
{
	for (uint64_t i = 0; i < 10000; i++) {
		struct random random = { .state = i * UINT64_C(0x123456789abcdef) }, again = random;
		double u = (double)random_u64(&again) / 18446744073709551616.0;
		double drawn = (double)random_exponential(&random, UINT64_C(1) << 40) / (double)(UINT64_C(1) << 40);

		CHECKF(fabs(drawn + log(u)) < 1e-7 * (1 + drawn), "%.12g, not %.12g", drawn, -log(u));
	}
}

static void test_order_holds_each_once(void)
{
	uint16_t order[100];
	uint32_t first[100] = { 0 };
	struct random random;
	double sum = 0;

	random_start(&random, 5, 1);
	for (int i = 0; i < 100000; i++) {
		bool seen[100] = { false };

		random_order(&random, order, 100);
		for (int j = 0; j < 100; j++)
			seen[order[j]] = true;
		for (int j = 0; j < 100; j++)
			CHECK(seen[j]);
		first[order[0]]++;
	}
	for (int i = 0; i < 100; i++)
		sum += pow(first[i] - 1000.0, 2) / 1000;
	CHECKF(fabs(sum - 99) < FAR * sqrt(2 * 99), "chi-square of 99 degrees is %g", sum);
}

const struct test random_tests[] = {
	TEST(test_streams_differ_and_repeat),
	TEST(test_splitmix64_by_its_published_first_numbers),
	TEST(test_below_is_even),
	TEST(test_exponential),
	TEST(test_exponential_by_the_logarithm_of_the_host),
	TEST(test_order_holds_each_once),
	END_OF_TESTS,
};
