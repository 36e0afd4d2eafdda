// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a power cut has left half programmed or half erased. A code that corrects one bit takes any odd number of wrong bits
 * for one, so such a page often looks corrected, with other content, and now and then its tags do. That a sound page needs a
 * correction is rare, and rarer still where it would be taken for a torn one here.
 *
 * Torn programs: each mount begins a new block, so a torn page is the last of its block. There, what was corrected does not
 * count if the block is not full or is the newest. A full block is emptied before it ceases to be the newest.
 *
 * Torn erases: the block holds nothing of use. Its tags may have turned into others, but then the data beside them is not
 * right either; and of the marks on pages of 512 bytes one bit may have gone.
 */
#include "scan.h"

#define MANY_HALF_MARKS	4u	/* assumed; cuts in the midst of a mark leave one at a time, which the next mount completes */

static int read_data(struct y2_fs *fs, struct y2_scan_block *found, u32 page)
{
	return y2_page_read(fs, found->number * fs->geometry.chunks_per_block + page, fs->page, NULL);
}

/* No wrong bit in all that was written of the block */
static bool is_clean(struct y2_fs *fs, struct y2_scan_block *found)
{
	u32 page = fs->blocks[found->number].written;

	while (page && read_data(fs, found, page - 1) == Y2_READ_CLEAN)
		page--;
	return !page;
}

static bool last_counts(struct y2_fs *fs, struct y2_scan_block *found, int of_tags, int of_data)
{
	if (of_tags == Y2_READ_CLEAN && of_data == Y2_READ_CLEAN)
		return true;
	if (fs->blocks[found->number].written < fs->geometry.chunks_per_block)
		return false;
	if (!fs->small && found->seq != fs->seq && !fs->blocks[found->number].last_torn)
		return true;
	if (!fs->small) {
		fs->doubted = found->number;
		return false;
	}
	found->last_in_doubt = true;	/* which block is the newest cannot be known */
	return false;
}

bool y2_scan_page_counts(struct y2_fs *fs, struct y2_scan *scan, struct y2_scan_block *found, u32 page)
{
	const struct y2_scan_page *at = &scan->pages[page];
	bool last = page + 1 == fs->blocks[found->number].written;
	int of_data;

	if (!y2_is_readable(at->result) || !at->tags.used || at->tags.seq != found->seq)
		return false;
	if (!last && (at->result == Y2_READ_CLEAN || fs->options.inband_tags) && !at->tags.half_marked)
		return true;
	of_data = read_data(fs, found, page);
	if (!y2_is_readable(of_data))
		return false;
	if (at->tags.half_marked)
		return is_clean(fs, found);
	if (!fs->options.inband_tags && at->result == Y2_READ_FIXED && of_data == Y2_READ_FIXED)
		return false;
	return !last || last_counts(fs, found, at->result, of_data);
}

/* In-band tags are under the data's ECC; elsewhere, a page with a wrong bit in its tags only is a sound one */
static bool is_wrong(struct y2_fs *fs, struct y2_scan_block *found, u32 page, int of_tags)
{
	if (of_tags != Y2_READ_FIXED || fs->options.inband_tags || fs->small)
		return of_tags != Y2_READ_CLEAN;
	return read_data(fs, found, page) != Y2_READ_CLEAN;
}

/* One page of a block may be torn, but of a torn erase all are */
bool y2_scan_is_half_erased(struct y2_fs *fs, const struct y2_scan *scan, struct y2_scan_block *found)
{
	u32 written = fs->blocks[found->number].written, half_marked = 0, wrong = 0;

	for (u32 page = 0; page < written; page++) {
		half_marked += scan->pages[page].tags.half_marked;
		wrong += is_wrong(fs, found, page, scan->pages[page].result);
	}
	return half_marked >= MANY_HALF_MARKS || (!fs->small && wrong > written / 2 && wrong > 1);
}
