/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An exponentially decaying mean: each sample reduces the weight of all earlier ones by an eighth.
 *
 * In integers: a sample has the weight 4096, so the sum of the weights tends to 8 x 4096. Rounding
 * moves a mean by at most 1/5000 of itself.
 */
#ifndef IOSCHED_MEAN_H
#define IOSCHED_MEAN_H

#include "platform.h"

#define IOS_SAMPLE_WEIGHT	4096

struct ios_mean {
	u64 weight;
	u64 total;	/* of samples x their weights */
};

static inline void ios_mean_add(struct ios_mean *mean, u64 sample)
{
	mean->weight = (7 * mean->weight + 8 * IOS_SAMPLE_WEIGHT) / 8;
	mean->total = (7 * mean->total + 8 * IOS_SAMPLE_WEIGHT * sample) / 8;
}

static inline bool ios_mean_known(const struct ios_mean *mean)
{
	return mean->weight;
}

/* 0 if there was no sample yet */
static inline u64 ios_mean_value(const struct ios_mean *mean)
{
	return mean->weight ? div64_u64(mean->total + mean->weight / 2, mean->weight) : 0;
}

#endif
