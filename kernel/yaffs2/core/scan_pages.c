// SPDX-License-Identifier: GPL-2.0-only
/* One block of a scan: from its summary if it has one, else by the tags of each page. */
#include "scan.h"

static int scan_by_summary(struct y2_fs *fs, struct y2_scan *scan, u32 number)
{
	u32 first = number * fs->geometry.chunks_per_block;

	fs->stats.summaries_used++;
	fs->blocks[number].written = (u16)fs->geometry.chunks_per_block;
	for (u32 page = fs->data_chunks; page-- > 0;) {
		const u8 *entry = fs->summary + Y2_SUMMARY_HEAD_BYTES + page * Y2_SUMMARY_ENTRY_BYTES;
		struct y2_tags tags;
		int err;

		y2_tags_from_words(fs->blocks[number].seq, y2_get32(entry), y2_get32(entry + 4), y2_get32(entry + 8),
				   &tags);
		err = y2_scan_chunk(fs, scan, first + page, &tags);
		if (err)
			return err;
	}
	return 0;
}

/*
 * The last page that was written may be torn: tags that are right, data that is not. Only there the data is read too, and
 * all of the page is dismissed if it is beyond correction.
 */
static int scan_by_tags(struct y2_fs *fs, struct y2_scan *scan, u32 number)
{
	struct y2_block *block = &fs->blocks[number];
	u32 first = number * fs->geometry.chunks_per_block;

	fs->stats.blocks_scanned++;
	for (u32 page = fs->geometry.chunks_per_block; page-- > 0;) {
		struct y2_tags tags;
		bool last = !block->written;
		int result = y2_page_read(fs, first + page, last ? fs->page : NULL, &tags), err;

		if (result < 0 || result == Y2_READ_LOST) {
			if (last)
				block->written = (u16)(page + 1);
			continue;
		}
		if (!tags.used)
			continue;
		if (last)
			block->written = (u16)(page + 1);
		if (tags.seq != block->seq)
			continue;
		if (fs->small && result == Y2_READ_FIXED && y2_scan_small_is_torn(fs, first + page))
			continue;
		err = fs->small ? y2_scan_small_chunk(fs, first + page, &tags) :
				  y2_scan_chunk(fs, scan, first + page, &tags);
		if (err)
			return err;
	}
	return 0;
}

int y2_scan_pages(struct y2_fs *fs, struct y2_scan *scan, u32 number)
{
	if (y2_summary_read(fs, number, fs->blocks[number].seq))
		return scan_by_summary(fs, scan, number);
	return scan_by_tags(fs, scan, number);
}
