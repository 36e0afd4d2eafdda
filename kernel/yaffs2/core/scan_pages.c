// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scans one block: from its summary if it has one, else by the tags of each page. A driver that
 * continues a half-written block leaves gaps in the summary: there the page's own tags are used.
 */
#include "scan.h"

static int scan_gap(struct y2_fs *fs, struct y2_scan *scan, struct y2_scan_block *found, u32 page)
{
	u32 chunk = found->number * fs->geometry.chunks_per_block + page;
	struct y2_scan_page *at = &scan->pages[page];

	at->result = y2_chunk_read(fs, chunk, NULL, &at->tags);
	if (at->result < 0)
		return at->result;
	return y2_scan_page_counts(fs, scan, found, page) ?
		       y2_scan_chunk(fs, scan, chunk, &at->tags) :
		       0;
}

static int scan_by_summary(struct y2_fs *fs, struct y2_scan *scan, struct y2_scan_block *found)
{
	struct y2_block *block = &fs->blocks[found->number];
	u32 first = found->number * fs->geometry.chunks_per_block;
	int err = 0;

	fs->stats.summaries_used++;
	block->written = (u16)fs->geometry.chunks_per_block;
	for (u32 page = fs->data_chunks; page-- > 0 && !err;) {
		const u8 *entry =
			fs->summary + Y2_SUMMARY_HEAD_BYTES + page * Y2_SUMMARY_ENTRY_BYTES;
		struct y2_tags tags;

		y2_tags_from_words(block->seq, get_unaligned_le32(entry),
				   get_unaligned_le32(entry + 4), get_unaligned_le32(entry + 8),
				   &tags);
		err = tags.object ? y2_scan_chunk(fs, scan, first + page, &tags) :
				    scan_gap(fs, scan, found, page);
	}
	block->written = (u16)fs->data_chunks;
	return err;
}

/* The last page that is not blank shows how far the block was written */
static int read_tags(struct y2_fs *fs, struct y2_scan *scan, u32 number)
{
	struct y2_block *block = &fs->blocks[number];

	for (u32 page = 0; page < fs->geometry.chunks_per_block; page++) {
		struct y2_scan_page *at = &scan->pages[page];

		at->result = y2_chunk_read(fs, number * fs->geometry.chunks_per_block + page, NULL,
					   &at->tags);
		if (at->result < 0)
			return at->result;
		if (!y2_is_readable(at->result) || at->tags.used)
			block->written = (u16)(page + 1);
	}
	return 0;
}

/* A summary with a lost page is no obsolete data either */
static void leave_out_summary(const struct y2_fs *fs, const struct y2_scan *scan,
			      struct y2_block *block)
{
	while (block->written > fs->data_chunks) {
		const struct y2_tags *last = &scan->pages[block->written - 1].tags;

		if (last->used && (last->object != Y2_ID_SUMMARY || !last->chunk))
			break;
		block->written--;
	}
}

static int scan_by_tags(struct y2_fs *fs, struct y2_scan *scan, struct y2_scan_block *found)
{
	struct y2_block *block = &fs->blocks[found->number];
	u32 first = found->number * fs->geometry.chunks_per_block;
	int err = read_tags(fs, scan, found->number);

	if (err)
		return err;
	fs->stats.blocks_scanned++;
	if (y2_scan_is_half_erased(fs, scan, found)) {
		block->state = Y2_BLOCK_DIRTY;
		return 0;
	}
	for (u32 page = block->written; page-- > 0;) {
		const struct y2_tags *tags = &scan->pages[page].tags;

		if (!y2_scan_page_counts(fs, scan, found, page)) {
			y2_scan_skip_torn(fs, scan, found, page);
			continue;
		}
		err = fs->yaffs1 ? y2_scan_yaffs1_chunk(fs, first + page, tags) :
				   y2_scan_chunk(fs, scan, first + page, tags);
		if (err)
			return err;
	}
	if (!fs->yaffs1)
		leave_out_summary(fs, scan, block);
	return 0;
}

int y2_scan_pages(struct y2_fs *fs, struct y2_scan *scan, struct y2_scan_block *found)
{
	if (y2_summary_read(fs, found->number, found->seq))
		return scan_by_summary(fs, scan, found);
	return scan_by_tags(fs, scan, found);
}
