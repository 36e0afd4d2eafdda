// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scans pages of 512 bytes, in the layout of YAFFS1. Their tags have no sequence number, so blocks
 * come in any order. Obsolete pages are marked. If two chunks for one place have no mark (the power
 * failed before the older was marked), the one whose serial number is one higher counts. All chunks
 * are collected first, then headers are read.
 *
 * The order of writes keeps truncation and deletion atomic: first the header that announces it,
 * then the marks of everything that goes, and finally the header's replacement or mark.
 */
#include "scan.h"

/* Dismisses a chunk that is not counted as live */
void y2_scan_yaffs1_dismiss(struct y2_fs *fs, u32 chunk)
{
	if (fs->options.read_only)
		fs->unmarked = true;
	else
		y2_chunk_mark(fs, chunk);
}

/* True: the chunk replaces the other, which is obsolete now */
static bool replaces(struct y2_fs *fs, u32 chunk, const struct y2_tags *tags, u32 other)
{
	if (tags->serial != y2_serial_after(fs, other)) {
		y2_scan_yaffs1_dismiss(fs, chunk);
		return false;
	}
	y2_chunk_obsolete(fs, other);
	return true;
}

static void header_chunk(struct y2_fs *fs, struct y2_object *obj, u32 chunk,
			 const struct y2_tags *tags)
{
	if (obj->header != Y2_NO_CHUNK && !replaces(fs, chunk, tags, obj->header))
		return;
	obj->header = chunk;
	obj->serial = tags->serial;
	y2_chunk_live(fs, chunk);
}

static int data_chunk(struct y2_fs *fs, struct y2_object *obj, u32 chunk,
		      const struct y2_tags *tags)
{
	u64 start = (u64)(tags->chunk - 1) * fs->chunk_bytes, end = start + tags->bytes;
	u32 other;
	int err;

	if (!tags->bytes || (obj->type != Y2_FILE && obj->type != Y2_UNKNOWN))
		return 0;
	err = y2_index_prepare(&obj->index, tags->chunk, &fs->leaves);
	if (err)
		return err;
	other = y2_index_get(&obj->index, tags->chunk);
	if (other && !replaces(fs, chunk, tags, other - 1))
		return 0;
	y2_index_set(&obj->index, tags->chunk, chunk + 1);
	y2_chunk_live(fs, chunk);
	/* The replaced chunk may have been longer, and counted */
	if (end > obj->size || (other && obj->size <= start + fs->chunk_bytes))
		obj->size = end;
	return 0;
}

static void id_in_use(struct y2_fs *fs, u32 id)
{
	if (id >= fs->next_id && id < Y2_ID_NEW_MAX)
		fs->next_id = id + 1;
}

int y2_scan_yaffs1_chunk(struct y2_fs *fs, u32 chunk, const struct y2_tags *tags)
{
	struct y2_object *obj;

	if (tags->marked || tags->object == Y2_ID_UNLINKED || tags->object == Y2_ID_DELETED)
		return 0;
	id_in_use(fs, tags->object);
	obj = y2_scan_object(fs, tags->object);
	if (!obj)
		return -ENOMEM;
	if (tags->chunk)
		return data_chunk(fs, obj, chunk, tags);
	header_chunk(fs, obj, chunk, tags);
	return 0;
}

/* Adds a page that may be torn: after all others, if its place is still free */
int y2_scan_yaffs1_maybe_torn(struct y2_fs *fs, u32 chunk)
{
	struct y2_object *obj;
	struct y2_tags tags;

	if (y2_chunk_read(fs, chunk, NULL, &tags) < 0 || !tags.used || tags.marked)
		return 0;
	obj = y2_object_find(fs, tags.object);
	if (obj && (tags.chunk ? y2_index_get(&obj->index, tags.chunk) != 0 :
				 obj->header != Y2_NO_CHUNK)) {
		y2_scan_yaffs1_dismiss(fs, chunk);
		return 0;
	}
	return y2_scan_yaffs1_chunk(fs, chunk, &tags);
}

static void set_type(struct y2_fs *fs, struct y2_object *obj, u8 type)
{
	if (type != Y2_FILE && (obj->type == Y2_UNKNOWN || obj->type == Y2_FILE)) {
		y2_file_drop_chunks(fs, obj, 1);
		y2_index_cut(&obj->index, 0, &fs->leaves);
	}
	if (obj->type != type)
		y2_object_set_type(obj, type);
}

static void apply_size(struct y2_fs *fs, struct y2_object *obj, const struct y2_header *header)
{
	if (!header->shrink) {
		obj->size = max(header->size, obj->size);
		return;
	}
	obj->size = header->size;
	obj->scan_shrunk = true;
	y2_file_drop_chunks(fs, obj, (u32)DIV_ROUND_UP_ULL(obj->size, fs->chunk_bytes) + 1);
}

/*
 * The newer of two headers is unknown; but an object that has moved to another name since is not
 * the one meant
 */
static bool has_that_name(struct y2_fs *fs, const struct y2_object *obj,
			  const struct y2_header *header)
{
	int result = obj->header == Y2_NO_CHUNK ? Y2_READ_UNFIXED :
						  y2_chunk_read(fs, obj->header, fs->page, NULL);

	return !y2_is_readable(result) ||
	       (get_unaligned_le32(fs->page + Y2_OH_PARENT) == header->parent &&
		!strncmp((const char *)fs->page + Y2_OH_NAME, header->name, Y2_NAME_MAX + 1));
}

static void apply_shadows(struct y2_fs *fs, struct y2_object *obj, const struct y2_header *header)
{
	u32 id = header->shadows;
	struct y2_object *shadowed = id > Y2_ID_DELETED ? y2_object_find(fs, id) : NULL;

	id_in_use(fs, id);
	if (shadowed && shadowed != obj && has_that_name(fs, shadowed, header))
		shadowed->scan_shadowed = true;
	if (id && !fs->options.read_only)
		y2_mark_dirty(fs, obj);
}

static void apply(struct y2_fs *fs, struct y2_object *obj, const struct y2_header *header)
{
	bool fixed = obj == fs->root || obj == fs->lost_and_found;

	if (fixed)
		return;
	if (header->parent == Y2_ID_DELETED || header->parent == Y2_ID_UNLINKED) {
		obj->scan_deleted = true;
		return;
	}
	obj->scan_seen = true;
	obj->cookie = header->parent;	/* until all parents are known */
	set_type(fs, obj, (u8)header->type);
	if (obj->type == Y2_FILE)
		apply_size(fs, obj, header);
	else if (obj->type == Y2_HARDLINK)
		obj->target_id = header->equivalent;
	apply_shadows(fs, obj, header);
}

/* A driver that writes big-endian on another computer swaps headers, but not the tags of YAFFS1 */
int y2_scan_yaffs1_headers(struct y2_fs *fs, struct y2_scan *scan)
{
	u32 right = 0, swapped = 0;
	struct y2_object *obj;

	for (u32 i = 0; i <= fs->hash_mask; i++) {
		list_for_each_entry(obj, &fs->by_id[i], in_hash) {
			int result;

			if (obj->header == Y2_NO_CHUNK)
				continue;
			result = y2_chunk_read(fs, obj->header, fs->page, NULL);
			if (result == -ENOMEM)
				return result;
			if (y2_is_readable(result) && y2_header_unpack(fs->page, &scan->header)) {
				right++;
			} else {
				swapped += y2_is_readable(result) && y2_header_is_swapped(fs->page);
				scan->header = (struct y2_header){ .type = Y2_FILE,
								   .parent = Y2_ID_LOST_AND_FOUND };
			}
			apply(fs, obj, &scan->header);
		}
	}
	return swapped > right ? y2_scan_refuse_big_endian() : 0;
}

/* Data before headers: a header may announce the deletion of data */
static void mark_all(struct y2_fs *fs, bool headers)
{
	for (u32 i = 0; i < fs->geometry.blocks; i++) {
		u32 first = i * fs->geometry.chunks_per_block;

		if (fs->blocks[i].state != Y2_BLOCK_FULL)
			continue;
		for (u32 page = 0; page < fs->blocks[i].written; page++) {
			struct y2_tags tags;

			if (y2_chunk_is_live(fs, first + page) ||
			    y2_chunk_read(fs, first + page, NULL, &tags) < 0)
				continue;
			if (tags.used && !tags.marked && !tags.chunk == headers)
				y2_chunk_mark(fs, first + page);
		}
	}
}

/* Completes what a cut interrupted, once the flash is writable */
void y2_scan_yaffs1_write(struct y2_fs *fs)
{
	struct y2_object *obj;

	if (fs->unmarked) {
		mark_all(fs, false);
		mark_all(fs, true);
		fs->unmarked = false;
	}
	for (u32 i = 0; i <= fs->hash_mask; i++) {
		list_for_each_entry(obj, &fs->by_id[i], in_hash) {
			if (!obj->scan_shrunk || y2_object_load(fs, obj) ||
			    y2_file_end_shrink(fs, obj))
				continue;
			obj->scan_shrunk = false;
		}
	}
}
