/* SPDX-License-Identifier: Apache-2.0 */
/* The published tables of file sizes and of transfer sizes. 1 KB is 1024 bytes. */
#ifndef SIZES_H
#define SIZES_H

#include <stdint.h>

#include "random.h"

enum {
	SIZE_CLASSES = 10,
	TRANSFER_CLASSES = 6,
	BLOCK_KB = 8, /* the maximum of one call */
	FRAGMENT_KB = 7, /* a fragment has 1 KB to this */
};

struct size_class {
	uint32_t kb;
	uint8_t percent; /* of the files */
};

struct transfer_class {
	uint8_t percent; /* of the file reads or writes, which have one call or more */
	uint8_t blocks;
	uint8_t fragment; /* 1: plus a fragment */
};

/* In ascending order; 100 % in all */
extern const struct size_class size_classes[SIZE_CLASSES];
/* The percentages are not of calls: a transfer of 16 blocks and a fragment has 17 calls */
extern const struct transfer_class read_classes[TRANSFER_CLASSES], write_classes[TRANSFER_CLASSES];

/* Draws the size of a transfer, in KB */
uint32_t transfer_draw(const struct transfer_class *classes, struct random *random);

/* The number of calls of a transfer */
uint32_t transfer_calls(uint32_t kb);

/* The average number of calls of 100 transfers */
uint32_t transfer_calls_of_100(const struct transfer_class *classes);

#endif
