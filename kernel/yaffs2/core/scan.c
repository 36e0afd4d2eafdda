// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mounting without checkpoint. A survey reads one page of each block for its sequence number; then the blocks are scanned
 * from the newest to the oldest, and in each from its last chunk to its first: of the chunks of one place the first met wins.
 */
#include "scan.h"

/* In-band tags have no check of their own, and whatever else lies there may look like a sequence number */
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
 * The tags of the first page that has any: a torn erase may have taken the first ones, or made others of them, which look
 * corrected.
 */
static int find_seq(struct y2_fs *fs, u32 number, u32 *seq, bool *swapped)
{
	u32 first = number * fs->geometry.chunks_per_block;
	u32 best = 0;

	*seq = Y2_SEQ_UNUSED;
	*swapped = false;
	for (u32 page = 0; page < fs->geometry.chunks_per_block; page++) {
		struct y2_tags tags, other;
		int result = y2_page_read(fs, first + page, NULL, &tags);
		bool found = tags.used && makes_sense(fs, &tags);

		if (result < 0)
			return result;
		if (found)
			best = tags.seq;
		else if (tags.used || result == Y2_READ_LOST)
			*swapped |= y2_page_swapped(fs, &other) && makes_sense(fs, &other) && is_seq(other.seq);
		if (found && result == Y2_READ_CLEAN)
			break;
		if (page == 0 && !tags.used && result != Y2_READ_LOST)
			return 0;	/* an empty block, or hardly anything was left of its erase: erased again before use */
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
			scan->strange += seq != Y2_SEQ_CHECKPOINT;
		} else {
			/* Not full before all is settled: nothing may be erased meanwhile */
			block->state = Y2_BLOCK_ALLOCATING;
			block->seq = seq;
			scan->used = true;
			scan->order[scan->count++] = (struct y2_scan_block) { .seq = seq, .number = i };
		}
	}
	return 0;
}

static bool newer(const struct y2_scan_block *a, const struct y2_scan_block *b)
{
	return a->seq != b->seq ? a->seq > b->seq : a->number > b->number;
}

/* Heap sort, newest first: no recursion, no memory, and the number of blocks may be large */
static void sink(struct y2_scan_block *order, u32 at, u32 count)
{
	for (;;) {
		u32 child = 2 * at + 1;
		struct y2_scan_block moved;

		if (child >= count)
			return;
		if (child + 1 < count && newer(&order[child], &order[child + 1]))
			child++;
		if (!newer(&order[at], &order[child]))
			return;
		moved = order[at];
		order[at] = order[child];
		order[child] = moved;
		at = child;
	}
}

static void sort(struct y2_scan_block *order, u32 count)
{
	for (u32 i = count / 2; i-- > 0;)
		sink(order, i, count);
	for (u32 end = count; end-- > 1;) {
		struct y2_scan_block oldest = order[0];

		order[0] = order[end];
		order[end] = oldest;
		sink(order, 0, end);
	}
}

static int scan_in_doubt(struct y2_fs *fs, const struct y2_scan *scan)
{
	int err = 0;

	for (u32 i = 0; i < scan->count && !err; i++) {
		u32 number = scan->order[i].number;

		if (scan->order[i].last_in_doubt)
			err = y2_scan_small_in_doubt(fs, number * fs->geometry.chunks_per_block + fs->blocks[number].written - 1);
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
	sort(scan->order, scan->count);
	fs->seq = scan->count ? scan->order[0].seq : Y2_SEQ_LOWEST - 1;
	for (u32 i = 0; i < scan->count; i++) {
		struct y2_block *block = &fs->blocks[scan->order[i].number];

		if (block->state != Y2_BLOCK_ALLOCATING)
			continue;	/* void: its erase had begun */
		err = y2_scan_pages(fs, scan, &scan->order[i]);
		if (err)
			return err;
	}
	err = scan_in_doubt(fs, scan);
	if (err)
		return err;
	err = fs->small ? y2_scan_small_headers(fs, scan) : 0;
	if (!err)
		err = y2_scan_settle(fs);
	if (err)
		return err;
	for (u32 i = 0; i < fs->geometry.blocks; i++) {
		if (fs->blocks[i].state == Y2_BLOCK_ALLOCATING)
			fs->blocks[i].state = Y2_BLOCK_FULL;
		if (fs->blocks[i].state == Y2_BLOCK_EMPTY)
			fs->blocks[i].unsure = scan->used;	/* a wholly blank flash is as it was erased */
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
