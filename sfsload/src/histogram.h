/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram of times in ns: exact up to 127 ns, then with 64 bins for each power of two */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stdint.h>

enum {
	HISTOGRAM_BITS = 6,
	HISTOGRAM_STEPS = 1 << HISTOGRAM_BITS,
	HISTOGRAM_BINS = (64 - HISTOGRAM_BITS + 1) * HISTOGRAM_STEPS,
};

struct histogram {
	uint64_t count, sum_ns, longest_ns; /* exact */
	uint32_t bins[HISTOGRAM_BINS];
};

void histogram_add(struct histogram *histogram, uint64_t ns);
void histogram_merge(struct histogram *into, const struct histogram *from);

uint32_t histogram_bin(uint64_t ns);
/* The longest time in a bin */
uint64_t histogram_upper(uint32_t bin);

/* The percentile, rounded up to the end of its bin, at most the longest time; 0 if there are none */
uint64_t histogram_percentile(const struct histogram *histogram, uint32_t thousandths);

/* 0 if there are none */
uint64_t histogram_mean(const struct histogram *histogram);

#endif
