/* SPDX-License-Identifier: Apache-2.0 */
/* Published mixes: the share of each operation in the calls */
#ifndef MIX_H
#define MIX_H

#include <stdint.h>

#include "ops.h"

struct mix {
	const char *name; /* as --mix takes it */
	uint32_t version; /* of NFS */
	uint8_t percent[MIX_OPS]; /* of all calls; the sum is 100 */
};

/* NULL if there is no mix of this name */
const struct mix *mix_find(const char *name);

/* The default mix of an NFS version */
const struct mix *mix_of_version(uint32_t version);

/* The number-th mix, or NULL behind the last */
const struct mix *mix_number(unsigned int number);

#endif
