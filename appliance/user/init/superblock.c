// SPDX-License-Identifier: Apache-2.0
/* Places and fields as md(4) and Linux's include/uapi/linux/raid/md_p.h have them */
#include "superblock.h"

#include <string.h>
#include <unistd.h>

enum { RESERVED = 65536, HEAD = 1 << 20, TAIL = 2 * RESERVED, PART = 4096, WORD = 4 };
/* Where the four parts of an array's number are in a superblock of 0.90, in words, and the whole of it in one of 1.x */
static const unsigned words_of_number[] = { 5, 13, 14, 15 };
enum { NUMBER_AT = 16 };

static const uint32_t MAGIC = 0xa92b4efc;

static bool magic_at(int file, uint64_t at)
{
	uint32_t found;

	return pread(file, &found, sizeof found, (off_t)at) == sizeof found && found == MAGIC;
}

static bool take(int file, uint64_t at, int major, int minor, struct superblock *found)
{
	found->major = major;
	found->minor = minor;
	if (major)
		return pread(file, found->array, SUPERBLOCK_ARRAY, (off_t)at + NUMBER_AT) == SUPERBLOCK_ARRAY;
	for (int i = 0; i < 4; i++) {
		off_t word = (off_t)(at + WORD * words_of_number[i]);

		if (pread(file, found->array + WORD * i, WORD, word) != WORD)
			return false;
	}
	return true;
}

/* 0.90 lies in the last whole 64 KiB but one; 1.0 8 KiB or more before the end, 1.1 at the start, 1.2 4 KiB behind */
bool superblock_of(int file, uint64_t bytes, struct superblock *found)
{
	uint64_t old = (bytes & ~(uint64_t)(RESERVED - 1)) - RESERVED;
	uint64_t at_the_end = ((bytes / 512 - 16) & ~(uint64_t)7) * 512;

	if (bytes < 2 * RESERVED)
		return false;
	if (magic_at(file, old))
		return take(file, old, 0, 90, found);
	if (magic_at(file, at_the_end))
		return take(file, at_the_end, 1, 0, found);
	if (magic_at(file, 0))
		return take(file, 0, 1, 1, found);
	return magic_at(file, 4096) && take(file, 4096, 1, 2, found);
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
