// SPDX-License-Identifier: GPL-2.0-only
/*
 * Detects foreign content on the flash, or YAFFS2 with tags of another kind than the options say: a
 * mount would erase or overwrite it. Few blocks of our own lack a sequence number: a torn first
 * block, and an erase. If more blocks lack one than have one, those few have it by chance.
 */
#include "scan.h"

#define MAX_TORN	2u	/* blocks */
#define LOOKED_AT \
	16u /* blocks with blank tags; assumed: writers begin near the first block */
#define MAX_FLIPPED	8u	/* bits of a blank page, assumed */

static bool is_blank(const struct y2_fs *fs)
{
	u32 zeros = 0;

	for (u32 i = 0; i < fs->chunk_bytes && zeros <= MAX_FLIPPED; i++)
		zeros += 8 - hweight8(fs->page[i]);
	return zeros <= MAX_FLIPPED;
}

/*
 * Of the first blocks without tags in their first page, counts those with data there; or returns a
 * negative errno
 */
static int count_untagged(struct y2_fs *fs)
{
	int count = 0;

	for (u32 i = 0, looked = 0; i < fs->geometry.blocks && looked < LOOKED_AT; i++) {
		int result;

		if (fs->blocks[i].state != Y2_BLOCK_EMPTY)
			continue;
		looked++;
		result = y2_chunk_read(fs, i * fs->geometry.chunks_per_block, fs->page, NULL);
		if (result < 0)
			return result;
		count += !is_blank(fs);
	}
	return count;
}

int y2_scan_refuse_big_endian(void)
{
	y2_warn("this flash is big-endian: copy its files with the driver that wrote it, and erase it with flash_erase");
	return -EUCLEAN;
}

/* Runs after the survey. 0 or a negative errno: -EUCLEAN for foreign content */
int y2_scan_refuse_foreign(struct y2_fs *fs, struct y2_scan *scan)
{
	int untagged;

	if (scan->swapped > scan->count)
		return y2_scan_refuse_big_endian();
	untagged = scan->count ? 0 : count_untagged(fs);
	if (untagged < 0)
		return untagged;
	scan->used |= untagged;
	if (scan->without_seq + (u32)untagged <= MAX_TORN + scan->count)
		return 0;
	y2_warn("this flash holds something else, or other tags: mount it with inband-tags or tags-ecc-off, or without; or erase it with flash_erase");
	return -EUCLEAN;
}
