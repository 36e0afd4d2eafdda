/* SPDX-License-Identifier: Apache-2.0 */
/* What share of the calls each operation has: published mixes, as data */
#ifndef MIX_H
#define MIX_H

#include <stdint.h>

#include "ops.h"

struct mix {
	const char *name; /* as --mix takes it */
	uint32_t version; /* of NFS */
	uint8_t percent[MIX_OPS]; /* of all calls; the sum is 100 */
};

/* NULL: there is none of this name */
const struct mix *mix_find(const char *name);

/* The one that stands for a version of NFS */
const struct mix *mix_of_version(uint32_t version);

/* The number-th mix, or NULL behind the last */
const struct mix *mix_number(unsigned int number);

#endif
