/* SPDX-License-Identifier: Apache-2.0 */
/* What lies on a disk that an array may have: its superblock, other things, or nothing. Nothing is written. */
#ifndef SUPERBLOCK_H
#define SUPERBLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { SUPERBLOCK_ARRAY = 16 };

/* Major and minor version, such as 0.90 as {0, 90} and 1.2 as {1, 2}, and the number of its array (UUID) */
struct superblock {
	int major, minor;
	uint8_t array[SUPERBLOCK_ARRAY];
};

/* That of a member of `bytes` bytes. False if it has none. */
bool superblock_of(int file, uint64_t bytes, struct superblock *found);

/* True if a superblock of 0.90 can say the size of a member of `bytes` bytes: it has 32 bits for its KiB */
bool superblock_may_have(uint64_t bytes);

/*
 * True if the first MiB and the last 128 KiB hold zeros only: there is neither a table of partitions, nor a file system,
 * a volume, or another array's superblock. False if it cannot be read.
 */
bool superblock_of_none(int file, uint64_t bytes);

#endif
