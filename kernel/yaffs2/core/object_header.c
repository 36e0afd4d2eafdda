// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes object headers. A shrink header invalidates older chunks beyond its size. A tombstone (a
 * header whose parent is "deleted") invalidates everything older of its object. A shadowing header
 * deletes another object. Data that other drivers keep behind a header, such as extended
 * attributes, is copied.
 */
#include "yaffs2.h"

static void describe(const struct y2_object *obj, const struct y2_header_change *change,
		     struct y2_header *header, struct y2_tags *tags)
{
	memset(header, 0, sizeof(*header));
	header->type = obj->type == Y2_UNKNOWN ? Y2_FILE : obj->type;
	header->parent = obj->unlinked ? Y2_ID_UNLINKED :
			 obj->parent   ? obj->parent->id :
					 Y2_ID_ROOT;
	if (obj->name)
		memcpy(header->name, obj->name, strlen(obj->name));
	if (obj->alias)
		memcpy(header->alias, obj->alias, strlen(obj->alias));
	header->mode = obj->mode;
	header->uid = obj->uid;
	header->gid = obj->gid;
	header->atime = obj->atime;
	header->mtime = obj->mtime;
	header->ctime = obj->ctime;
	header->rdev = obj->rdev;
	if (header->type == Y2_FILE)
		header->size = obj->size;
	if (header->type == Y2_HARDLINK)
		header->equivalent = obj->target ? obj->target->id : obj->target_id;
	header->shadows = change->shadows;
	header->shrink = change->shrink;
	*tags = (struct y2_tags){
		.used = true,
		.object = obj->id,
		.serial = (obj->serial + 1) & 3,
		.extra = true,
		.type = header->type,
		.parent = header->parent,
		.shrink = header->shrink,
		.shadows = header->shadows,
		.size = header->size,
		.equivalent = header->equivalent,
	};
}

static int write_page(struct y2_fs *fs, const struct y2_header *header, struct y2_tags *tags,
		      enum y2_urgency urgency, u32 before, u32 *chunk)
{
	int result = before == Y2_NO_CHUNK ? Y2_READ_UNFIXED :
					     y2_chunk_read(fs, before, fs->page, NULL);

	if (result < 0)
		return result;
	if (!y2_is_readable(result))
		memset(fs->page, 0xff, fs->chunk_bytes);
	y2_header_pack(header, fs->page);
	fs->stats.header_chunks++;
	return y2_append(fs, fs->page, tags, urgency, chunk);
}

static void replace_header(struct y2_fs *fs, struct y2_object *obj, u32 chunk)
{
	u32 old = obj->header;

	obj->header = chunk;
	obj->serial = (obj->serial + 1) & 3;
	if (old != Y2_NO_CHUNK)
		y2_chunk_obsolete(fs, old);
}

/* Writes the header of a loaded object. Its old header becomes obsolete. */
int y2_header_write(struct y2_fs *fs, struct y2_object *obj, const struct y2_header_change *change)
{
	struct y2_header *header = y2_zalloc(sizeof(*header));
	struct y2_tags tags;
	u32 chunk = 0;
	int err;

	if (!header)
		return -ENOMEM;
	describe(obj, change, header, &tags);
	err = write_page(fs, header, &tags, change->urgency,
			 obj->extended ? obj->header : Y2_NO_CHUNK, &chunk);
	y2_free(header);
	if (err)
		return err;
	list_del_init(&obj->in_dirty);
	replace_header(fs, obj, chunk);
	return 0;
}

/*
 * A tombstone is obsolete as soon as it is written: it is kept because its block counts as one with
 * shrink headers. On pages of 512 bytes it stays the object's header until everything else of the
 * object is marked.
 */
int y2_tombstone_write(struct y2_fs *fs, struct y2_object *obj)
{
	const struct y2_header_change change = { .shrink = true };
	struct y2_header *header = y2_zalloc(sizeof(*header));
	struct y2_tags tags;
	u32 chunk;
	int err;

	if (!header)
		return -ENOMEM;
	describe(obj, &change, header, &tags);
	memset(header->name, 0, sizeof(header->name));
	memcpy(header->name, "deleted", 7);
	header->parent = tags.parent = Y2_ID_DELETED;
	header->size = tags.size = 0;
	err = write_page(fs, header, &tags, Y2_CRITICAL, Y2_NO_CHUNK, &chunk);
	y2_free(header);
	if (!err && fs->yaffs1)
		replace_header(fs, obj, chunk);
	else if (!err)
		y2_chunk_obsolete(fs, chunk);
	return err;
}

/*
 * Attributes, sizes and times reach the flash by y2_flush(), y2_sync() or when the collection moves
 * the header
 */
void y2_mark_dirty(struct y2_fs *fs, struct y2_object *obj)
{
	if (list_empty(&obj->in_dirty))
		list_add_tail(&obj->in_dirty, &fs->dirty);
}

int y2_flush(struct y2_fs *fs, struct y2_object *obj)
{
	const struct y2_header_change change = { .urgency = Y2_CRITICAL };
	int err;

	if (list_empty(&obj->in_dirty))
		return 0;
	if (y2_object_needs_name(obj))
		return y2_promote_link(fs, obj);
	if (obj->unlinked && !obj->refs)
		return y2_drop_unlinked(fs, obj);
	err = y2_object_load(fs, obj);
	if (!err)
		err = y2_gc_make_room(fs, 1);
	/* The collection may just have written it */
	return err || list_empty(&obj->in_dirty) ? err : y2_header_write(fs, obj, &change);
}
