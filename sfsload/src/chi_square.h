/* SPDX-License-Identifier: Apache-2.0 */
/* Pearson's chi-square test of counts against their nominal shares, at 95 % */
#ifndef CHI_SQUARE_H
#define CHI_SQUARE_H

#include <stdbool.h>
#include <stdint.h>

enum { MAX_CHI_SQUARE = 30 }; /* degrees of freedom */

struct chi_square {
	bool tested; /* the counts sufficed for two groups */
	double statistic, critical; /* 95 of 100 fair draws are at or below critical */
	uint32_t degrees;
	bool holds;
};

/* Kinds with fewer than five expected counts are pooled; kinds of 0 % are ignored. At most MAX_CHI_SQUARE + 1 kinds. */
struct chi_square chi_square_test(const uint64_t *counts, const uint8_t *percent, uint32_t kinds);

/* For 1 to MAX_CHI_SQUARE degrees of freedom */
double chi_square_critical(uint32_t degrees);

#endif
