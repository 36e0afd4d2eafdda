// SPDX-License-Identifier: GPL-2.0-only
/* The table of blocks: their states, their live chunks, and the free space. */
#include "yaffs2.h"

size_t y2_live_bytes(const struct y2_fs *fs)
{
	return BITS_TO_LONGS((size_t)fs->geometry.blocks * fs->geometry.chunks_per_block) *
	       sizeof(long);
}

int y2_blocks_init(struct y2_fs *fs)
{
	fs->blocks = y2_zalloc((size_t)fs->geometry.blocks * sizeof(*fs->blocks));
	fs->live = y2_zalloc(y2_live_bytes(fs));
	fs->alloc_block = Y2_NO_BLOCK;
	fs->gc_block = Y2_NO_BLOCK;
	fs->torn_full = fs->torn_newest = Y2_NO_BLOCK;
	return fs->blocks && fs->live ? 0 : -ENOMEM;
}

bool y2_chunk_is_live(const struct y2_fs *fs, u32 chunk)
{
	return test_bit(chunk, fs->live);
}

void y2_chunk_live(struct y2_fs *fs, u32 chunk)
{
	if (__test_and_set_bit(chunk, fs->live))
		return;
	fs->blocks[chunk / fs->geometry.chunks_per_block].live++;
	fs->live_chunks++;
}

/*
 * A block without live chunks is erased at once, unless it holds shrink headers or erases are
 * deferred. Then it waits for the collection, which keeps the order.
 */
bool y2_block_goes_at_once(const struct y2_fs *fs, u32 number)
{
	const struct y2_block *block = &fs->blocks[number];

	return !block->live && block->state == Y2_BLOCK_FULL && !block->shrink_header &&
	       !fs->options.deferred_erase;
}

/*
 * The chunk's replacement must be on flash already. On pages of 512 bytes the chunk gets a mark,
 * unless its block is erased
 */
void y2_chunk_obsolete(struct y2_fs *fs, u32 chunk)
{
	u32 number = chunk / fs->geometry.chunks_per_block;
	struct y2_block *block = &fs->blocks[number];

	if (!__test_and_clear_bit(chunk, fs->live))
		return;
	block->live--;
	fs->gc_prioritised |= block->unreadable;
	block->unreadable = false;	/* it may have been this chunk */
	fs->live_chunks--;
	if (fs->options.read_only)
		fs->unmarked = true;
	else if (y2_block_goes_at_once(fs, number) && number != fs->gc_block)
		y2_block_erase(fs, number);
	else if (fs->yaffs1)
		y2_chunk_mark(fs, chunk);
}

/*
 * A mount would find the chunks of a block that is neither erased nor marked bad, while the headers
 * that hide them may be gone by then. Those headers must stay, so nothing is changed any more.
 */
static void retire(struct y2_fs *fs, u32 number, bool erased)
{
	struct y2_block *block = &fs->blocks[number];
	bool marked = !fs->ops->mark_bad(fs->flash, number);

	if (marked) {
		y2_warn("block %u failed and is marked bad", number);
	} else if (erased || block->state == Y2_BLOCK_EMPTY) {
		y2_warn("block %u failed and cannot be marked bad: the next mount will use it again",
			number);
	} else {
		y2_warn("block %u can neither be erased nor marked bad: read-only from now on",
			number);
		fs->failed = fs->options.read_only = true;
	}
	if (block->state == Y2_BLOCK_EMPTY)
		fs->empty_blocks--;
	if (block->state != Y2_BLOCK_DEAD)
		fs->good_blocks--;
	*block = (struct y2_block) { .state = Y2_BLOCK_DEAD };
	fs->stats.retired_blocks++;
}

int y2_block_erase(struct y2_fs *fs, u32 number)
{
	struct y2_block *block = &fs->blocks[number];
	int err = y2_checkpoint_invalidate(fs);

	if (err)
		return err;
	if (fs->cached_chunk / fs->geometry.chunks_per_block == number)
		fs->cached_chunk = Y2_NO_CHUNK;
	fs->stats.blocks_erased++;
	fs->erased_since_forced++;
	err = fs->ops->erase(fs->flash, number);
	if (err || block->retire) {
		retire(fs, number, !err);
		return err;
	}
	if (block->state != Y2_BLOCK_EMPTY)
		fs->empty_blocks++;
	*block = (struct y2_block) { .state = Y2_BLOCK_EMPTY };
	return 0;
}

/* Round robin, to spread wear */
u32 y2_block_find_empty(struct y2_fs *fs, u32 after)
{
	u32 block = after;

	for (u32 i = 0; i < fs->geometry.blocks; i++) {
		block = block + 1 < fs->geometry.blocks ? block + 1 : 0;
		if (fs->blocks[block].state == Y2_BLOCK_EMPTY)
			return block;
	}
	return Y2_NO_BLOCK;
}

u32 y2_chunks_free(const struct y2_fs *fs)
{
	u32 checkpoint = y2_checkpoint_blocks_needed(fs);
	u32 spare_blocks = Y2_RESERVED_BLOCKS;
	u64 total, used;

	if (checkpoint > fs->checkpoint_blocks)
		spare_blocks += checkpoint - fs->checkpoint_blocks;
	total = (u64)(fs->good_blocks - fs->checkpoint_blocks) * fs->data_chunks;
	used = fs->live_chunks + fs->reserved + (u64)spare_blocks * fs->data_chunks;
	return total > used ? (u32)(total - used) : 0;
}
