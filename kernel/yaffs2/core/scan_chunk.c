// SPDX-License-Identifier: GPL-2.0-only
/*
 * The effect of one chunk in a scan. Chunks come newest first. The newest header of an object gives
 * its state, and invalidates everything older beyond its size. Of the earlier headers, only a
 * shrink header invalidates older chunks beyond its size. Other headers may have a size that is
 * behind the data, because drivers before March 2010 copy a header with its old size. A tombstone
 * invalidates everything older of the object. A shadowing header deletes another object, if nothing
 * newer of that exists and no link leads to it.
 */
#include "scan.h"

#define NO_LIMIT	(~0ull)

struct y2_object *y2_scan_object(struct y2_fs *fs, u32 id)
{
	struct y2_object *obj = y2_object_find(fs, id);

	if (obj)
		return obj;
	obj = y2_object_new(fs, id, Y2_UNKNOWN);
	if (obj)
		obj->scan_limit = NO_LIMIT;
	return obj;
}

/* Nothing older counts; newer chunks do if a header of the object has been seen */
static void apply_tombstone(struct y2_fs *fs, struct y2_object *obj)
{
	u32 base;

	if (!obj->scan_seen) {
		obj->scan_needs_tombstone = y2_index_next_leaf(&obj->index, 0, &base) != NULL;
		y2_file_drop_chunks(fs, obj, 1);
	}
	obj->scan_deleted = true;
}

static int data_chunk(struct y2_fs *fs, u32 chunk, const struct y2_tags *tags)
{
	u64 start = (u64)(tags->chunk - 1) * fs->chunk_bytes, end = start + tags->bytes;
	struct y2_object *obj;
	int err;

	if (tags->chunk > Y2_CHUNK_MAX || !tags->bytes || tags->bytes > fs->chunk_bytes ||
	    tags->object <= Y2_ID_DELETED)
		return 0;
	obj = y2_scan_object(fs, tags->object);
	if (!obj)
		return -ENOMEM;
	if (obj->scan_deleted || (obj->type != Y2_FILE && obj->type != Y2_UNKNOWN) ||
	    start >= obj->scan_limit || y2_index_get(&obj->index, tags->chunk))
		return 0;
	err = y2_index_prepare(&obj->index, tags->chunk, &fs->leaves);
	if (err)
		return err;
	y2_index_set(&obj->index, tags->chunk, chunk + 1);
	y2_chunk_live(fs, chunk);
	if (!obj->scan_seen && end > obj->size)
		obj->size = end;
	obj->scan_tail |= obj->scan_seen && end > obj->size;
	return 0;
}

static void newest_header(struct y2_fs *fs, struct y2_object *obj, u32 chunk,
			  const struct y2_tags *tags)
{
	bool is_file = tags->type == Y2_FILE;

	if (tags->object > Y2_ID_DELETED &&
	    (tags->parent == Y2_ID_DELETED || tags->parent == Y2_ID_UNLINKED)) {
		apply_tombstone(fs, obj);
		return;
	}
	obj->scan_seen = true;
	obj->header = chunk;
	y2_chunk_live(fs, chunk);
	if (!is_file && (obj->type == Y2_UNKNOWN || obj->type == Y2_FILE)) {
		y2_file_drop_chunks(fs, obj, 1);
		y2_index_cut(&obj->index, 0, &fs->leaves);
	}
	if (obj->type != tags->type)
		y2_object_set_type(obj, tags->type);
	obj->cookie = tags->parent;	/* until all parents are known */
	if (is_file) {
		if (tags->size > obj->size)
			obj->size = tags->size;
		obj->scan_limit = tags->size;
	} else if (tags->type == Y2_HARDLINK) {
		obj->target_id = tags->equivalent;
	}
}

static bool special_is_right(const struct y2_tags *tags)
{
	if (tags->object == Y2_ID_ROOT || tags->object == Y2_ID_LOST_AND_FOUND)
		return tags->type == Y2_DIRECTORY;
	return tags->object != Y2_ID_UNLINKED && tags->object != Y2_ID_DELETED;
}

static int header_chunk(struct y2_fs *fs, u32 chunk, const struct y2_tags *tags, u32 shadows)
{
	struct y2_block *block = &fs->blocks[chunk / fs->geometry.chunks_per_block];
	struct y2_object *obj, *shadowed;

	if (!special_is_right(tags))
		return 0;
	if (tags->shrink || shadows || tags->parent == Y2_ID_DELETED ||
	    tags->parent == Y2_ID_UNLINKED)
		block->shrink_header = true;
	obj = y2_scan_object(fs, tags->object);
	if (!obj)
		return -ENOMEM;
	if (!obj->scan_deleted) {
		if (!obj->scan_seen)
			newest_header(fs, obj, chunk, tags);
		else if (tags->parent == Y2_ID_DELETED || tags->parent == Y2_ID_UNLINKED)
			obj->scan_deleted = true;
		else if (tags->shrink && tags->type == Y2_FILE && obj->type == Y2_FILE &&
			 tags->size < obj->scan_limit)
			obj->scan_limit = tags->size;
	}
	if (shadows <= Y2_ID_DELETED || shadows == tags->object)
		return 0;
	shadowed = y2_scan_object(fs, shadows);
	if (!shadowed)
		return -ENOMEM;
	/*
	 * Newer chunks of the object survive. Older ones are collected: if links lead to the
	 * object, it has only lost this name
	 */
	if (!shadowed->scan_deleted && !shadowed->scan_seen)
		shadowed->scan_shadowed = true;
	return 0;
}

/* Reads the fields that the tags lack from the header. False: there is none */
static bool read_header(struct y2_fs *fs, struct y2_scan *scan, u32 chunk, struct y2_tags *tags)
{
	struct y2_header *header = &scan->header;
	int result = y2_chunk_read(fs, chunk, fs->page, NULL);

	if (!y2_is_readable(result) || !y2_header_unpack(fs->page, header))
		return false;
	tags->extra = true;
	tags->type = header->type;
	tags->parent = header->parent;
	tags->shrink = header->shrink;
	tags->size = header->size;
	tags->equivalent = header->equivalent;
	return true;
}

/* A note is valid until the block that it describes has been erased */
static void read_note(struct y2_fs *fs, u32 chunk, const struct y2_tags *tags)
{
	struct y2_block *block;

	if (!y2_is_readable(y2_chunk_read(fs, chunk, fs->page, NULL)) ||
	    get_unaligned_le32(fs->page + Y2_NOTE) != Y2_NOTE_MAGIC ||
	    get_unaligned_le32(fs->page + Y2_NOTE_BLOCK) >= fs->geometry.blocks)
		return;
	block = &fs->blocks[get_unaligned_le32(fs->page + Y2_NOTE_BLOCK)];
	if (block->state != Y2_BLOCK_ALLOCATING ||
	    block->seq != get_unaligned_le32(fs->page + Y2_NOTE_SEQ) || block->seq >= tags->seq)
		return;
	if (get_unaligned_le32(fs->page + Y2_NOTE_KIND) == Y2_NOTE_VOID)
		block->state = Y2_BLOCK_DIRTY;
	else if (get_unaligned_le32(fs->page + Y2_NOTE_KIND) == Y2_NOTE_TORN)
		block->last_torn = true;
}

int y2_scan_chunk(struct y2_fs *fs, struct y2_scan *scan, u32 chunk, const struct y2_tags *found)
{
	struct y2_tags tags = *found;
	u32 shadows = 0;

	if (tags.object == Y2_ID_SUMMARY) {
		if (!tags.chunk && tags.parent == Y2_ID_DELETED)
			read_note(fs, chunk, &tags);
		return 0;
	}
	if (!tags.object || tags.object > Y2_ID_MAX)
		return 0;
	if (tags.object >= fs->next_id && tags.object < Y2_ID_NEW_MAX)
		fs->next_id = tags.object + 1;
	if (tags.chunk)
		return data_chunk(fs, chunk, &tags);
	if (!tags.extra || tags.shadows) {
		if (!read_header(fs, scan, chunk, &tags))
			return 0;
		shadows = scan->header.shadows;
	}
	if (!tags.type || tags.type >= Y2_TYPES)
		return 0;
	return header_chunk(fs, chunk, &tags, shadows);
}
