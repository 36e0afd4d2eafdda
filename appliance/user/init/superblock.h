/* SPDX-License-Identifier: Apache-2.0 */
/* Examines a disk of an array: its superblock, other content, or none. Writes nothing. */
#ifndef SUPERBLOCK_H
#define SUPERBLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { SUPERBLOCK_ARRAY = 16 };

/* Major and minor version, such as {0, 90} and {1, 2}, and the UUID of its array */
struct superblock {
	int major, minor;
	uint8_t array[SUPERBLOCK_ARRAY];
};

/* Reads the superblock of a member of `bytes` bytes. False if it has none. */
bool superblock_of(int file, uint64_t bytes, struct superblock *found);

/* True if a superblock of 0.90 can hold a member's size: it has 32 bits for the KiB */
bool superblock_may_have(uint64_t bytes);

/*
 * True if the first MiB and the last 128 KiB are zero: there is no partition table, file system, volume, or superblock
 * of another array. False if they cannot be read.
 */
bool superblock_of_none(int file, uint64_t bytes);

#endif
