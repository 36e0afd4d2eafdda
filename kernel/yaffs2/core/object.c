// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects in memory, found by id. Fields stored only in the header (name, mode, times) are read on
 * first use.
 */
#include "yaffs2.h"

struct y2_object *y2_object_find(struct y2_fs *fs, u32 id)
{
	struct list_head *list = &fs->by_id[id & fs->hash_mask];
	struct y2_object *obj;

	list_for_each_entry(obj, list, in_hash)
		if (obj->id == id)
			return obj;
	return NULL;
}

/* Converts a file whose chunks are dropped, or a new object */
void y2_object_set_type(struct y2_object *obj, u8 type)
{
	bool was_file = obj->type == Y2_FILE || obj->type == Y2_UNKNOWN;

	obj->type = type;
	if (was_file && (type == Y2_FILE || type == Y2_UNKNOWN))
		return;
	if (type == Y2_DIRECTORY) {
		INIT_LIST_HEAD(&obj->children);
		obj->unloaded = 0;
		obj->last_read = NULL;
		obj->next_cookie = 1;
	} else if (type == Y2_HARDLINK) {
		obj->target = NULL;
		obj->target_id = 0;
	}
}

struct y2_object *y2_object_new(struct y2_fs *fs, u32 id, u8 type)
{
	struct y2_object *obj = y2_zalloc(sizeof(*obj));

	if (!obj)
		return NULL;
	obj->id = id;
	obj->header = Y2_NO_CHUNK;
	INIT_LIST_HEAD(&obj->siblings);
	INIT_LIST_HEAD(&obj->in_names);
	INIT_LIST_HEAD(&obj->links);
	INIT_LIST_HEAD(&obj->in_dirty);
	list_add_tail(&obj->in_hash, &fs->by_id[id & fs->hash_mask]);
	y2_object_set_type(obj, type);
	fs->objects++;
	return obj;
}

/* The caller handles its chunks */
void y2_object_free(struct y2_fs *fs, struct y2_object *obj)
{
	if (obj->parent)
		y2_dir_remove(fs, obj);
	if (obj->type == Y2_FILE || obj->type == Y2_UNKNOWN)
		y2_index_cut(&obj->index, 0, &fs->leaves);
	list_del_init(&obj->in_hash);
	list_del_init(&obj->in_dirty);
	list_del_init(&obj->links);
	y2_free(obj->name);
	y2_free(obj->alias);
	y2_free(obj);
	fs->objects--;
}

u32 y2_object_new_id(struct y2_fs *fs)
{
	for (u32 tries = 0; tries < Y2_ID_NEW_MAX; tries++) {
		u32 id = fs->next_id;

		fs->next_id = id < Y2_ID_NEW_MAX ? id + 1 : Y2_ID_FIRST_FREE;
		if (!y2_object_find(fs, id))
			return id;
	}
	return 0;
}

static char *copy_string(const char *from)
{
	size_t bytes = strlen(from) + 1;
	char *to = y2_zalloc(bytes);

	if (to)
		memcpy(to, from, bytes);
	return to;
}

int y2_object_fill(struct y2_fs *fs, struct y2_object *obj, const struct y2_header *header)
{
	int err;

	if (obj->loaded)
		return 0;
	if (obj->type == Y2_SYMLINK && !obj->alias) {
		obj->alias = copy_string(header->alias);
		if (!obj->alias)
			return -ENOMEM;
	}
	err = y2_dir_name(fs, obj, header->name, (u32)strlen(header->name));
	if (err)
		return err;
	obj->mode = header->mode;
	obj->uid = header->uid;
	obj->gid = header->gid;
	obj->atime = header->atime;
	obj->mtime = header->mtime;
	obj->ctime = header->ctime;
	obj->rdev = header->rdev;
	obj->loaded = true;
	if (obj->parent)
		obj->parent->unloaded--;
	return 0;
}

static const u32 type_modes[Y2_TYPES] = {
	[Y2_UNKNOWN] = S_IFREG,	  [Y2_FILE] = S_IFREG,	   [Y2_SYMLINK] = S_IFLNK,
	[Y2_DIRECTORY] = S_IFDIR, [Y2_HARDLINK] = S_IFREG, [Y2_SPECIAL] = S_IFIFO,
};

/*
 * An object with a lost or invalid header stays visible and removable: obj1234, without permissions
 */
static void make_up(struct y2_fs *fs, const struct y2_object *obj, struct y2_header *header)
{
	memset(header, 0, sizeof(*header));
	header->mode = type_modes[obj->type];
	if (obj == fs->lost_and_found)
		memcpy(header->name, "lost+found", 10);
	else if (obj != fs->root)
		snprintf(header->name, sizeof(header->name), "obj%u", obj->id);
	if (obj == fs->root || obj == fs->lost_and_found)
		header->mode |= 0755;
	header->atime = header->mtime = header->ctime = fs->now();
}

/* True if there is data behind the header in fs->page */
static bool page_goes_on(const struct y2_fs *fs)
{
	const u8 *behind = fs->page + Y2_HEADER_BYTES;

	return memchr_inv(behind, 0xff, fs->chunk_bytes - Y2_HEADER_BYTES);
}

int y2_object_load(struct y2_fs *fs, struct y2_object *obj)
{
	struct y2_header *header;
	int result = 0, err;

	if (obj->loaded)
		return 0;
	header = y2_zalloc(sizeof(*header));
	if (!header)
		return -ENOMEM;
	if (obj->header != Y2_NO_CHUNK)
		result = y2_chunk_read(fs, obj->header, fs->page, NULL);
	if (result < 0) {
		y2_free(header);
		return result;	/* the next try may succeed */
	}
	if (obj->header == Y2_NO_CHUNK || !y2_is_readable(result) ||
	    !y2_header_unpack(fs->page, header) || header->type != obj->type) {
		if (obj->header != Y2_NO_CHUNK) {
			y2_warn("header of object %u is lost", obj->id);
			fs->stats.chunks_lost++;
		}
		make_up(fs, obj, header);
	} else {
		obj->extended = page_goes_on(fs);
	}
	if (!header->name[0] && obj->parent)
		snprintf(header->name, sizeof(header->name), "obj%u", obj->id);
	if ((header->mode & S_IFMT) == 0)
		header->mode |= type_modes[obj->type];
	err = y2_object_fill(fs, obj, header);
	y2_free(header);
	return err;
}

struct y2_object *y2_object_resolve(struct y2_object *obj)
{
	return obj->type == Y2_HARDLINK ? obj->target : obj;
}

u32 y2_object_links(const struct y2_object *obj)
{
	const struct list_head *at;
	u32 count = !obj->unlinked;

	for (at = obj->links.next; at != &obj->links; at = at->next)
		count++;
	return count;
}

/* Finds the owner of a chunk with unreadable tags, by searching all objects */
struct y2_object *y2_object_owner(struct y2_fs *fs, u32 chunk, u32 *k)
{
	struct y2_object *obj;

	for (u32 i = 0; i <= fs->hash_mask; i++) {
		list_for_each_entry(obj, &fs->by_id[i], in_hash) {
			u32 base = 0, from = 0;
			struct y2_leaf *leaf;

			*k = 0;
			if (obj->header == chunk)
				return obj;
			if (obj->type != Y2_FILE)
				continue;
			while ((leaf = y2_index_next_leaf(&obj->index, from, &base))) {
				for (u32 j = 0; j < Y2_INDEX_SLOTS; j++) {
					*k = base + j;
					if (leaf->slot[j] == chunk + 1)
						return obj;
				}
				from = base + Y2_INDEX_SLOTS;
				if (!from)
					break;
			}
		}
	}
	return NULL;
}
