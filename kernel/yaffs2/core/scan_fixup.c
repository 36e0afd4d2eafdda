// SPDX-License-Identifier: GPL-2.0-only
/*
 * Repairs after a scan: objects without parent go to lost+found, deleted ones are dropped, links
 * find their targets, and operations that a power cut interrupted are completed.
 */
#include "scan.h"

static void drop(struct y2_fs *fs, struct y2_object *obj)
{
	if (obj->type == Y2_FILE || obj->type == Y2_UNKNOWN)
		y2_file_drop_chunks(fs, obj, 1);
	if (obj->header != Y2_NO_CHUNK)
		y2_chunk_obsolete(fs, obj->header);
	y2_object_free(fs, obj);
}

#define for_each_object(fs, bucket, obj, after) \
	for (bucket = 0; bucket <= (fs)->hash_mask; bucket++) \
		list_for_each_entry_safe(obj, after, &(fs)->by_id[bucket], in_hash)

static bool is_fixed(const struct y2_fs *fs, const struct y2_object *obj)
{
	return obj == fs->root || obj == fs->lost_and_found;
}

/*
 * The object was written to after its last name was removed, and then the power failed. Another
 * tombstone behind those chunks keeps them from being found without one when the first is
 * collected.
 */
static void rewrite_tombstone(struct y2_fs *fs, struct y2_object *obj)
{
	y2_object_set_type(obj, Y2_FILE);
	obj->loaded = true;
	obj->unlinked = true;
	obj->scan_linked = false;
	y2_mark_dirty(fs, obj);
}

static void find_linked(struct y2_fs *fs)
{
	struct y2_object *obj, *after;
	u32 bucket;

	for_each_object(fs, bucket, obj, after) {
		struct y2_object *target = NULL;

		if (obj->type == Y2_HARDLINK && !obj->scan_shadowed)
			target = y2_object_find(fs, obj->target_id);
		if (target && target->type != Y2_HARDLINK && target->type != Y2_DIRECTORY)
			target->scan_linked = true;
	}
}

/* None of its chunks is valid, and there is no tombstone yet */
static void end_shadowed(struct y2_fs *fs, struct y2_object *obj)
{
	bool is_file = obj->type == Y2_FILE || obj->type == Y2_UNKNOWN;
	u32 base;

	if (fs->yaffs1 ||
	    (obj->header == Y2_NO_CHUNK && is_file && !y2_index_next_leaf(&obj->index, 0, &base))) {
		drop(fs, obj);
		return;
	}
	if (is_file) {
		y2_file_drop_chunks(fs, obj, 1);
		y2_index_cut(&obj->index, 0, &fs->leaves);
	}
	if (obj->header != Y2_NO_CHUNK)
		y2_chunk_obsolete(fs, obj->header);
	obj->header = Y2_NO_CHUNK;
	obj->type = Y2_FILE;
	obj->index = (struct y2_index) { .root = NULL };
	obj->size = 0;
	rewrite_tombstone(fs, obj);
}

/*
 * Another object has its name. If links lead to it, it stays without a name until
 * y2_scan_finish_shadows(). True: the caller is done with it.
 */
static bool fixup_shadowed(struct y2_fs *fs, struct y2_object *obj)
{
	if (!obj->scan_shadowed)
		return false;
	if (obj->scan_seen && !obj->scan_deleted && obj->scan_linked)
		obj->unlinked = true;
	else
		end_shadowed(fs, obj);
	return true;
}

/*
 * Chunks without header were user data: they are kept, under a name that y2_object_load() makes up
 */
static void fixup_objects(struct y2_fs *fs)
{
	struct y2_object *obj, *after;
	u32 bucket;

	for_each_object(fs, bucket, obj, after) {
		if (is_fixed(fs, obj) || fixup_shadowed(fs, obj) ||
		    (obj->scan_seen && !(fs->yaffs1 && obj->scan_deleted)))
			continue;
		if (obj->scan_needs_tombstone) {
			rewrite_tombstone(fs, obj);
			continue;
		}
		if (obj->scan_deleted || !obj->size) {
			drop(fs, obj);
			continue;
		}
		y2_warn("object %u has data and no header", obj->id);
		y2_object_set_type(obj, Y2_FILE);
		obj->cookie = Y2_ID_LOST_AND_FOUND;
	}
}

static void find_parents(struct y2_fs *fs)
{
	struct y2_object *obj, *after;
	u32 bucket;

	y2_dir_add_last(fs, fs->root, fs->lost_and_found);
	for_each_object(fs, bucket, obj, after) {
		struct y2_object *parent;

		if (is_fixed(fs, obj) || obj->unlinked)
			continue;
		parent = obj->cookie <= Y2_ID_MAX ? y2_object_find(fs, (u32)obj->cookie) : NULL;
		if (!parent || parent->type != Y2_DIRECTORY || parent == obj)
			parent = fs->lost_and_found;
		y2_dir_add_last(fs, parent, obj);
	}
}

static void find_targets(struct y2_fs *fs)
{
	struct y2_object *obj, *after;
	u32 bucket;

	for_each_object(fs, bucket, obj, after) {
		struct y2_object *target;

		if (obj->type != Y2_HARDLINK)
			continue;
		target = y2_object_find(fs, obj->target_id);
		if (!target || (target->unlinked && !target->scan_linked) ||
		    target->type == Y2_HARDLINK || target->type == Y2_DIRECTORY) {
			y2_warn("hard link %u leads nowhere", obj->id);
			drop(fs, obj);
			continue;
		}
		obj->target = target;
		list_add_tail(&obj->links, &target->links);
	}
}

/*
 * On a damaged flash, directories may contain each other; detects loops by Brent's algorithm,
 * without marks
 */
static bool reaches_root(const struct y2_fs *fs, const struct y2_object *dir)
{
	const struct y2_object *waiting = dir;
	u32 steps = 0, limit = 2;

	for (; dir != fs->root; dir = dir->parent) {
		if (steps && dir == waiting)
			return false;
		if (++steps == limit) {
			steps = 1;
			limit *= 2;
			waiting = dir;
			continue;
		}
	}
	return true;
}

static void break_loops(struct y2_fs *fs)
{
	struct y2_object *obj, *after;
	u32 bucket;

	for_each_object(fs, bucket, obj, after) {
		if (obj->type != Y2_DIRECTORY || is_fixed(fs, obj) || reaches_root(fs, obj))
			continue;
		y2_warn("directory %u is in a loop", obj->id);
		y2_dir_remove(fs, obj);
		y2_dir_add_last(fs, fs->lost_and_found, obj);
	}
}

int y2_scan_fixup(struct y2_fs *fs)
{
	find_linked(fs);
	fixup_objects(fs);
	find_parents(fs);
	break_loops(fs);
	find_targets(fs);
	return 0;
}

static struct y2_object *find_without_name(struct y2_fs *fs)
{
	struct y2_object *obj, *after;
	u32 bucket;

	for_each_object(fs, bucket, obj, after)
		if (y2_object_needs_name(obj))
			return obj;
	return NULL;
}

void y2_scan_finish_shadows(struct y2_fs *fs)
{
	struct y2_object *obj;

	while ((obj = find_without_name(fs)))
		if (y2_promote_link(fs, obj))
			return;
}

void y2_scan_finish_unlinked(struct y2_fs *fs)
{
	struct y2_object *obj, *after;
	u32 bucket;

	for_each_object(fs, bucket, obj, after)
		if (obj->unlinked && !obj->refs && !y2_object_needs_name(obj))
			y2_drop_unlinked(fs, obj);
}

/*
 * During a rename, a target with other links has a second link of the same name for a moment (see
 * namei.c). After a power cut at that moment both exist, and one is removed.
 */
void y2_scan_finish_renames(struct y2_fs *fs)
{
	struct y2_object *obj, *after;
	u32 bucket;

	for_each_object(fs, bucket, obj, after) {
		if (obj->type != Y2_HARDLINK || obj->parent != obj->target->parent)
			continue;
		if (!y2_object_load(fs, obj) && !y2_object_load(fs, obj->target) &&
		    !strcmp(obj->name, obj->target->name))
			y2_unlink(fs, obj);
	}
}

/*
 * The power failed between the header of a truncation and the shortened chunk, or another driver
 * writes only the header
 */
void y2_scan_finish_tails(struct y2_fs *fs)
{
	struct y2_object *obj, *after;
	u32 bucket;

	for_each_object(fs, bucket, obj, after) {
		if (!obj->scan_tail || obj->type != Y2_FILE || obj->unlinked)
			continue;
		obj->scan_tail = false;
		if (!y2_gc_make_room(fs, 1))
			y2_file_rewrite_last(fs, obj);
	}
}
