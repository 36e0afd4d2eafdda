// SPDX-License-Identifier: Apache-2.0
/* A histogram with logarithmic bins */
#include "histogram.h"

uint32_t histogram_bin(uint64_t ns)
{
	uint32_t shift;

	if (ns < HISTOGRAM_STEPS)
		return (uint32_t)ns;
	shift = 63 - (uint32_t)__builtin_clzll(ns) - HISTOGRAM_BITS;
	return (shift + 1) * HISTOGRAM_STEPS + (uint32_t)(ns >> shift) % HISTOGRAM_STEPS;
}

uint64_t histogram_upper(uint32_t bin)
{
	uint32_t shift;

	if (bin < HISTOGRAM_STEPS)
		return bin;
	shift = bin / HISTOGRAM_STEPS - 1;
	return ((uint64_t)(HISTOGRAM_STEPS + bin % HISTOGRAM_STEPS) << shift) + ((UINT64_C(1) << shift) - 1);
}

void histogram_add(struct histogram *histogram, uint64_t ns)
{
	histogram->count++;
	histogram->sum_ns += ns;
	if (ns > histogram->longest_ns)
		histogram->longest_ns = ns;
	histogram->bins[histogram_bin(ns)]++;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	into->count += from->count;
	into->sum_ns += from->sum_ns;
	if (from->longest_ns > into->longest_ns)
		into->longest_ns = from->longest_ns;
	for (uint32_t bin = 0; bin < HISTOGRAM_BINS; bin++)
		into->bins[bin] += from->bins[bin];
}

uint64_t histogram_percentile(const struct histogram *histogram, uint32_t thousandths)
{
	uint64_t wanted = (histogram->count * thousandths + 999) / 1000, seen = 0, upper;

	for (uint32_t bin = 0; bin < HISTOGRAM_BINS; bin++) {
		seen += histogram->bins[bin];
		if (seen && seen >= wanted) {
			upper = histogram_upper(bin);
			return upper < histogram->longest_ns ? upper : histogram->longest_ns;
		}
	}
	return 0;
}

uint64_t histogram_mean(const struct histogram *histogram)
{
	return histogram->count ? histogram->sum_ns / histogram->count : 0;
}
