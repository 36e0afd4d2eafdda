// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contents of files. A chunk is always written whole; a partial write reads the rest first. Bytes
 * of a chunk beyond the end of the file are not zero: whoever moves the end beyond them zeroes
 * them, and hides older chunks behind it.
 */
#include "yaffs2.h"

#define STEP_CHUNKS	16u	/* written between two checks of the free space */

static u32 chunk_of(const struct y2_fs *fs, u64 offset)
{
	return (u32)div_u64(offset, fs->chunk_bytes) + 1;
}

static u64 start_of(const struct y2_fs *fs, u32 k)
{
	return (u64)(k - 1) * fs->chunk_bytes;
}

u64 y2_file_max(const struct y2_fs *fs)
{
	return (u64)fs->chunk_max * fs->chunk_bytes;
}

/* Reads chunk k to data; a hole reads as zeros */
static int read_chunk(struct y2_fs *fs, struct y2_object *obj, u32 k, u8 *data)
{
	u32 chunk = y2_index_get(&obj->index, k);
	int result;

	if (!chunk) {
		memset(data, 0, fs->chunk_bytes);
		return 0;
	}
	result = y2_chunk_read(fs, chunk - 1, data, NULL);
	if (!y2_is_readable(result)) {
		y2_warn("chunk %u of object %u is lost", k, obj->id);
		fs->stats.chunks_lost++;
		return -EIO;
	}
	return 0;
}

/*
 * Reads chunk k to fs->cached, unless it is there: a chunk does not change until its block is
 * erased
 */
static int read_cached(struct y2_fs *fs, struct y2_object *obj, u32 k)
{
	u32 chunk = y2_index_get(&obj->index, k) - 1;	/* a hole: Y2_NO_CHUNK */
	int err;

	if (chunk != Y2_NO_CHUNK && chunk == fs->cached_chunk)
		return 0;
	fs->cached_chunk = Y2_NO_CHUNK;
	err = read_chunk(fs, obj, k, fs->cached);
	if (!err)
		fs->cached_chunk = chunk;
	return err;
}

static int write_chunk(struct y2_fs *fs, struct y2_object *obj, u32 k, const u8 *data, u32 bytes,
		       enum y2_urgency urgency)
{
	struct y2_tags tags = { .used = true, .object = obj->id, .chunk = k, .bytes = bytes };
	u32 old, chunk = 0;
	int err = y2_index_prepare(&obj->index, k, &fs->leaves);

	if (err)
		return err;
	old = y2_index_get(&obj->index, k);
	if (old)
		tags.serial = y2_serial_after(fs, old - 1);
	err = y2_append(fs, data, &tags, urgency, &chunk);
	if (err)
		return err;
	fs->stats.user_chunks++;
	y2_index_set(&obj->index, k, chunk + 1);
	if (old)
		y2_chunk_obsolete(fs, old - 1);
	return 0;
}

int y2_read(struct y2_fs *fs, struct y2_object *obj, u64 offset, u8 *to, u32 length)
{
	u32 done = 0;

	if (offset >= obj->size)
		return 0;
	length = (u32)min_t(u64, length, obj->size - offset);
	while (done < length) {
		u32 k = chunk_of(fs, offset + done);
		u32 at = (u32)(offset + done - start_of(fs, k));
		u32 part = min(fs->chunk_bytes - at, length - done);
		bool whole = part == fs->chunk_bytes;
		int err = whole ? read_chunk(fs, obj, k, to + done) : read_cached(fs, obj, k);

		if (err)
			return err;
		if (!whole)
			memcpy(to + done, fs->cached + at, part);
		done += part;
	}
	return (int)length;
}

/*
 * The source of the space for new chunks: a reservation is guaranteed, whatever a checkpoint needs
 * meanwhile
 */
enum space { FREE, RESERVED };

static int space_for(struct y2_fs *fs, u32 chunks, enum space space)
{
	if (space == FREE && y2_chunks_free(fs) < chunks)
		return -ENOSPC;
	return y2_gc_make_room(fs, chunks);
}

/*
 * Zeroes the rest of the last chunk before the end moves beyond it. Takes no space, because the
 * chunk replaces one.
 */
static int clean_tail(struct y2_fs *fs, struct y2_object *obj)
{
	u32 k = chunk_of(fs, obj->size), used = (u32)(obj->size - start_of(fs, k));
	int err;

	if (!used || !y2_index_get(&obj->index, k))
		return 0;
	err = y2_gc_make_room(fs, 1);
	if (!err)
		err = read_chunk(fs, obj, k, fs->page);
	if (err)
		return err;
	memset(fs->page + used, 0, fs->chunk_bytes - used);
	return write_chunk(fs, obj, k, fs->page, used, Y2_USER);
}

/*
 * The file is about to get a hole between its last chunk and the chunk of offset. Old chunks may be
 * there: another driver truncates with a header that does not hide them, and leaves that to whoever
 * extends the file.
 */
static int shrink_before_hole(struct y2_fs *fs, struct y2_object *obj, u64 offset)
{
	const struct y2_header_change change = { .shrink = true, .urgency = Y2_CRITICAL };
	u32 next = (u32)DIV_ROUND_UP_ULL(obj->size, fs->chunk_bytes) + 1;
	int err;

	if (fs->yaffs1 || obj->tail_hidden || chunk_of(fs, offset) <= next)
		return 0;
	err = y2_object_load(fs, obj);
	if (!err)
		err = y2_gc_make_room(fs, 1);
	if (!err)
		err = y2_header_write(fs, obj, &change);
	obj->tail_hidden = !err;
	return err;
}

static int write_part(struct y2_fs *fs, struct y2_object *obj, u64 offset, const u8 *from, u32 part)
{
	u32 k = chunk_of(fs, offset);
	u64 start = start_of(fs, k);
	u32 at = (u32)(offset - start), valid = 0, bytes = at + part;
	const u8 *data = from;
	int err;

	if (obj->size > start)
		valid = (u32)min_t(u64, obj->size - start, fs->chunk_bytes);
	bytes = max(bytes, valid);
	if (part < fs->chunk_bytes) {
		if (valid && (at || part < valid)) {
			err = read_chunk(fs, obj, k, fs->page);
			if (err)
				return err;
		}
		memset(fs->page + valid, 0, fs->chunk_bytes - valid);
		memcpy(fs->page + at, from, part);
		data = fs->page;
	}
	err = write_chunk(fs, obj, k, data, bytes, Y2_USER);
	if (!err && offset + part > obj->size)
		obj->size = offset + part;
	return err;
}

static int write_from(struct y2_fs *fs, struct y2_object *obj, u64 offset, const u8 *from,
		      u32 length, enum space space)
{
	u32 done = 0, since = STEP_CHUNKS;
	int err = 0;

	if (fs->options.read_only)
		return -EROFS;
	if (offset > y2_file_max(fs) || length > y2_file_max(fs) - offset)
		return -EFBIG;
	if (length && offset > obj->size && chunk_of(fs, offset) != chunk_of(fs, obj->size))
		err = clean_tail(fs, obj);
	if (!err && length && offset > obj->size)
		err = shrink_before_hole(fs, obj, offset);
	while (!err && done < length) {
		u32 left = fs->chunk_bytes -
			   (u32)(offset + done - start_of(fs, chunk_of(fs, offset + done)));
		u32 part = min(left, length - done);

		if (since == STEP_CHUNKS) {
			u32 step =
				chunk_of(fs, offset + length - 1) - chunk_of(fs, offset + done) + 1;

			err = space_for(fs, min(step, STEP_CHUNKS), space);
			if (err == -ENOSPC && step > 1) {
				since = STEP_CHUNKS - 1;
				err = space_for(fs, 1, space);
			} else {
				since = 0;
			}
			if (err)
				break;
		}
		since++;
		err = write_part(fs, obj, offset + done, from + done, part);
		if (!err)
			done += part;
	}
	if (!done)
		return err;
	obj->mtime = obj->ctime = fs->now();
	y2_mark_dirty(fs, obj);
	return (int)done;
}

int y2_write(struct y2_fs *fs, struct y2_object *obj, u64 offset, const u8 *from, u32 length)
{
	return write_from(fs, obj, offset, from, length, FREE);
}

int y2_write_reserved(struct y2_fs *fs, struct y2_object *obj, u64 offset, const u8 *from,
		      u32 length, u32 chunks)
{
	fs->reserved -= chunks;
	return write_from(fs, obj, offset, from, length, RESERVED);
}

/* Drops the chunks from first on; the header that hides them must be on flash */
void y2_file_drop_chunks(struct y2_fs *fs, struct y2_object *obj, u32 first)
{
	u32 from = first, base;
	struct y2_leaf *leaf;

	while ((leaf = y2_index_next_leaf(&obj->index, from, &base))) {
		for (u32 i = 0; i < Y2_INDEX_SLOTS; i++) {
			u32 chunk = leaf->slot[i];

			if (base + i < first || !chunk)
				continue;
			leaf->slot[i] = 0;
			y2_chunk_obsolete(fs, chunk - 1);
		}
		from = base + Y2_INDEX_SLOTS;
	}
	y2_index_cut(&obj->index, first, &fs->leaves);
}

/*
 * Rewrites the last chunk after a change of size: other drivers rely on the length and bytes of the
 * last chunk. On pages of 512 bytes, most of them derive the end of a file from it alone; so a file
 * that ends in a hole gets a last chunk there.
 */
int y2_file_rewrite_last(struct y2_fs *fs, struct y2_object *obj)
{
	u32 k, used;
	int err;

	if (!obj->size)
		return 0;
	k = chunk_of(fs, obj->size - 1);
	used = (u32)(obj->size - start_of(fs, k));
	if (!fs->yaffs1 && (used == fs->chunk_bytes || !y2_index_get(&obj->index, k)))
		return 0;
	err = read_chunk(fs, obj, k, fs->page);
	if (err)
		return err == -EIO ? 0 : err;
	memset(fs->page + used, 0, fs->chunk_bytes - used);
	return write_chunk(fs, obj, k, fs->page, used, Y2_CRITICAL);
}

static void drop_beyond(struct y2_fs *fs, struct y2_object *obj)
{
	y2_file_drop_chunks(fs, obj, (u32)DIV_ROUND_UP_ULL(obj->size, fs->chunk_bytes) + 1);
}

/*
 * Completes a shrink header. On pages of 512 bytes a mount cannot order chunks: once all chunks
 * beyond the end are marked, another header declares that later chunks beyond the size count again.
 */
int y2_file_end_shrink(struct y2_fs *fs, struct y2_object *obj)
{
	const struct y2_header_change change = { .urgency = Y2_CRITICAL };
	int err;

	drop_beyond(fs, obj);
	err = y2_file_rewrite_last(fs, obj);
	if (!fs->yaffs1)
		return err;
	if (!err)
		err = y2_gc_unmarked(fs);
	return err ? err : y2_header_write(fs, obj, &change);
}

int y2_resize(struct y2_fs *fs, struct y2_object *obj, u64 size)
{
	const struct y2_header_change change = { .shrink = size < obj->size,
						 .urgency = Y2_CRITICAL };
	u64 old = obj->size;
	int err;

	if (fs->options.read_only)
		return -EROFS;
	if (size > y2_file_max(fs))
		return -EFBIG;
	/* For the last chunk, see y2_file_rewrite_last() */
	if (fs->yaffs1 && size > old && !y2_index_get(&obj->index, chunk_of(fs, size - 1)) &&
	    !y2_chunks_free(fs))
		return -ENOSPC;
	err = y2_object_load(fs, obj);
	if (!err && size > old)
		err = clean_tail(fs, obj);
	if (!err && size > old)
		err = shrink_before_hole(fs, obj, size - 1 + fs->chunk_bytes);
	if (!err)
		err = y2_gc_make_room(fs, 3);
	if (err || size == old)
		return err;
	obj->size = size;
	obj->mtime = obj->ctime = fs->now();
	err = y2_header_write(fs, obj, &change);
	if (err) {
		obj->size = old;
		return err;
	}
	obj->tail_hidden |= size < old;
	/* The change is done, even if the rest cannot be written now */
	err = size < old ? y2_file_end_shrink(fs, obj) :
	      fs->yaffs1 ? y2_file_rewrite_last(fs, obj) :
			   0;
	if (err)
		y2_mark_dirty(fs, obj);
	return 0;
}
