// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations that change names. Each is on flash when it returns. A power cut in between leaves the
 * old or the new state: a single header decides.
 */
#include "yaffs2.h"

#define MAX_CHUNKS	8u	/* the most chunks that one of these operations writes */

static u8 type_of(u32 mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return Y2_FILE;
	case S_IFDIR:
		return Y2_DIRECTORY;
	case S_IFLNK:
		return Y2_SYMLINK;
	default:
		return Y2_SPECIAL;
	}
}

static int check_space(struct y2_fs *fs, u32 chunks)
{
	if (fs->options.read_only)
		return -EROFS;
	if (y2_chunks_free(fs) < chunks)
		return -ENOSPC;
	return y2_gc_make_room(fs, MAX_CHUNKS);
}

static void touch_dir(struct y2_fs *fs, struct y2_object *dir)
{
	dir->mtime = dir->ctime = fs->now();
	if (dir->loaded)
		y2_mark_dirty(fs, dir);
}

/* Makes a new object, in the directory in memory and with its header on flash */
static int add(struct y2_fs *fs, const struct y2_dir_pos *pos, const char *name, u32 length,
	       struct y2_object *obj)
{
	const struct y2_header_change change = { .urgency = Y2_USER };
	int err = y2_dir_name(fs, obj, name, length);

	if (!err) {
		obj->loaded = true;
		y2_dir_add(fs, obj, pos);
		err = y2_header_write(fs, obj, &change);
	}
	if (err) {
		y2_object_free(fs, obj);
		return err;
	}
	touch_dir(fs, pos->dir);
	return 0;
}

static int new_object(struct y2_fs *fs, u8 type, struct y2_object **obj)
{
	u32 id = y2_object_new_id(fs);

	if (!id)
		return -ENOSPC;
	*obj = y2_object_new(fs, id, type);
	return *obj ? 0 : -ENOMEM;
}

int y2_create(struct y2_fs *fs, struct y2_object *dir, const char *name, u32 length,
	      const struct y2_new *how, struct y2_object **made)
{
	struct y2_dir_pos pos;
	struct y2_object *obj;
	int err;

	if (length > Y2_NAME_MAX || (how->alias && strlen(how->alias) > Y2_ALIAS_MAX))
		return -ENAMETOOLONG;
	err = check_space(fs, 1);
	if (!err)
		err = new_object(fs, type_of(how->mode), &obj);
	if (err)
		return err;
	obj->mode = how->mode;
	obj->uid = how->uid;
	obj->gid = how->gid;
	obj->rdev = how->rdev;
	obj->atime = obj->mtime = obj->ctime = fs->now();
	obj->tail_hidden = true;
	if (obj->type == Y2_SYMLINK) {
		obj->alias = y2_zalloc(strlen(how->alias) + 1);
		if (!obj->alias) {
			y2_object_free(fs, obj);
			return -ENOMEM;
		}
		memcpy(obj->alias, how->alias, strlen(how->alias));
	}
	pos = y2_dir_pos_last(dir);
	err = add(fs, &pos, name, length, obj);
	if (!err)
		*made = obj;
	return err;
}

int y2_link(struct y2_fs *fs, struct y2_object *target, struct y2_object *dir, const char *name,
	    u32 length)
{
	struct y2_dir_pos pos;
	struct y2_object *obj;
	int err;

	if (length > Y2_NAME_MAX)
		return -ENAMETOOLONG;
	if (target->unlinked)
		return -ENOENT;
	err = check_space(fs, 1);
	if (!err)
		err = y2_object_load(fs, target);
	if (!err)
		err = new_object(fs, Y2_HARDLINK, &obj);
	if (err)
		return err;
	obj->target = target;
	obj->mode = target->mode;
	list_add_tail(&obj->links, &target->links);
	pos = y2_dir_pos_last(dir);
	err = add(fs, &pos, name, length, obj);
	if (!err) {
		target->ctime = fs->now();
		y2_mark_dirty(fs, target);
	}
	return err;
}

/* Frees the object, of which nothing valid is left on flash */
static void destroy(struct y2_fs *fs, struct y2_object *obj)
{
	if (obj->type == Y2_FILE)
		y2_file_drop_chunks(fs, obj, 1);
	if (fs->mark_failed) {
		/* The collection may rewrite the header: as that of a deleted object */
		if (obj->parent)
			y2_dir_remove(fs, obj);
		obj->unlinked = true;
		y2_gc_unmarked(fs);
	}
	if (obj->header != Y2_NO_CHUNK)
		y2_chunk_obsolete(fs, obj->header);
	y2_object_free(fs, obj);
}

static int destroy_on_flash(struct y2_fs *fs, struct y2_object *obj)
{
	int err = y2_tombstone_write(fs, obj);

	if (!err)
		destroy(fs, obj);
	return err;
}

/*
 * A concurrent readdir must see the new name exactly once if the name existed before, and must not
 * loop: so the object takes the position of the one it replaces, or keeps its own within the same
 * directory.
 */
static struct y2_dir_pos pos_after_move(struct y2_object *obj, struct y2_object *dir,
					struct y2_object *over)
{
	if (over)
		return (struct y2_dir_pos){ .dir = dir,
					    .cookie = over->cookie,
					    .next = &over->siblings };
	return obj->parent == dir ? y2_dir_pos_of(obj) : y2_dir_pos_last(dir);
}

/*
 * Renames the object, to the name of `over` if there is one. If the header cannot be written,
 * nothing changes
 */
static int move(struct y2_fs *fs, struct y2_object *obj, struct y2_object *dir, const char *name,
		u32 length, struct y2_object *over)
{
	const struct y2_header_change change = { .shadows = over ? over->id : 0,
						 .urgency = Y2_CRITICAL };
	const struct y2_dir_pos old = y2_dir_pos_of(obj), pos = pos_after_move(obj, dir, over);
	char *old_name = obj->name;
	int err;

	obj->name = NULL;
	y2_dir_remove(fs, obj);
	err = y2_dir_name(fs, obj, name, length);
	if (!err) {
		obj->ctime = fs->now();
		y2_dir_add(fs, obj, &pos);
		err = y2_header_write(fs, obj, &change);
		if (!err) {
			y2_free(old_name);
			/* The shadow must not outlive its target, whose id may be reused */
			if (over && fs->yaffs1)
				y2_mark_dirty(fs, obj);
			return 0;
		}
		y2_dir_remove(fs, obj);
		y2_free(obj->name);
	}
	obj->name = old_name;
	y2_dir_add(fs, obj, &old);
	return err;
}

/* Still in use: its parent becomes "unlinked", and the next mount drops it */
static int unlink_open(struct y2_fs *fs, struct y2_object *obj)
{
	const struct y2_header_change change = { .urgency = Y2_CRITICAL };
	const struct y2_dir_pos pos = y2_dir_pos_of(obj);
	int err;

	y2_dir_remove(fs, obj);
	obj->unlinked = true;
	err = y2_header_write(fs, obj, &change);
	if (err) {
		obj->unlinked = false;
		y2_dir_add(fs, obj, &pos);
	}
	return err;
}

static void touch(struct y2_fs *fs, struct y2_object *obj)
{
	if (y2_object_load(fs, obj))
		return;
	obj->ctime = fs->now();
	y2_mark_dirty(fs, obj);
}

/*
 * The header of `by` has taken over the object's name, which completes the change. If no tombstone
 * can be written now, the object loses its name in memory. y2_flush() tries again before it may
 * write `by` without its shadow.
 */
static void drop_shadowed(struct y2_fs *fs, struct y2_object *obj, struct y2_object *by)
{
	struct y2_object *target = obj->type == Y2_HARDLINK ? obj->target : NULL;
	int err = obj->refs ? unlink_open(fs, obj) : destroy_on_flash(fs, obj);

	if (err) {
		y2_dir_remove(fs, obj);
		obj->unlinked = true;
		if (target) {
			/* The object may be freed before the link */
			list_del_init(&obj->links);
			obj->target_id = target->id;
			obj->target = NULL;
		}
		y2_mark_dirty(fs, obj);
		if (!list_empty(&by->in_dirty)) {
			list_del_init(&by->in_dirty);
			y2_mark_dirty(fs, by);
		}
	}
	if (target && target != by)
		touch(fs, target);
}

/* Moves the object to one of its links, which frees its own name */
static int move_to_link(struct y2_fs *fs, struct y2_object *obj)
{
	struct y2_object *link = list_first_entry(&obj->links, struct y2_object, links);
	int err = y2_object_load(fs, link);

	if (!err)
		err = move(fs, obj, link->parent, link->name, (u32)strlen(link->name), link);
	if (!err)
		drop_shadowed(fs, link, obj);
	return err;
}

/*
 * Completes an interrupted rename of another driver: the object's name was given to another object
 * before the object moved to a link. No room is made first, because the collection would have to
 * write a header without a name.
 */
int y2_promote_link(struct y2_fs *fs, struct y2_object *obj)
{
	struct y2_object *link = list_first_entry(&obj->links, struct y2_object, links);
	const struct y2_header_change change = { .shadows = link->id, .urgency = Y2_CRITICAL };
	const struct y2_dir_pos pos = { .dir = link->parent,
					.cookie = link->cookie,
					.next = &link->siblings };
	int err = y2_object_load(fs, obj);

	if (!err)
		err = y2_object_load(fs, link);
	if (!err)
		err = y2_dir_name(fs, obj, link->name, (u32)strlen(link->name));
	if (err)
		return err;
	obj->unlinked = false;
	y2_dir_add(fs, obj, &pos);
	err = y2_header_write(fs, obj, &change);
	if (err) {
		y2_dir_remove(fs, obj);
		obj->unlinked = true;
		return err;
	}
	if (fs->yaffs1)
		y2_mark_dirty(fs, obj);		/* as in move() */
	drop_shadowed(fs, link, obj);
	return 0;
}

static int unlink_entry(struct y2_fs *fs, struct y2_object *entry)
{
	struct y2_object *target;
	int err;

	if (entry->type == Y2_HARDLINK) {
		target = entry->target;
		err = destroy_on_flash(fs, entry);
		if (!err)
			touch(fs, target);
		return err;
	}
	if (!list_empty(&entry->links))
		return move_to_link(fs, entry);
	if (entry->refs)
		return unlink_open(fs, entry);
	return destroy_on_flash(fs, entry);
}

int y2_unlink(struct y2_fs *fs, struct y2_object *entry)
{
	struct y2_object *dir = entry->parent;
	int err;

	if (fs->options.read_only)
		return -EROFS;
	if (entry == fs->lost_and_found || entry == fs->root)
		return -EBUSY;
	if (entry->type == Y2_DIRECTORY && !list_empty(&entry->children))
		return -ENOTEMPTY;
	err = y2_gc_make_room(fs, MAX_CHUNKS);
	if (!err)
		err = y2_object_load(fs, entry);
	if (!err)
		err = unlink_entry(fs, entry);
	if (!err)
		touch_dir(fs, dir);
	return err;
}

/*
 * The old file of this name has other links. A second link keeps the name while the file moves to
 * one of them; the rename then replaces that link instead of the file. The link is returned in
 * *old.
 */
static int make_replaceable(struct y2_fs *fs, struct y2_object **old)
{
	struct y2_object *link, *file = *old;
	struct y2_dir_pos pos;
	int err = check_space(fs, 1);

	if (!err)
		err = new_object(fs, Y2_HARDLINK, &link);
	if (err)
		return err;
	link->target = file;
	link->mode = file->mode;
	pos = (struct y2_dir_pos){ .dir = file->parent,
				   .cookie = file->cookie,
				   .next = &file->siblings };
	err = add(fs, &pos, file->name, (u32)strlen(file->name), link);
	if (err)
		return err;
	/* Not in the list earlier, or the file would move onto itself */
	err = move_to_link(fs, file);
	if (err) {
		drop_shadowed(fs, link, file);
		return err;
	}
	list_add_tail(&link->links, &file->links);
	*old = link;
	return 0;
}

/* Takes no space, because a header replaces one */
int y2_rename(struct y2_fs *fs, struct y2_object *entry, struct y2_object *dir, const char *name,
	      u32 length)
{
	struct y2_object *old = NULL, *old_dir = entry->parent;
	int err;

	if (length > Y2_NAME_MAX)
		return -ENAMETOOLONG;
	if (entry == fs->lost_and_found || entry == fs->root)
		return -EBUSY;
	err = check_space(fs, 0);
	if (!err)
		err = y2_object_load(fs, entry);
	if (!err)
		err = y2_lookup(fs, dir, name, length, &old);
	if (err && err != -ENOENT)
		return err;
	if (old && y2_object_resolve(old) == y2_object_resolve(entry))
		return 0;
	if (old && old == fs->lost_and_found)
		return -EBUSY;
	if (old && old->type == Y2_DIRECTORY && !list_empty(&old->children))
		return -ENOTEMPTY;
	if (old && old->type != Y2_HARDLINK && !list_empty(&old->links)) {
		err = make_replaceable(fs, &old);
		if (err)
			return err;
	}
	err = move(fs, entry, dir, name, length, old);
	if (err)
		return err;
	if (old)
		drop_shadowed(fs, old, entry);
	touch_dir(fs, old_dir);
	if (dir != old_dir)
		touch_dir(fs, dir);
	return 0;
}

/*
 * Drops an unused object. Chunks newer than its "unlinked" header must not outlive that header. So
 * the header stays until there is room for a tombstone; dirty objects are retried.
 */
int y2_drop_unlinked(struct y2_fs *fs, struct y2_object *obj)
{
	int err = y2_gc_make_room(fs, 1);

	if (!err)
		err = y2_tombstone_write(fs, obj);
	if (err)
		y2_mark_dirty(fs, obj);
	else
		destroy(fs, obj);
	return err;
}

void y2_object_put(struct y2_fs *fs, struct y2_object *obj)
{
	if (--obj->refs || !obj->unlinked || y2_object_needs_name(obj))
		return;
	if (fs->options.read_only)
		destroy(fs, obj);
	else
		y2_drop_unlinked(fs, obj);
}
