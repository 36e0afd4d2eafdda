// SPDX-License-Identifier: Apache-2.0
/* The chi-square test, against the distribution itself, an example by hand, and fair and unfair draws */
#include <math.h>

#include "chi_square.h"
#include "random.h"
#include "test.h"

/* The chi-square distribution function at x, by the series of the lower incomplete gamma function */
static double share_up_to(double x, double degrees)
{
	double a = degrees / 2, term = 1 / a, sum = term;

	for (int n = 1; n < 500; n++) {
		term *= x / 2 / (a + n);
		sum += term;
	}
	return sum * exp(-x / 2 + a * log(x / 2) - lgamma(a));
}

static void test_critical_values_leave_five_percent(void)
{
	for (uint32_t degrees = 1; degrees <= MAX_CHI_SQUARE; degrees++) {
		double share = share_up_to(chi_square_critical(degrees), degrees);

		CHECKF(fabs(share - 0.95) < 0.0001, "%u degrees: %g", degrees, share);
	}
}

static void test_an_example_by_hand(void)
{
	static const uint8_t percent[] = { 50, 30, 20, 0 };
	static const uint64_t counts[] = { 44, 36, 20, 0 }, far[] = { 20, 40, 40, 0 };
	struct chi_square test = chi_square_test(counts, percent, 4);

	/* 36 / 50 + 36 / 30 + 0 */
	CHECK(test.tested && test.holds && test.degrees == 2);
	CHECKF(fabs(test.statistic - 1.92) < 1e-9 && fabs(test.critical - 5.991) < 1e-9, "%g", test.statistic);
	test = chi_square_test(far, percent, 4);
	CHECK(test.tested && !test.holds);
}

static void test_rare_kinds_are_taken_together(void)
{
	static const uint8_t percent[] = { 90, 3, 3, 3, 1 };
	static const uint64_t counts[] = { 90, 10, 0, 0, 0 }, few[] = { 2, 0, 0, 0, 0 };
	struct chi_square test = chi_square_test(counts, percent, 5);

	CHECK(test.tested && test.holds && test.degrees == 1);
	CHECK(test.statistic < 1e-9);
	test = chi_square_test(few, percent, 5);
	CHECK(!test.tested && !test.holds);
}

/* Of 2000 fair samples about 100 fail, by the meaning of 95 %; of those with one kind gone, all do */
static void test_it_fails_as_often_as_it_should(void)
{
	static const uint8_t percent[] = { 27, 18, 9, 11, 7, 2, 1, 1, 1, 1, 9, 7, 5, 1 };
	int failed = 0, failed_without = 0;
	struct random random;

	random_start(&random, 1, 1);
	for (int sample = 0; sample < 2000; sample++) {
		uint64_t counts[COUNT_OF(percent)] = { 0 };

		for (int i = 0; i < 1000; i++) {
			uint64_t drawn = random_below(&random, 100);
			int at = 0;

			while (drawn >= percent[at])
				drawn -= percent[at++];
			counts[at]++;
		}
		failed += !chi_square_test(counts, percent, COUNT_OF(percent)).holds;
		counts[4] = 0;
		failed_without += !chi_square_test(counts, percent, COUNT_OF(percent)).holds;
	}
	CHECKF(failed > 60 && failed < 140, "%d of 2000", failed);
	CHECK_EQUAL(2000, failed_without);
}

const struct test chi_square_tests[] = {
	TEST(test_critical_values_leave_five_percent),
	TEST(test_an_example_by_hand),
	TEST(test_rare_kinds_are_taken_together),
	TEST(test_it_fails_as_often_as_it_should),
	END_OF_TESTS,
};
