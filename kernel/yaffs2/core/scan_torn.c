// SPDX-License-Identifier: GPL-2.0-only
/*
 * Half-programmed and half-erased pages after a power cut. A code that corrects one bit takes any
 * odd number of wrong bits for one. So such a page often looks corrected, with other content, and
 * sometimes its tags do too. A sound page rarely needs a correction, and even more rarely where it
 * would be taken for torn here.
 *
 * Torn programs: each mount begins a new block, so a torn page is the last of its block. There, a
 * corrected page does not count if the block is not full or is the newest. A full block is emptied
 * before it ceases to be the newest.
 *
 * Torn erases: the block holds nothing of use. Its tags may have turned into others, but then the
 * data beside them is wrong too. Of the marks on pages of 512 bytes, one bit may be lost.
 */
#include "scan.h"

#define LOST_PART \
	4u /* of a torn erase's wrong pages, one in so many is uncorrectable; assumed */
#define MANY_HALF_MARKS \
	4u /* assumed; a cut during a mark leaves one at a time, which the next mount completes */

static int read_data(struct y2_fs *fs, struct y2_scan_block *found, u32 page)
{
	return y2_chunk_read(fs, found->number * fs->geometry.chunks_per_block + page, fs->page,
			     NULL);
}

/* True if no written page of the block has a wrong bit */
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
	if (!fs->yaffs1 && found->seq != fs->seq && !fs->blocks[found->number].last_torn)
		return true;
	if (!fs->yaffs1) {
		fs->torn_full = found->number;
		return false;
	}
	found->last_maybe_torn = true;	/* the newest block is unknown */
	return false;
}

bool y2_scan_page_counts(struct y2_fs *fs, struct y2_scan *scan, struct y2_scan_block *found,
			 u32 page)
{
	const struct y2_scan_page *at = &scan->pages[page];
	bool last = page + 1 == fs->blocks[found->number].written;
	int of_data;

	if (!y2_is_readable(at->result) || !at->tags.used || at->tags.seq != found->seq)
		return false;
	if (!last && (at->result == Y2_READ_CLEAN || fs->options.inband_tags) &&
	    !at->tags.half_marked)
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

/*
 * Another driver may continue this block behind the torn page, which then is no longer the last. So
 * the page gets a mark, or a newer block is begun.
 */
void y2_scan_skip_torn(struct y2_fs *fs, const struct y2_scan *scan, struct y2_scan_block *found,
		       u32 page)
{
	const struct y2_scan_page *at = &scan->pages[page];
	u32 written = fs->blocks[found->number].written;

	if (page + 1 != written || at->tags.marked || found->last_maybe_torn)
		return;
	if (fs->yaffs1 && y2_is_readable(at->result) && at->tags.used && !at->tags.half_marked)
		y2_scan_yaffs1_dismiss(fs, found->number * fs->geometry.chunks_per_block + page);
	else if (!fs->yaffs1 && found->seq == fs->seq && written < fs->geometry.chunks_per_block)
		fs->torn_newest = found->number;
}

/*
 * In-band tags are under the data's ECC; elsewhere, a page with a wrong bit in its tags only is
 * sound
 */
static bool is_wrong(struct y2_fs *fs, struct y2_scan_block *found, u32 page, int of_tags)
{
	if (of_tags != Y2_READ_FIXED || fs->options.inband_tags)
		return of_tags != Y2_READ_CLEAN;
	return read_data(fs, found, page) != Y2_READ_CLEAN;
}

/*
 * At most one page of a block is torn by a program. A torn erase tears all of them, some beyond
 * correction. In-band tags are wrong as soon as any bit of the page is: if all are correctable, the
 * flash is only worn.
 */
static bool most_are_torn(const struct y2_fs *fs, u32 wrong, u32 lost, u32 written)
{
	return wrong > written / 2 && wrong > 1 &&
	       (!fs->options.inband_tags || lost * LOST_PART >= wrong);
}

/* True if its tags are right and no mark was ever begun on it */
static bool seems_to_live(const struct y2_scan_page *at)
{
	return at->result == Y2_READ_CLEAN && at->tags.used && !at->tags.marked &&
	       !at->tags.half_marked && !at->tags.unused_clear;
}

/*
 * Some pages are marked and others are not: either the others live, or all were marked and the
 * erase has begun. In the latter case most data is wrong, and some of it beyond correction. A live
 * page of ours proves that no erase has begun; an unmarked page beside it is a torn mark, or left
 * by another driver. In a torn erase, tags that seem live are rare, fewer than wrong ones, and data
 * beside them is never right.
 */
static bool marks_are_torn(struct y2_fs *fs, const struct y2_scan *scan,
			   struct y2_scan_block *found, u32 written)
{
	u32 wrong = 0, lost = 0, wrong_tags = 0, living = 0;

	for (u32 page = 0; page < written; page++) {
		bool lives = seems_to_live(&scan->pages[page]);
		int result = read_data(fs, found, page);

		wrong += result != Y2_READ_CLEAN;
		lost += !y2_is_readable(result);
		wrong_tags += scan->pages[page].result != Y2_READ_CLEAN;
		living += lives;
		if ((lives && result == Y2_READ_CLEAN) || page + 1 - wrong > written / 2)
			return false;
	}
	return wrong > 1 && lost * LOST_PART >= wrong && (!living || living < wrong_tags);
}

static bool is_yaffs1_half_erased(struct y2_fs *fs, const struct y2_scan *scan,
				  struct y2_scan_block *found)
{
	u32 written = fs->blocks[found->number].written, half_marked = 0, marked = 0, unclean = 0;

	for (u32 page = 0; page < written; page++) {
		const struct y2_scan_page *at = &scan->pages[page];

		half_marked += at->tags.half_marked;
		marked += at->tags.marked;
		unclean += at->result != Y2_READ_CLEAN || at->tags.unused_clear;
	}
	return half_marked >= MANY_HALF_MARKS ||
	       (marked && unclean && marks_are_torn(fs, scan, found, written));
}

bool y2_scan_is_half_erased(struct y2_fs *fs, const struct y2_scan *scan,
			    struct y2_scan_block *found)
{
	u32 written = fs->blocks[found->number].written, wrong = 0, lost = 0;

	if (fs->yaffs1)
		return is_yaffs1_half_erased(fs, scan, found);
	for (u32 page = 0; page < written; page++) {
		lost += !y2_is_readable(scan->pages[page].result);
		wrong += is_wrong(fs, found, page, scan->pages[page].result);
	}
	return most_are_torn(fs, wrong, lost, written);
}
