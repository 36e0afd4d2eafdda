// SPDX-License-Identifier: GPL-2.0-only
/*
 * Directories: each has a list of its children, in the order of their cookies; one table of names
 * serves the whole file system. A name enters the table when its header is loaded. A lookup first
 * loads the missing headers of its directory.
 */
#include "yaffs2.h"

static u32 hash_of(u32 parent, const char *name, u32 length)
{
	u32 hash = parent * 0x9e3779b1u;

	for (u32 i = 0; i < length; i++)
		hash = (hash ^ (u8)name[i]) * 0x01000193u;
	return hash ^ hash >> 15;
}

static void enter_name(struct y2_fs *fs, struct y2_object *obj)
{
	obj->name_hash = hash_of(obj->parent->id, obj->name, (u32)strlen(obj->name));
	list_add_tail(&obj->in_names, &fs->by_name[obj->name_hash & fs->hash_mask]);
}

struct y2_dir_pos y2_dir_pos_last(struct y2_object *dir)
{
	return (struct y2_dir_pos){ .dir = dir,
				    .cookie = dir->next_cookie++,
				    .next = &dir->children };
}

/* The position of an entry; valid after its removal too, until the directory changes again */
struct y2_dir_pos y2_dir_pos_of(struct y2_object *obj)
{
	return (struct y2_dir_pos){ .dir = obj->parent,
				    .cookie = obj->cookie,
				    .next = obj->siblings.next };
}

void y2_dir_add(struct y2_fs *fs, struct y2_object *obj, const struct y2_dir_pos *pos)
{
	struct y2_object *dir = pos->dir;

	obj->parent = dir;
	obj->cookie = pos->cookie;
	list_add_tail(&obj->siblings, pos->next);
	if (obj->name)
		enter_name(fs, obj);
	if (!obj->loaded)
		dir->unloaded++;
}

void y2_dir_add_last(struct y2_fs *fs, struct y2_object *dir, struct y2_object *obj)
{
	const struct y2_dir_pos pos = y2_dir_pos_last(dir);

	y2_dir_add(fs, obj, &pos);
}

void y2_dir_remove(struct y2_fs *fs, struct y2_object *obj)
{
	(void)fs;
	if (!obj->loaded)
		obj->parent->unloaded--;
	if (obj->parent->last_read == obj)
		obj->parent->last_read = NULL;
	list_del_init(&obj->siblings);
	list_del_init(&obj->in_names);
	obj->parent = NULL;
}

/* Names the object, in memory only */
int y2_dir_name(struct y2_fs *fs, struct y2_object *obj, const char *name, u32 length)
{
	char *copy = y2_zalloc(length + 1);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, name, length);
	y2_free(obj->name);
	obj->name = copy;
	list_del_init(&obj->in_names);
	if (obj->parent)
		enter_name(fs, obj);
	return 0;
}

static struct y2_object *find(struct y2_fs *fs, const struct y2_object *dir, const char *name,
			      u32 length)
{
	u32 hash = hash_of(dir->id, name, length);
	struct y2_object *obj;

	list_for_each_entry(obj, &fs->by_name[hash & fs->hash_mask], in_names)
		if (obj->name_hash == hash && obj->parent == dir && strlen(obj->name) == length &&
		    !memcmp(obj->name, name, length))
			return obj;
	return NULL;
}

int y2_dir_load(struct y2_fs *fs, struct y2_object *dir)
{
	struct y2_object *obj;

	if (!dir->unloaded)
		return 0;
	list_for_each_entry(obj, &dir->children, siblings) {
		int err = y2_object_load(fs, obj);

		if (err)
			return err;
	}
	return 0;
}

/* Returns the entry itself, which may be a hard link */
int y2_lookup(struct y2_fs *fs, struct y2_object *dir, const char *name, u32 length,
	      struct y2_object **obj)
{
	int err = y2_dir_load(fs, dir);

	if (err)
		return err;
	*obj = find(fs, dir, name, length);
	return *obj ? 0 : -ENOENT;
}

static struct y2_object *before(struct y2_object *obj)
{
	return list_entry(obj->siblings.prev, struct y2_object, siblings);
}

/* Usually close to the end of the last call, so that all calls together take linear time */
static struct y2_object *first_from(const struct y2_object *dir, u64 from)
{
	struct y2_object *obj = dir->last_read;

	if (!obj || !from)
		obj = list_first_entry(&dir->children, struct y2_object, siblings);
	while (obj->siblings.prev != &dir->children && &obj->siblings != &dir->children &&
	       before(obj)->cookie >= from)
		obj = before(obj);
	while (&obj->siblings != &dir->children && obj->cookie < from)
		obj = list_next_entry(obj, siblings);
	return obj;
}

int y2_readdir(struct y2_fs *fs, struct y2_object *dir, u64 from, struct y2_entry *entries, u32 max)
{
	struct y2_object *obj;
	u32 count = 0;
	int err = y2_dir_load(fs, dir);

	if (err)
		return err;
	obj = first_from(dir, from);
	for (; &obj->siblings != &dir->children && count < max;
	     obj = list_next_entry(obj, siblings)) {
		struct y2_object *real = y2_object_resolve(obj);

		err = y2_object_load(fs, real);
		if (err)
			return err;
		entries[count].cookie = obj->cookie;
		entries[count].id = real->id;
		entries[count].mode = real->mode;
		memcpy(entries[count].name, obj->name, strlen(obj->name) + 1);
		count++;
		dir->last_read = obj;
	}
	return (int)count;
}
