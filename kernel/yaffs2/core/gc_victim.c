// SPDX-License-Identifier: GPL-2.0-only
/*
 * The choice of the block to collect. Aggressive: the dirtiest of all. Passive: the dirtiest of a
 * sample, if it is less than half full. In the background, regardless of free space: failing and
 * fading blocks, and now and then the oldest.
 */
#include "yaffs2.h"

#define MAX_SAMPLE	100u
#define SAMPLE_PART	16u
#define MIN_TO_RETIRE	3u	/* empty blocks */

static u32 obsolete(const struct y2_block *block)
{
	return block->written > block->live ? block->written - block->live : 0;
}

/* The oldest block with obsolete chunks, which delays blocks with shrink headers */
u32 y2_gc_oldest_dirty(struct y2_fs *fs)
{
	u32 oldest = Y2_NO_BLOCK, seq = Y2_SEQ_UNUSED;

	for (u32 i = 0; i < fs->geometry.blocks; i++) {
		const struct y2_block *block = &fs->blocks[i];

		if (block->state == Y2_BLOCK_FULL && block->seq < seq && obsolete(block)) {
			seq = block->seq;
			oldest = i;
		}
	}
	return oldest;
}

static u32 seq_of(const struct y2_fs *fs, u32 number)
{
	return number == Y2_NO_BLOCK ? Y2_SEQ_UNUSED : fs->blocks[number].seq;
}

static u32 oldest_dirty_seq(struct y2_fs *fs)
{
	return seq_of(fs, y2_gc_oldest_dirty(fs));
}

/* True if no block older than one with shrink headers holds obsolete chunks */
static bool in_order(const struct y2_block *block, u32 oldest_dirty)
{
	return !block->shrink_header || block->seq <= oldest_dirty;
}

bool y2_gc_may_erase(struct y2_fs *fs, u32 number)
{
	const struct y2_block *block = &fs->blocks[number];

	return block->state == Y2_BLOCK_FULL && in_order(block, oldest_dirty_seq(fs));
}

/* Data that is about to be lost waits while there is hardly a block to copy it to */
static bool is_urgent(const struct y2_fs *fs, const struct y2_block *block)
{
	return (block->retire || block->refresh) && fs->empty_blocks >= MIN_TO_RETIRE;
}

/*
 * Failing and fading blocks first, then the one with the fewest chunks to copy. A full block gains
 * nothing, but its obsolete chunks delay others.
 */
static u32 gain(const struct y2_fs *fs, const struct y2_block *block, u32 oldest)
{
	if (block->state != Y2_BLOCK_FULL || block->unreadable || !in_order(block, oldest))
		return 0;
	if (is_urgent(fs, block))
		return 2 * fs->geometry.chunks_per_block - block->live;
	if (block->live < fs->data_chunks)
		return fs->data_chunks - block->live;
	return obsolete(block) ? 1 : 0;
}

/* If nothing else is left, the oldest dirty block: only now unreadable chunks are given up */
u32 y2_gc_victim_best(struct y2_fs *fs)
{
	u32 oldest = oldest_dirty_seq(fs), best = Y2_NO_BLOCK, max = 0;

	for (u32 i = 0; i < fs->geometry.blocks; i++) {
		u32 is = gain(fs, &fs->blocks[i], oldest);

		if (is > max) {
			max = is;
			best = i;
		}
	}
	return best == Y2_NO_BLOCK ? y2_gc_oldest_dirty(fs) : best;
}

/* Or the oldest dirty block, if a block with shrink headers waits for it */
u32 y2_gc_victim_prioritised(struct y2_fs *fs)
{
	bool left = false, held_back = false;
	u32 oldest;

	if (!fs->gc_prioritised)
		return Y2_NO_BLOCK;
	oldest = y2_gc_oldest_dirty(fs);
	for (u32 i = 0; i < fs->geometry.blocks; i++) {
		const struct y2_block *block = &fs->blocks[i];

		if ((block->state != Y2_BLOCK_FULL && block->state != Y2_BLOCK_ALLOCATING) ||
		    block->unreadable)
			continue;
		left |= block->retire || block->refresh;
		if (block->state != Y2_BLOCK_FULL || !is_urgent(fs, block))
			continue;
		if (in_order(block, seq_of(fs, oldest)))
			return i;
		held_back = true;
	}
	fs->gc_prioritised = left;
	return held_back && !fs->blocks[oldest].unreadable ? oldest : Y2_NO_BLOCK;
}

u32 y2_gc_victim_sampled(struct y2_fs *fs)
{
	u32 oldest = oldest_dirty_seq(fs), best = Y2_NO_BLOCK, max = fs->data_chunks / 2;
	u32 sample = min(fs->geometry.blocks / SAMPLE_PART + 1, MAX_SAMPLE);

	for (u32 i = 0; i < sample; i++) {
		u32 is;

		fs->gc_sample = fs->gc_sample + 1 < fs->geometry.blocks ? fs->gc_sample + 1 : 0;
		is = gain(fs, &fs->blocks[fs->gc_sample], oldest);
		if (is > max) {
			max = is;
			best = fs->gc_sample;
		}
	}
	return best;
}

/* The oldest block of all, so that static data is also read and rewritten now and then */
u32 y2_gc_victim_oldest(struct y2_fs *fs)
{
	u32 best = Y2_NO_BLOCK, seq = Y2_SEQ_UNUSED;

	for (u32 i = 0; i < fs->geometry.blocks; i++) {
		if (fs->blocks[i].state == Y2_BLOCK_FULL && !fs->blocks[i].unreadable &&
		    fs->blocks[i].seq < seq) {
			seq = fs->blocks[i].seq;
			best = i;
		}
	}
	return best != Y2_NO_BLOCK && y2_gc_may_erase(fs, best) ? best : Y2_NO_BLOCK;
}
