// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages with their tags, in the spare area or in-band. In-band tags are the last 16 bytes of the
 * page, under the data's ECC and without one of their own.
 */
#include "yaffs2.h"

static u32 block_of(const struct y2_fs *fs, u32 chunk)
{
	return chunk / fs->geometry.chunks_per_block;
}

static u32 page_of(const struct y2_fs *fs, u32 chunk)
{
	return chunk % fs->geometry.chunks_per_block;
}

/* Reads the page. The MTD decides how many corrected bits call for a refresh of the block */
static int read_page(struct y2_fs *fs, u32 chunk, u8 *data, u8 *oob)
{
	int result = fs->ops->read(fs->flash, block_of(fs, chunk), page_of(fs, chunk), data, oob);

	if (result == Y2_READ_FIXED)
		fs->blocks[block_of(fs, chunk)].refresh = fs->gc_prioritised = true;
	return result;
}

static int read_inband(struct y2_fs *fs, u32 chunk, u8 *data, struct y2_tags *tags)
{
	int result = read_page(fs, chunk, fs->page2, NULL);

	if (result < 0)
		return result;
	if (data)
		memcpy(data, fs->page2, fs->chunk_bytes);
	if (tags) {
		y2_tags_unpack(fs->page2 + fs->chunk_bytes, false, tags);
		if (result == Y2_READ_UNFIXED)
			tags->used = false;
	}
	return result;
}

static int read_oob(struct y2_fs *fs, u32 chunk, u8 *data, struct y2_tags *tags)
{
	enum y2_read of_tags = Y2_READ_CLEAN;
	int result = read_page(fs, chunk, data, tags ? fs->oob : NULL);

	if (result < 0 || !tags)
		return result;
	of_tags = fs->yaffs1 ? y2_tags_yaffs1_unpack(fs->oob, tags) :
			      y2_tags_unpack(fs->oob, !fs->options.no_tags_ecc, tags);
	return of_tags > (enum y2_read)result ? (int)of_tags : result;
}

/* Returns enum y2_read or a negative errno. Tags beyond correction read as unused. */
int y2_chunk_read(struct y2_fs *fs, u32 chunk, u8 *data, struct y2_tags *tags)
{
	int result = fs->options.inband_tags ? read_inband(fs, chunk, data, tags) :
					       read_oob(fs, chunk, data, tags);

	fs->stats.pages_read++;
	fs->stats.bits_fixed += result == Y2_READ_FIXED;
	return result;
}

/* The tags of the last page read, in the other byte order; false: they are no tags */
bool y2_chunk_swapped(struct y2_fs *fs, struct y2_tags *tags)
{
	if (fs->yaffs1)
		return y2_tags_yaffs1_unpack_swapped(fs->oob, tags);
	if (fs->options.inband_tags)
		return y2_tags_unpack_swapped(fs->page2 + fs->chunk_bytes, false, tags);
	return y2_tags_unpack_swapped(fs->oob, !fs->options.no_tags_ecc, tags);
}

int y2_chunk_write(struct y2_fs *fs, u32 chunk, const u8 *data, const struct y2_tags *tags)
{
	u32 block = block_of(fs, chunk), page = page_of(fs, chunk);

	fs->stats.pages_written++;
	if (fs->options.inband_tags) {
		memcpy(fs->page2, data, fs->chunk_bytes);
		y2_tags_pack(tags, false, fs->page2 + fs->chunk_bytes);
		return fs->ops->write(fs->flash, block, page, fs->page2, NULL);
	}
	memset(fs->oob, 0xff, fs->geometry.oob_bytes);
	if (fs->yaffs1)
		y2_tags_yaffs1_pack(tags, fs->oob);
	else
		y2_tags_pack(tags, !fs->options.no_tags_ecc, fs->oob);
	return fs->ops->write(fs->flash, block, page, data, fs->oob);
}

/* If the mark fails, a mount would find the chunk again: see y2_gc_unmarked() */
void y2_chunk_mark(struct y2_fs *fs, u32 chunk)
{
	fs->stats.pages_marked++;
	memset(fs->oob, 0xff, fs->geometry.oob_bytes);
	y2_tags_yaffs1_mark(fs->oob);
	if (!fs->ops->write(fs->flash, block_of(fs, chunk), page_of(fs, chunk), NULL, fs->oob))
		return;
	fs->blocks[block_of(fs, chunk)].retire = fs->gc_prioritised = true;
	fs->blocks[block_of(fs, chunk)].unmarked = true;
	fs->mark_failed = true;
}

/* The serial number of the chunk's replacement */
u8 y2_serial_after(struct y2_fs *fs, u32 chunk)
{
	struct y2_tags tags;

	if (!fs->yaffs1 || y2_chunk_read(fs, chunk, NULL, &tags) < 0 || !tags.used)
		return 0;
	return (tags.serial + 1) & 3;
}
