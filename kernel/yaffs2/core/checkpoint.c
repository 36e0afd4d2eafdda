// SPDX-License-Identifier: GPL-2.0-only
/*
 * The checkpoint: the state in memory, written at unmount and on request, so that the next mount
 * needs no scan. The first change of the flash invalidates it, so it is erased before that change.
 */
#include "checkpoint.h"

#define BLOCK_BYTES	12u	/* maximum size in the stream */
#define OBJECT_BYTES	28u
#define LEAF_BYTES	(4u + 4u * Y2_INDEX_SLOTS)
#define HEAD_BYTES	64u

static bool too_small(const struct y2_fs *fs)
{
	return fs->geometry.blocks < Y2_CHECKPOINT_MIN_BLOCKS;
}

u32 y2_checkpoint_blocks_needed(const struct y2_fs *fs)
{
	u64 bytes = HEAD_BYTES + (u64)fs->geometry.blocks * BLOCK_BYTES +
		    (u64)fs->objects * OBJECT_BYTES + (u64)fs->leaves * LEAF_BYTES +
		    (u64)fs->summary_chunks * fs->chunk_bytes;

	if (fs->options.no_checkpoint || fs->options.no_checkpoint_write || too_small(fs))
		return 0;
	return (u32)div_u64(bytes, fs->chunk_bytes * fs->geometry.chunks_per_block) + 1;
}

/* 0: the state is restored; else the caller discards it and scans */
int y2_checkpoint_read(struct y2_fs *fs)
{
	struct y2_stream stream;
	u32 chunks = 0;
	int err;

	if (fs->options.no_checkpoint || fs->options.no_checkpoint_read || too_small(fs))
		return -ENOENT;
	y2_stream_begin(&stream, fs, false);
	err = y2_checkpoint_state(&stream);
	if (!err)
		err = y2_stream_end(&stream);
	if (err)
		return err;
	/* The checkpoint's own blocks were empty when it described them */
	for (u32 i = 0; i < fs->geometry.blocks && chunks < stream.chunks; i++) {
		struct y2_tags tags;

		if (fs->blocks[i].state != Y2_BLOCK_EMPTY)
			continue;
		if (y2_chunk_read(fs, i * fs->geometry.chunks_per_block, NULL, &tags) < 0 ||
		    !tags.used || tags.seq != Y2_SEQ_CHECKPOINT)
			continue;
		fs->blocks[i].state = Y2_BLOCK_CHECKPOINT;
		fs->empty_blocks--;
		fs->checkpoint_blocks++;
		chunks += fs->geometry.chunks_per_block;
	}
	fs->checkpoint_valid = true;
	fs->stats.checkpoint_mounts++;
	return 0;
}

static bool something_is_unlinked(const struct y2_fs *fs)
{
	struct y2_object *obj;

	for (u32 i = 0; i <= fs->hash_mask; i++)
		list_for_each_entry(obj, &fs->by_id[i], in_hash)
			if (obj->unlinked)
				return true;
	return false;
}

static void erase_blocks(struct y2_fs *fs)
{
	for (u32 i = 0; i < fs->geometry.blocks && fs->checkpoint_blocks; i++) {
		if (fs->blocks[i].state != Y2_BLOCK_CHECKPOINT)
			continue;
		fs->checkpoint_blocks--;
		y2_block_erase(fs, i);
	}
}

/*
 * Everything else is on flash already. If there is no room, no checkpoint is written, which only
 * slows the next mount down.
 */
int y2_checkpoint_write(struct y2_fs *fs)
{
	u32 needed = y2_checkpoint_blocks_needed(fs);
	struct y2_stream stream;
	int err;

	if (fs->checkpoint_valid || !needed || fs->options.read_only || something_is_unlinked(fs))
		return 0;
	if (fs->empty_blocks < needed + 1)
		return 0;
	fs->last_alloc = fs->last_alloc < fs->geometry.blocks ? fs->last_alloc : 0;
	y2_stream_begin(&stream, fs, true);
	err = y2_checkpoint_state(&stream);
	if (!err)
		err = y2_stream_end(&stream);
	fs->checkpoint_valid = true;
	if (err)
		return y2_checkpoint_invalidate(fs);
	fs->stats.checkpoints_written++;
	return 0;
}

int y2_checkpoint_invalidate(struct y2_fs *fs)
{
	if (!fs->checkpoint_valid)
		return 0;
	if (fs->options.read_only)
		return -EROFS;
	fs->checkpoint_valid = false;
	erase_blocks(fs);
	fs->checkpoint_valid = fs->failed;
	return fs->failed ? -EROFS : 0;
}
