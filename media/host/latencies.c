// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Request latencies and their percentiles */
#include "latencies.h"

static void swap(u64 *a, u64 *b)
{
	u64 kept = *a;

	*a = *b;
	*b = kept;
}

static u64 middle_of(u64 a, u64 b, u64 c)
{
	if (a > b)
		swap(&a, &b);
	return c < a ? a : c > b ? b : c;
}

/* Hoare's selection: moves to value[rank] what sorting would put there */
static u64 select(u64 *value, size_t count, size_t rank)
{
	size_t low = 0, high = count - 1;

	while (low < high) {
		u64 pivot = middle_of(value[low], value[low + (high - low) / 2], value[high]);
		size_t i = low, j = high;

		for (;;) {
			while (value[i] < pivot)
				i++;
			while (value[j] > pivot)
				j--;
			if (i >= j)
				break;
			swap(&value[i++], &value[j--]);
		}
		/*
		 * No value left of i exceeds the pivot, and none right of j is below it; if they met, value[i] is the
		 * pivot
		 */
		if (i == j && rank == i)
			break;
		if (rank < i)
			high = i == j ? j - 1 : j;
		else
			low = i == j ? i + 1 : i;
	}
	return value[rank];
}

u64 latencies_percentile(struct latencies *l, unsigned int of_10000)
{
	size_t rank = (l->count * of_10000 + 9999) / 10000;

	return l->count ? select(l->ns, l->count, rank ? rank - 1 : 0) : 0;
}
