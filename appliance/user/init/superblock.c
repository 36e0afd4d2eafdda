// SPDX-License-Identifier: Apache-2.0
/* Offsets and fields from md(4) and Linux's include/uapi/linux/raid/md_p.h */
#include "superblock.h"

#include <linux/types.h> /* md_p.h needs it */

#include <linux/raid/md_p.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { HEAD = 1 << 20, TAIL = 2 * MD_RESERVED_BYTES, PART = 4096, WORD = 4 };
/* The offsets of the four parts of the UUID in a superblock of 0.90 */
static const size_t parts_of_number[] = {
	offsetof(mdp_super_t, set_uuid0),
	offsetof(mdp_super_t, set_uuid1),
	offsetof(mdp_super_t, set_uuid2),
	offsetof(mdp_super_t, set_uuid3),
};

static bool magic_at(int file, uint64_t at)
{
	uint32_t found;

	return pread(file, &found, sizeof found, (off_t)at) == sizeof found && found == MD_SB_MAGIC;
}

static bool take(int file, uint64_t at, int major, int minor, struct superblock *found)
{
	off_t whole = (off_t)(at + offsetof(struct mdp_superblock_1, set_uuid));

	found->major = major;
	found->minor = minor;
	if (major)
		return pread(file, found->array, SUPERBLOCK_ARRAY, whole) == SUPERBLOCK_ARRAY;
	for (int i = 0; i < 4; i++) {
		off_t part = (off_t)(at + parts_of_number[i]);

		if (pread(file, found->array + WORD * i, WORD, part) != WORD)
			return false;
	}
	return true;
}

/*
 * 0.90 is in the last whole 64 KiB but one; 1.0 is 8 KiB or more before the end, 1.1 at the start, 1.2 4 KiB behind it
 */
bool superblock_of(int file, uint64_t bytes, struct superblock *found)
{
	uint64_t old = (bytes & ~(uint64_t)(MD_RESERVED_BYTES - 1)) - MD_RESERVED_BYTES;
	uint64_t at_the_end = ((bytes / 512 - 16) & ~(uint64_t)7) * 512;

	if (bytes < 2 * MD_RESERVED_BYTES)
		return false;
	if (magic_at(file, old))
		return take(file, old, 0, 90, found);
	if (magic_at(file, at_the_end))
		return take(file, at_the_end, 1, 0, found);
	if (magic_at(file, 0))
		return take(file, 0, 1, 1, found);
	return magic_at(file, 4096) && take(file, 4096, 1, 2, found);
}

bool superblock_may_have(uint64_t bytes)
{
	return bytes >> 10 <= UINT32_MAX;
}

static bool zeros(int file, uint64_t from, uint64_t to)
{
	static const uint8_t none[PART];
	uint8_t part[PART];

	while (from < to) {
		size_t length = to - from < PART ? (size_t)(to - from) : PART;

		if (pread(file, part, length, (off_t)from) != (ssize_t)length || memcmp(part, none, length))
			return false;
		from += length;
	}
	return true;
}

bool superblock_of_none(int file, uint64_t bytes)
{
	return zeros(file, 0, bytes < HEAD ? bytes : HEAD) && zeros(file, bytes < TAIL ? 0 : bytes - TAIL, bytes);
}
