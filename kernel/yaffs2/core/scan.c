// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scan: a mount without checkpoint. A survey reads one page of each block for its sequence
 * number. Then blocks are scanned from the newest to the oldest, and each from its last chunk to
 * its first: of several chunks for one place, the first one found wins.
 */
#include "scan.h"

/* In-band tags have no check of their own, so other content may look like a sequence number */
static bool makes_sense(const struct y2_fs *fs, const struct y2_tags *tags)
{
	if (!tags->object || tags->object > Y2_ID_MAX)
		return false;
	if (tags->extra && (!tags->type || tags->type >= Y2_TYPES || tags->parent > Y2_ID_MAX))
		return false;
	if (!tags->chunk || tags->object == Y2_ID_SUMMARY || tags->marked)
		return true;
	return tags->chunk <= Y2_CHUNK_MAX && tags->bytes && tags->bytes <= fs->chunk_bytes;
}

static bool is_seq(u32 seq)
{
	return seq == Y2_SEQ_CHECKPOINT || (seq >= Y2_SEQ_LOWEST && seq <= Y2_SEQ_HIGHEST);
}

/*
 * The tags of the first page that has any: a torn erase may have erased the first ones, or changed
 * them into others that look corrected.
 */
static int find_seq(struct y2_fs *fs, u32 number, u32 *seq, bool *swapped)
{
	u32 first = number * fs->geometry.chunks_per_block;
	u32 best = 0;

	*seq = Y2_SEQ_UNUSED;
	*swapped = false;
	for (u32 page = 0; page < fs->geometry.chunks_per_block; page++) {
		struct y2_tags tags, other;
		int result = y2_chunk_read(fs, first + page, NULL, &tags);
		bool found = tags.used && makes_sense(fs, &tags);

		if (result < 0)
			return result;
		if (found)
			best = tags.seq;
		else if (tags.used || result == Y2_READ_UNFIXED)
			*swapped |= y2_chunk_swapped(fs, &other) && makes_sense(fs, &other) &&
				    is_seq(other.seq);
		if (found && result == Y2_READ_CLEAN)
			break;
		if (page == 0 && !tags.used && result != Y2_READ_UNFIXED)
			return 0; /* an empty block, or nearly erased: erased again before use */
	}
	*seq = best;
	return 0;
}

static int survey(struct y2_fs *fs, struct y2_scan *scan)
{
	for (u32 i = 0; i < fs->geometry.blocks; i++) {
		struct y2_block *block = &fs->blocks[i];
		bool swapped;
		u32 seq;
		int err;

		if (fs->ops->is_bad(fs->flash, i)) {
			block->state = Y2_BLOCK_DEAD;
			continue;
		}
		fs->good_blocks++;
		err = find_seq(fs, i, &seq, &swapped);
		if (err)
			return err;
		scan->swapped += swapped;
		if (seq == Y2_SEQ_UNUSED) {
			block->state = Y2_BLOCK_EMPTY;
			fs->empty_blocks++;
		} else if (!is_seq(seq) || seq == Y2_SEQ_CHECKPOINT) {
			block->state = Y2_BLOCK_DIRTY;
			scan->used = true;
			scan->without_seq += seq != Y2_SEQ_CHECKPOINT;
		} else {
			/* Not full until the scan is over: nothing may be erased meanwhile */
			block->state = Y2_BLOCK_ALLOCATING;
			block->seq = seq;
			scan->used = true;
			scan->order[scan->count++] =
				(struct y2_scan_block){ .seq = seq, .number = i };
		}
	}
	return 0;
}

/* No two blocks compare equal, so every sort gives the same order */
static int newest_first(const void *one, const void *other)
{
	const struct y2_scan_block *a = one, *b = other;

	if (a->seq != b->seq)
		return a->seq > b->seq ? -1 : 1;
	return a->number > b->number ? -1 : 1;
}

static int scan_maybe_torn(struct y2_fs *fs, const struct y2_scan *scan)
{
	int err = 0;

	for (u32 i = 0; i < scan->count && !err; i++) {
		u32 number = scan->order[i].number, first = number * fs->geometry.chunks_per_block;

		if (scan->order[i].last_maybe_torn)
			err = y2_scan_yaffs1_maybe_torn(fs, first + fs->blocks[number].written - 1);
	}
	return err;
}

static int scan_all(struct y2_fs *fs, struct y2_scan *scan)
{
	int err = survey(fs, scan);

	if (!err)
		err = y2_scan_refuse_foreign(fs, scan);
	if (err)
		return err;
	sort(scan->order, scan->count, sizeof(*scan->order), newest_first, NULL);
	fs->seq = scan->count ? scan->order[0].seq : Y2_SEQ_LOWEST - 1;
	for (u32 i = 0; i < scan->count; i++) {
		struct y2_block *block = &fs->blocks[scan->order[i].number];

		if (block->state != Y2_BLOCK_ALLOCATING)
			continue;	/* void: its erase had begun */
		err = y2_scan_pages(fs, scan, &scan->order[i]);
		if (err)
			return err;
	}
	err = scan_maybe_torn(fs, scan);
	if (err)
		return err;
	err = fs->yaffs1 ? y2_scan_yaffs1_headers(fs, scan) : 0;
	if (!err)
		err = y2_scan_fixup(fs);
	if (err)
		return err;
	for (u32 i = 0; i < fs->geometry.blocks; i++) {
		if (fs->blocks[i].state == Y2_BLOCK_ALLOCATING)
			fs->blocks[i].state = Y2_BLOCK_FULL;
		if (fs->blocks[i].state == Y2_BLOCK_EMPTY)
			/* a completely blank flash needs no erase */
			fs->blocks[i].needs_erase = scan->used;
	}
	return 0;
}

int y2_scan(struct y2_fs *fs)
{
	struct y2_scan *scan = y2_zalloc(sizeof(*scan));
	int err = -ENOMEM;

	if (!scan)
		return err;
	scan->order = y2_zalloc((size_t)fs->geometry.blocks * sizeof(*scan->order));
	scan->pages = y2_zalloc((size_t)fs->geometry.chunks_per_block * sizeof(*scan->pages));
	if (scan->order && scan->pages)
		err = scan_all(fs, scan);
	y2_free(scan->order);
	y2_free(scan->pages);
	y2_free(scan);
	return err;
}
