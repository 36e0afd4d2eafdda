// SPDX-License-Identifier: GPL-2.0-only
/*
 * The content of a checkpoint: blocks, objects and indices; no names, which are in the headers. One
 * traversal serves both directions: a field is written, or overwritten by a read. Fields read are
 * checked before use, in addition to the CRC.
 */
#include "checkpoint.h"

#define MAGIC 0x79326370u /* "y2cp", ours: other drivers have a layout of their own */
#define LAYOUT		2u
#define END_OF_LEAVES	0xffffffffu

static int constant(struct y2_stream *stream, u32 value)
{
	u32 found = value;

	y2_stream_u32(stream, &found);
	if (!stream->err && found != value)
		stream->err = -EINVAL;
	return stream->err;
}

static void head(struct y2_stream *stream)
{
	struct y2_fs *fs = stream->fs;

	constant(stream, MAGIC);
	constant(stream, LAYOUT);
	constant(stream, fs->geometry.blocks);
	constant(stream, fs->geometry.chunks_per_block);
	constant(stream, fs->chunk_bytes);
	constant(stream, fs->summary_chunks);
	y2_stream_u32(stream, &fs->seq);
	y2_stream_u32(stream, &fs->alloc_block);
	y2_stream_u32(stream, &fs->last_alloc);
	y2_stream_u32(stream, &fs->next_id);
	y2_stream_u32(stream, &fs->erased_since_forced);
	if (fs->alloc_block != Y2_NO_BLOCK && fs->alloc_block >= fs->geometry.blocks)
		stream->err = -EINVAL;
	if (fs->last_alloc >= fs->geometry.blocks || fs->next_id > Y2_ID_NEW_MAX ||
	    fs->next_id < Y2_ID_FIRST_FREE)
		stream->err = -EINVAL;
}

static void one_block(struct y2_stream *stream, u32 number)
{
	struct y2_fs *fs = stream->fs;
	struct y2_block *block = &fs->blocks[number];
	/* The blocks of the new checkpoint were empty when it was begun */
	u32 state = block->state == Y2_BLOCK_CHECKPOINT ? Y2_BLOCK_EMPTY : block->state;
	u32 bits = state | block->shrink_header << 8 | block->retire << 9 | block->refresh << 10 |
		   block->needs_erase << 11;
	u32 written = block->written;

	y2_stream_u32(stream, &bits);
	if (stream->err)
		return;
	if (!stream->writing) {
		block->state = bits & 0xff;
		block->shrink_header = bits >> 8 & 1;
		block->retire = bits >> 9 & 1;
		block->refresh = bits >> 10 & 1;
		block->needs_erase = bits >> 11 & 1;
		fs->gc_prioritised |= block->retire || block->refresh;
	}
	if (!stream->writing) {
		/*
		 * On a copy to another chip, the checkpoint lies elsewhere: around other bad blocks
		 */
		if (block->state > Y2_BLOCK_DEAD || block->state == Y2_BLOCK_CHECKPOINT ||
		    (block->state == Y2_BLOCK_DEAD) != fs->ops->is_bad(fs->flash, number))
			stream->err = -EINVAL;
		fs->good_blocks += block->state != Y2_BLOCK_DEAD;
		fs->empty_blocks += block->state == Y2_BLOCK_EMPTY;
	}
	if (block->state != Y2_BLOCK_FULL && block->state != Y2_BLOCK_ALLOCATING)
		return;
	y2_stream_u32(stream, &block->seq);
	y2_stream_u32(stream, &written);
	block->written = (u16)written;
	if (written > fs->geometry.chunks_per_block)
		stream->err = -EINVAL;
	if ((block->state == Y2_BLOCK_ALLOCATING) != (fs->alloc_block == number))
		stream->err = -EINVAL;
}

static void reference(struct y2_stream *stream, u32 chunk)
{
	struct y2_fs *fs = stream->fs;
	u32 number = chunk / fs->geometry.chunks_per_block;

	if (stream->writing || stream->err)
		return;
	if (number >= fs->geometry.blocks || y2_chunk_is_live(fs, chunk) ||
	    (fs->blocks[number].state != Y2_BLOCK_FULL &&
	     fs->blocks[number].state != Y2_BLOCK_ALLOCATING)) {
		stream->err = -EINVAL;
		return;
	}
	y2_chunk_live(fs, chunk);
}

/* Reads one leaf from the stream, behind its base */
static void read_leaf(struct y2_stream *stream, struct y2_object *obj, u32 base)
{
	for (u32 i = 0; i < Y2_INDEX_SLOTS && !stream->err; i++) {
		u32 value = 0;

		y2_stream_u32(stream, &value);
		if (!value || stream->err)
			continue;
		if (y2_index_prepare(&obj->index, base + i, &stream->fs->leaves)) {
			stream->err = -ENOMEM;
			return;
		}
		if (y2_index_get(&obj->index, base + i))
			stream->err = -EINVAL;
		y2_index_set(&obj->index, base + i, value);
		reference(stream, value - 1);
	}
}

static void read_leaves(struct y2_stream *stream, struct y2_object *obj)
{
	for (;;) {
		u32 base = END_OF_LEAVES;

		y2_stream_u32(stream, &base);
		if (stream->err || base == END_OF_LEAVES)
			return;
		if (base > Y2_CHUNK_MAX || base % Y2_INDEX_SLOTS) {
			stream->err = -EINVAL;
			return;
		}
		read_leaf(stream, obj, base);
	}
}

static void write_leaves(struct y2_stream *stream, struct y2_object *obj)
{
	u32 from = 0, base, end = END_OF_LEAVES;
	struct y2_leaf *leaf;

	while (!stream->err && (leaf = y2_index_next_leaf(&obj->index, from, &base))) {
		y2_stream_u32(stream, &base);
		for (u32 i = 0; i < Y2_INDEX_SLOTS; i++)
			y2_stream_u32(stream, &leaf->slot[i]);
		from = base + Y2_INDEX_SLOTS;
	}
	y2_stream_u32(stream, &end);
}

static void write_object(struct y2_stream *stream, struct y2_object *obj)
{
	u32 type = obj->type, parent = obj->parent ? obj->parent->id : 0;

	y2_stream_u32(stream, &obj->id);
	y2_stream_u32(stream, &type);
	y2_stream_u32(stream, &parent);
	y2_stream_u32(stream, &obj->header);
	if (obj->type == Y2_FILE) {
		y2_stream_u64(stream, &obj->size);
		write_leaves(stream, obj);
	} else if (obj->type == Y2_HARDLINK) {
		y2_stream_u32(stream, &obj->target->id);
	}
}

static void read_object(struct y2_stream *stream)
{
	struct y2_fs *fs = stream->fs;
	struct y2_object *obj;
	u32 id = 0, type = 0, parent = 0, header = Y2_NO_CHUNK;

	y2_stream_u32(stream, &id);
	y2_stream_u32(stream, &type);
	y2_stream_u32(stream, &parent);
	y2_stream_u32(stream, &header);
	if (!stream->err && (!id || id > Y2_ID_MAX || !type || type >= Y2_TYPES))
		stream->err = -EINVAL;
	if (stream->err)
		return;
	obj = y2_object_find(fs, id);
	if (obj && (!(obj == fs->root || obj == fs->lost_and_found) || type != Y2_DIRECTORY ||
		    obj->scan_seen)) {
		stream->err = -EINVAL;
		return;
	}
	if (!obj)
		obj = y2_object_new(fs, id, (u8)type);
	if (!obj) {
		stream->err = -ENOMEM;
		return;
	}
	obj->scan_seen = true;
	obj->cookie = parent;
	obj->header = header;
	if (header != Y2_NO_CHUNK)
		reference(stream, header);
	if (type == Y2_FILE) {
		y2_stream_u64(stream, &obj->size);
		if (obj->size > y2_file_max(fs))
			stream->err = -EINVAL;
		read_leaves(stream, obj);
	} else if (type == Y2_HARDLINK) {
		y2_stream_u32(stream, &obj->target_id);
	}
}

static void objects(struct y2_stream *stream)
{
	struct y2_fs *fs = stream->fs;
	u32 count = fs->objects;
	struct y2_object *obj;

	y2_stream_u32(stream, &count);
	if (!stream->writing) {
		while (count-- && !stream->err)
			read_object(stream);
		return;
	}
	for (u32 i = 0; i <= fs->hash_mask && !stream->err; i++)
		list_for_each_entry(obj, &fs->by_id[i], in_hash)
			if (!stream->err)
				write_object(stream, obj);
}

int y2_checkpoint_state(struct y2_stream *stream)
{
	struct y2_fs *fs = stream->fs;

	head(stream);
	for (u32 i = 0; i < fs->geometry.blocks && !stream->err; i++)
		one_block(stream, i);
	if (fs->summary_chunks && fs->alloc_block != Y2_NO_BLOCK && !stream->err)
		y2_stream_bytes(stream, fs->summary, fs->summary_chunks * fs->chunk_bytes);
	objects(stream);
	return stream->err;
}
