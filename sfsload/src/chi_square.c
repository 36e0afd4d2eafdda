// SPDX-License-Identifier: Apache-2.0
/* The chi-square test. Critical values: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.4, 0.95. */
#include "chi_square.h"

enum { FEW = 5 };

static const double critical[MAX_CHI_SQUARE + 1] = {
	0,
	3.841, 5.991, 7.815, 9.488, 11.070, 12.592, 14.067, 15.507, 16.919, 18.307,
	19.675, 21.026, 22.362, 23.685, 24.996, 26.296, 27.587, 28.869, 30.144, 31.410,
	32.671, 33.924, 35.172, 36.415, 37.652, 38.885, 40.113, 41.337, 42.557, 43.773,
};

static double part(double count, double expected)
{
	return (count - expected) * (count - expected) / expected;
}

struct chi_square chi_square_test(const uint64_t *counts, const uint8_t *percent, uint32_t kinds)
{
	struct chi_square test = { .tested = false };
	double few_counts = 0, few_expected = 0, all = 0;
	uint32_t groups = 0;

	for (uint32_t i = 0; i < kinds; i++)
		all += percent[i] ? (double)counts[i] : 0;
	for (uint32_t i = 0; i < kinds; i++) {
		double expected = all * percent[i] / 100;

		if (!percent[i])
			continue;
		if (expected >= FEW) {
			groups++;
			test.statistic += part((double)counts[i], expected);
		} else {
			few_counts += (double)counts[i];
			few_expected += expected;
		}
	}
	if (few_expected >= FEW) {
		groups++;
		test.statistic += part(few_counts, few_expected);
	}
	if (groups < 2)
		return test;
	test.tested = true;
	test.degrees = groups - 1;
	test.critical = chi_square_critical(test.degrees);
	test.holds = test.statistic <= test.critical;
	return test;
}

double chi_square_critical(uint32_t degrees)
{
	return critical[degrees];
}
