// SPDX-License-Identifier: Apache-2.0
/* The histogram: each time is in its bin, bins have no gaps or overlaps, percentiles equal those of a sorted list */
#include <stdlib.h>

#include "histogram.h"
#include "random.h"
#include "test.h"

static void test_bins_follow_each_other(void)
{
	for (uint32_t bin = 0; bin < HISTOGRAM_BINS; bin++) {
		uint64_t upper = histogram_upper(bin);

		CHECK_EQUAL(bin, histogram_bin(upper));
		if (bin + 1 < HISTOGRAM_BINS)
			CHECK_EQUAL(bin + 1, histogram_bin(upper + 1));
	}
	CHECK_EQUAL(UINT64_MAX, histogram_upper(HISTOGRAM_BINS - 1));
	for (uint64_t ns = 0; ns < 128; ns++)
		CHECK_EQUAL(ns, histogram_upper(histogram_bin(ns)));
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void test_percentiles_are_those_of_the_sorted_times(void)
{
	static const uint32_t thousandths[] = { 1, 500, 900, 950, 990, 999, 1000 };
	static struct histogram histogram, halves[2];
	static uint64_t times[9973];
	struct random random;
	uint64_t sum = 0;

	random_start(&random, 1, 1);
	for (size_t i = 0; i < COUNT_OF(times); i++) {
		times[i] = random_exponential(&random, 3000000);
		sum += times[i];
		histogram_add(&halves[i % 2], times[i]);
	}
	histogram_merge(&histogram, &halves[0]);
	histogram_merge(&histogram, &halves[1]);
	qsort(times, COUNT_OF(times), sizeof(*times), by_size);
	CHECK_EQUAL(COUNT_OF(times), histogram.count);
	CHECK_EQUAL(sum / COUNT_OF(times), histogram_mean(&histogram));
	CHECK_EQUAL(times[COUNT_OF(times) - 1], histogram.longest_ns);
	for (size_t i = 0; i < COUNT_OF(thousandths); i++) {
		uint64_t at = times[(COUNT_OF(times) * thousandths[i] + 999) / 1000 - 1];
		uint64_t told = histogram_percentile(&histogram, thousandths[i]);

		CHECKF(told >= at && told <= at + at / 64, "%u: %" PRIu64 ", not %" PRIu64, thousandths[i], told, at);
	}
	CHECK_EQUAL(histogram.longest_ns, histogram_percentile(&histogram, 1000));
}

static void test_nothing_was_measured(void)
{
	static const struct histogram histogram;

	CHECK_EQUAL(0, histogram_mean(&histogram));
	CHECK_EQUAL(0, histogram_percentile(&histogram, 500));
}

const struct test histogram_tests[] = {
	TEST(test_bins_follow_each_other),
	TEST(test_percentiles_are_those_of_the_sorted_times),
	TEST(test_nothing_was_measured),
	END_OF_TESTS,
};
