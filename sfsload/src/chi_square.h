/* SPDX-License-Identifier: Apache-2.0 */
/* Pearson's chi-square test of counts against the shares that were asked for, at 95 % */
#ifndef CHI_SQUARE_H
#define CHI_SQUARE_H

#include <stdbool.h>
#include <stdint.h>

enum { MAX_CHI_SQUARE = 30 }; /* degrees of freedom */

struct chi_square {
	bool tested; /* there were enough counts for two groups */
	double statistic, critical; /* of 100 fair draws, 95 stay at or below critical */
	uint32_t degrees;
	bool holds;
};

/* Kinds of which fewer than five are to be expected are taken together; kinds of 0 % are not looked at.
 * There are at most MAX_CHI_SQUARE + 1 kinds. */
struct chi_square chi_square_test(const uint64_t *counts, const uint8_t *percent, uint32_t kinds);

/* Of 1 to MAX_CHI_SQUARE degrees */
double chi_square_critical(uint32_t degrees);

#endif
