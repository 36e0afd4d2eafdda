// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stream of a checkpoint. Its blocks are empty ones in ascending order, found again in that
 * order by the sequence number of their first page.
 */
#include "checkpoint.h"

void y2_stream_begin(struct y2_stream *stream, struct y2_fs *fs, bool writing)
{
	*stream = (struct y2_stream){
		.fs = fs, .writing = writing, .block = Y2_NO_BLOCK, .crc = ~0u
	};
	stream->end = writing ? fs->chunk_bytes : 0;
}

static int next_block_to_write(struct y2_stream *stream)
{
	struct y2_fs *fs = stream->fs;
	u32 after = stream->block == Y2_NO_BLOCK ? fs->geometry.blocks - 1 : stream->block;
	u32 number = y2_block_find_empty(fs, after);

	if (number == Y2_NO_BLOCK || (stream->block != Y2_NO_BLOCK && number < stream->block))
		return -ENOSPC;
	if (fs->blocks[number].needs_erase) {
		int err = y2_block_erase(fs, number);

		if (err)
			return err;
	}
	stream->block = number;
	fs->blocks[number].state = Y2_BLOCK_CHECKPOINT;
	fs->empty_blocks--;
	fs->checkpoint_blocks++;
	return 0;
}

static int put_chunk(struct y2_stream *stream)
{
	struct y2_fs *fs = stream->fs;
	struct y2_tags tags = {
		.used = true,
		.seq = Y2_SEQ_CHECKPOINT,
		.object = Y2_ID_CHECKPOINT,
		.chunk = ++stream->chunks,
		.bytes = stream->at,
	};
	int err = 0;

	if (stream->block == Y2_NO_BLOCK || stream->page == fs->geometry.chunks_per_block) {
		err = next_block_to_write(stream);
		stream->page = 0;
	}
	if (!err) {
		u32 chunk = stream->block * fs->geometry.chunks_per_block + stream->page++;

		err = y2_chunk_write(fs, chunk, fs->page, &tags);
		fs->blocks[stream->block].retire = err;
	}
	stream->at = 0;
	return err;
}

static int take_chunk(struct y2_fs *fs, struct y2_stream *stream, u32 number)
{
	u32 chunk = number * fs->geometry.chunks_per_block + stream->page;
	struct y2_tags tags;
	int result;

	/* Most blocks do not belong to the checkpoint: their tags suffice */
	result = y2_chunk_read(fs, chunk, NULL, &tags);
	if (y2_is_readable(result) && tags.used && tags.seq == Y2_SEQ_CHECKPOINT)
		result = y2_chunk_read(fs, chunk, fs->page, &tags);
	if (!y2_is_readable(result) || !tags.used || tags.seq != Y2_SEQ_CHECKPOINT ||
	    tags.object != Y2_ID_CHECKPOINT || tags.chunk != stream->chunks + 1 ||
	    tags.bytes > fs->chunk_bytes)
		return -ENOENT;
	stream->chunks++;
	stream->page++;
	stream->at = 0;
	stream->end = tags.bytes;
	return 0;
}

static int get_chunk(struct y2_stream *stream)
{
	struct y2_fs *fs = stream->fs;
	u32 from = stream->block == Y2_NO_BLOCK ? 0 : stream->block + 1;

	if (stream->block != Y2_NO_BLOCK && stream->page < fs->geometry.chunks_per_block)
		return take_chunk(fs, stream, stream->block);
	stream->page = 0;
	for (u32 i = from; i < fs->geometry.blocks; i++) {
		if (fs->ops->is_bad(fs->flash, i) || take_chunk(fs, stream, i))
			continue;
		stream->block = i;
		return 0;
	}
	return -ENOENT;
}

void y2_stream_bytes(struct y2_stream *stream, u8 *bytes, u32 count)
{
	if (stream->writing)
		stream->crc = crc32_le(stream->crc, bytes, count);
	for (u32 done = 0; done < count && !stream->err;) {
		u32 part = min(stream->end - stream->at, count - done);
		u8 *buffer = stream->fs->page + stream->at;

		if (!part) {
			stream->err = stream->writing ? put_chunk(stream) : get_chunk(stream);
			continue;
		}
		memcpy(stream->writing ? buffer : bytes + done,
		       stream->writing ? bytes + done : buffer, part);
		stream->at += part;
		done += part;
	}
	if (stream->err && !stream->writing)
		memset(bytes, 0, count);
	if (!stream->writing)
		stream->crc = crc32_le(stream->crc, bytes, count);
}

void y2_stream_u32(struct y2_stream *stream, u32 *value)
{
	u8 bytes[4];

	put_unaligned_le32(*value, bytes);
	y2_stream_bytes(stream, bytes, 4);
	*value = get_unaligned_le32(bytes);
}

void y2_stream_u64(struct y2_stream *stream, u64 *value)
{
	u32 low = (u32)*value, high = (u32)(*value >> 32);

	y2_stream_u32(stream, &low);
	y2_stream_u32(stream, &high);
	*value = low | (u64)high << 32;
}

int y2_stream_end(struct y2_stream *stream)
{
	u32 right = ~stream->crc, crc = right;

	y2_stream_u32(stream, &crc);
	if (!stream->err && crc != right)
		stream->err = -EINVAL;
	if (!stream->err && stream->writing)
		stream->err = put_chunk(stream);
	return stream->err;
}
