/* SPDX-License-Identifier: Apache-2.0 */
/* How large files are, and how much a read or a write of a file moves: the published tables, as data. 1 KB is 1024. */
#ifndef SIZES_H
#define SIZES_H

#include <stdint.h>

#include "random.h"

enum {
	SIZE_CLASSES = 10,
	TRANSFER_CLASSES = 6,
	BLOCK_KB = 8, /* what one call moves at most */
	FRAGMENT_KB = 7, /* a fragment is 1 KB to this */
};

struct size_class {
	uint32_t kb;
	uint8_t percent; /* of the files */
};

struct transfer_class {
	uint8_t percent; /* of the reads or writes of files, which are one call or more */
	uint8_t blocks;
	uint8_t fragment; /* 1: and a fragment behind them */
};

/* Ascending; 100 % in all */
extern const struct size_class size_classes[SIZE_CLASSES];
/* Percentages of calls make no sense here: a transfer of 16 blocks and a fragment is 17 calls */
extern const struct transfer_class read_classes[TRANSFER_CLASSES], write_classes[TRANSFER_CLASSES];

/* How much is moved, KB */
uint32_t transfer_draw(const struct transfer_class *classes, struct random *random);

/* Calls that a transfer takes */
uint32_t transfer_calls(uint32_t kb);

/* Calls that 100 transfers take on average */
uint32_t transfer_calls_of_100(const struct transfer_class *classes);

#endif
