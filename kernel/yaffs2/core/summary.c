// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block summaries: a copy of a full block's tags in its last chunks, so that a scan reads one place
 * per block.
 */
#include "yaffs2.h"

static u32 table_bytes(const struct y2_fs *fs)
{
	return Y2_SUMMARY_HEAD_BYTES + fs->data_chunks * Y2_SUMMARY_ENTRY_BYTES;
}

static u32 sum(const struct y2_fs *fs)
{
	u32 total = 0;

	for (u32 i = Y2_SUMMARY_HEAD_BYTES; i < table_bytes(fs); i++)
		total += fs->summary[i];
	return total;
}

void y2_summary_note(struct y2_fs *fs, u32 page, const struct y2_tags *tags)
{
	u8 *entry = fs->summary + Y2_SUMMARY_HEAD_BYTES + page * Y2_SUMMARY_ENTRY_BYTES;
	u32 object, chunk, bytes;

	if (!fs->summary_chunks)
		return;
	y2_tags_words(tags, &object, &chunk, &bytes);
	put_unaligned_le32(object, entry);
	put_unaligned_le32(chunk, entry + 4);
	put_unaligned_le32(bytes, entry + 8);
}

/* If a summary cannot be written, only the next scan is slower */
void y2_summary_write(struct y2_fs *fs, u32 number)
{
	u32 first = number * fs->geometry.chunks_per_block + fs->data_chunks;
	struct y2_block *block = &fs->blocks[number];
	u32 left = table_bytes(fs), at = 0;

	if (!fs->summary_chunks)
		return;
	put_unaligned_le32(Y2_SUMMARY_VERSION, fs->summary);
	put_unaligned_le32(number + 1, fs->summary + 4);
	put_unaligned_le32(block->seq, fs->summary + 8);
	put_unaligned_le32(sum(fs), fs->summary + 12);
	for (u32 i = 0; i < fs->summary_chunks; i++) {
		u32 bytes = min(left, fs->chunk_bytes);
		struct y2_tags tags = {
			.used = true,
			.seq = block->seq,
			.object = Y2_ID_SUMMARY,
			.chunk = i + 1,
			.bytes = bytes,
		};

		if (y2_chunk_write(fs, first + i, fs->summary + at, &tags)) {
			block->retire = fs->gc_prioritised = true;
			return;
		}
		at += bytes;
		left -= bytes;
	}
}

/*
 * Reads to fs->summary. True: it is complete and of this block, which a driver may number from 0 if
 * its first block is not 0
 */
bool y2_summary_read(struct y2_fs *fs, u32 number, u32 seq)
{
	u32 first = number * fs->geometry.chunks_per_block + fs->data_chunks;

	for (u32 i = 0; i < fs->summary_chunks; i++) {
		struct y2_tags tags;
		int result = y2_chunk_read(fs, first + i, fs->summary + i * fs->chunk_bytes, &tags);

		if (!y2_is_readable(result) || !tags.used || tags.object != Y2_ID_SUMMARY ||
		    tags.chunk != i + 1 || tags.seq != seq)
			return false;
	}
	return fs->summary_chunks && get_unaligned_le32(fs->summary) == Y2_SUMMARY_VERSION &&
	       (get_unaligned_le32(fs->summary + 4) == number + 1 ||
		get_unaligned_le32(fs->summary + 4) == number) &&
	       get_unaligned_le32(fs->summary + 8) == seq &&
	       get_unaligned_le32(fs->summary + 12) == sum(fs);
}
