// SPDX-License-Identifier: GPL-2.0-only
/*
 * The head of the log. Chunks are written in order to the allocating block. A full block gets its
 * summary, and the next block the next sequence number. A failed write is retried in another block,
 * and the collection retires the failed one.
 */
#include "yaffs2.h"

#define WRITE_TRIES 4u /* blocks, assumed: more failures in a row have another cause */
#define BLOCKS_FOR_GC	2u	/* empty blocks that only critical writes may take */

static int open_block(struct y2_fs *fs, enum y2_urgency urgency)
{
	u32 number;
	int err;

	for (;;) {
		if (!fs->empty_blocks || (urgency == Y2_USER && fs->empty_blocks <= BLOCKS_FOR_GC))
			return -ENOSPC;
		if (fs->seq >= Y2_SEQ_HIGHEST)
			return -EROFS;
		number = y2_block_find_empty(fs, fs->last_alloc);
		fs->last_alloc = number;
		if (!fs->blocks[number].needs_erase)
			break;
		err = y2_block_erase(fs, number);
		if (!err)
			break;
	}
	fs->blocks[number] = (struct y2_block) { .state = Y2_BLOCK_ALLOCATING, .seq = ++fs->seq };
	fs->empty_blocks--;
	fs->alloc_block = number;
	return 0;
}

/* Closes the allocating block for further chunks */
void y2_append_close(struct y2_fs *fs)
{
	struct y2_block *block;
	u32 number = fs->alloc_block;

	if (number == Y2_NO_BLOCK)
		return;
	block = &fs->blocks[number];
	fs->alloc_block = Y2_NO_BLOCK;
	block->state = Y2_BLOCK_FULL;
	if (y2_block_goes_at_once(fs, number))
		y2_block_erase(fs, number);
}

static void note_shrink(const struct y2_fs *fs, struct y2_block *block, const struct y2_tags *tags)
{
	if (fs->yaffs1 || tags->chunk || tags->object == Y2_ID_SUMMARY)
		return;
	if (tags->shrink || tags->shadows || tags->parent == Y2_ID_DELETED ||
	    tags->parent == Y2_ID_UNLINKED)
		block->shrink_header = true;
}

/* Appends a chunk, which counts as live. Fills in tags->seq. */
int y2_append(struct y2_fs *fs, const u8 *data, struct y2_tags *tags, enum y2_urgency urgency,
	      u32 *chunk)
{
	int err = fs->options.read_only ? -EROFS : y2_checkpoint_invalidate(fs);

	for (u32 tries = 0; !err && tries < WRITE_TRIES; tries++) {
		struct y2_block *block;
		u32 page;

		if (fs->alloc_block == Y2_NO_BLOCK) {
			err = open_block(fs, urgency);
			if (err)
				return err;
		}
		block = &fs->blocks[fs->alloc_block];
		page = block->written++;
		*chunk = fs->alloc_block * fs->geometry.chunks_per_block + page;
		tags->used = true;
		tags->seq = block->seq;
		note_shrink(fs, block, tags);
		err = y2_chunk_write(fs, *chunk, data, tags);
		if (err) {
			fs->stats.write_retries++;
			block->retire = fs->gc_prioritised = true;
			if (fs->yaffs1)
				y2_chunk_mark(fs, *chunk);	/* it may be intact */
			y2_append_close(fs);
			err = 0;
			continue;
		}
		y2_chunk_live(fs, *chunk);
		y2_summary_note(fs, page, tags);
		if (block->written == fs->data_chunks) {
			y2_summary_write(fs, fs->alloc_block);
			y2_append_close(fs);
		}
		return 0;
	}
	return err ? err : -EIO;
}
