// SPDX-License-Identifier: GPL-2.0-only
/* Mounting, synchronising and unmounting; repairs on the flash once it is writable. */
#include "checkpoint.h"
#include "scan.h"

#define MIN_HASH	256u
#define MAX_HASH	65536u

static int init_sizes(struct y2_fs *fs)
{
	const struct y2_geometry *geometry = &fs->geometry;
	u32 tags = fs->options.no_tags_ecc ? Y2_TAGS_BYTES : Y2_TAGS_TOTAL_BYTES;

	fs->yaffs1 = geometry->page_bytes == Y2_YAFFS1_PAGE_BYTES;
	fs->chunk_max = fs->yaffs1 ? Y2_YAFFS1_CHUNK_MAX : Y2_CHUNK_NEW_MAX;
	if (fs->yaffs1) {
		tags = Y2_TAGS_YAFFS1_BYTES;
		fs->options.no_summary = fs->options.no_checkpoint = true;
	}
	if ((!fs->yaffs1 && geometry->page_bytes < Y2_HEADER_BYTES + Y2_TAGS_BYTES) ||
	    geometry->page_bytes > 65536 || geometry->chunks_per_block < 4 ||
	    geometry->chunks_per_block > 4096 || geometry->blocks < Y2_RESERVED_BLOCKS + 3 ||
	    (u64)geometry->blocks * geometry->chunks_per_block > 0x7fffffffu)
		return -EINVAL;
	if (fs->yaffs1 && fs->options.inband_tags)
		return -EINVAL;
	if (!fs->options.inband_tags && geometry->oob_bytes < tags)
		return -EINVAL;
	fs->chunk_bytes = geometry->page_bytes - (fs->options.inband_tags ? Y2_TAGS_BYTES : 0);
	fs->data_chunks = geometry->chunks_per_block;
	if (fs->options.no_summary)
		return 0;
	do {
		fs->summary_chunks++;
		fs->data_chunks--;
	} while (Y2_SUMMARY_HEAD_BYTES + fs->data_chunks * Y2_SUMMARY_ENTRY_BYTES >
		 fs->summary_chunks * fs->chunk_bytes);
	return 0;
}

static int init_hashes(struct y2_fs *fs)
{
	u64 chunks = (u64)fs->geometry.blocks * fs->geometry.chunks_per_block;
	u32 size = MIN_HASH;

	while (size < MAX_HASH && size < chunks / 4)
		size *= 2;
	fs->hash_mask = size - 1;
	fs->by_id = y2_zalloc(size * sizeof(*fs->by_id));
	fs->by_name = y2_zalloc(size * sizeof(*fs->by_name));
	if (!fs->by_id || !fs->by_name)
		return -ENOMEM;
	for (u32 i = 0; i < size; i++) {
		INIT_LIST_HEAD(&fs->by_id[i]);
		INIT_LIST_HEAD(&fs->by_name[i]);
	}
	return 0;
}

static int init_fixed(struct y2_fs *fs)
{
	fs->next_id = Y2_ID_FIRST_FREE;
	fs->root = y2_object_new(fs, Y2_ID_ROOT, Y2_DIRECTORY);
	fs->lost_and_found = y2_object_new(fs, Y2_ID_LOST_AND_FOUND, Y2_DIRECTORY);
	return fs->root && fs->lost_and_found ? 0 : -ENOMEM;
}

static int init(struct y2_fs *fs)
{
	int err = init_sizes(fs);

	if (!err)
		err = y2_blocks_init(fs);
	if (!err)
		err = init_hashes(fs);
	if (!err)
		err = init_fixed(fs);
	if (err)
		return err;
	fs->page = y2_zalloc(fs->geometry.page_bytes);
	fs->page2 = y2_zalloc(fs->geometry.page_bytes);
	fs->cached = y2_zalloc(fs->geometry.page_bytes);
	fs->cached_chunk = Y2_NO_CHUNK;
	fs->oob = y2_zalloc(fs->geometry.oob_bytes + Y2_TAGS_TOTAL_BYTES);
	fs->summary = y2_zalloc(((size_t)fs->summary_chunks + 1) * fs->geometry.page_bytes);
	return fs->page && fs->page2 && fs->cached && fs->oob && fs->summary ? 0 : -ENOMEM;
}

/* All objects leave all lists first, because list heads are in other objects */
static void free_objects(struct y2_fs *fs)
{
	struct y2_object *obj, *after;

	if (!fs->by_id || !fs->by_name)
		return;
	for (u32 i = 0; i <= fs->hash_mask; i++) {
		list_for_each_entry(obj, &fs->by_id[i], in_hash) {
			list_del_init(&obj->siblings);
			list_del_init(&obj->in_names);
			list_del_init(&obj->links);
			obj->parent = NULL;
		}
	}
	for (u32 i = 0; i <= fs->hash_mask; i++)
		list_for_each_entry_safe(obj, after, &fs->by_id[i], in_hash)
			y2_object_free(fs, obj);
}

/* Resets to the state before a mount, without the remains of a bad checkpoint */
void y2_reset_state(struct y2_fs *fs)
{
	free_objects(fs);
	memset(fs->blocks, 0, (size_t)fs->geometry.blocks * sizeof(*fs->blocks));
	memset(fs->live, 0, y2_live_bytes(fs));
	fs->alloc_block = Y2_NO_BLOCK;
	fs->seq = fs->last_alloc = fs->erased_since_forced = 0;
	fs->empty_blocks = fs->good_blocks = fs->checkpoint_blocks = fs->live_chunks = 0;
}

static int load_state(struct y2_fs *fs)
{
	int err = y2_checkpoint_read(fs);

	if (!err)
		return y2_scan_fixup(fs);
	y2_reset_state(fs);
	err = init_fixed(fs);
	return err ? err : y2_scan(fs);
}

/* Erases half-erased blocks and invalid checkpoints */
static void erase_dirty(struct y2_fs *fs)
{
	for (u32 i = 0; i < fs->geometry.blocks; i++)
		if (fs->blocks[i].state == Y2_BLOCK_DIRTY)
			y2_block_erase(fs, i);
}

/*
 * Writes a note first, in case the power fails meanwhile. A block with shrink headers waits for all
 * older dirty blocks
 */
static void gc_torn_full(struct y2_fs *fs)
{
	u32 block = fs->torn_full, note;
	int err;

	fs->torn_full = Y2_NO_BLOCK;
	if (block == Y2_NO_BLOCK)
		return;
	err = y2_note_write(fs, Y2_NOTE_TORN, block, &note);
	if (err)
		return;
	for (u32 tries = fs->geometry.blocks; !err && tries && !y2_gc_may_erase(fs, block);
	     tries--) {
		u32 oldest = y2_gc_oldest_dirty(fs);

		err = oldest == Y2_NO_BLOCK ? -ENOENT : y2_gc_block(fs, oldest);
	}
	if (!err && y2_gc_may_erase(fs, block))
		y2_gc_block(fs, block);
	y2_chunk_obsolete(fs, note);
}

/* Writes a note to the current block: a newer one, which other drivers continue */
static void note_torn_newest(struct y2_fs *fs)
{
	u32 note;

	if (fs->torn_newest != Y2_NO_BLOCK && fs->alloc_block == Y2_NO_BLOCK &&
	    !y2_note_write(fs, Y2_NOTE_TORN, fs->torn_newest, &note))
		y2_chunk_obsolete(fs, note);
	fs->torn_newest = Y2_NO_BLOCK;
}

static void make_writable(struct y2_fs *fs)
{
	erase_dirty(fs);
	if (!fs->stats.checkpoint_mounts)
		y2_scan_finish_shadows(fs);
	gc_torn_full(fs);
	note_torn_newest(fs);
	if (fs->yaffs1)
		y2_scan_yaffs1_write(fs);
	if (fs->stats.checkpoint_mounts)
		return;
	y2_scan_finish_unlinked(fs);
	y2_scan_finish_renames(fs);
	y2_scan_finish_tails(fs);
}

/* A directory that is not empty stays */
static bool remove_one(struct y2_fs *fs, struct y2_object *dir)
{
	struct y2_object *obj;

	list_for_each_entry(obj, &dir->children, siblings)
		if (!y2_unlink(fs, obj))
			return true;
	return false;
}

/*
 * Restarts after each entry, because a file that continues under another name removes that link
 * from the list
 */
static void empty_lost_and_found(struct y2_fs *fs)
{
	if (y2_dir_load(fs, fs->lost_and_found))
		return;
	while (remove_one(fs, fs->lost_and_found))
		;
}

static int mount(struct y2_fs *fs)
{
	int err = init(fs);

	if (!err)
		err = load_state(fs);
	if (!err)
		err = y2_object_load(fs, fs->root);
	if (!err)
		err = y2_object_load(fs, fs->lost_and_found);
	if (err || fs->options.read_only)
		return err;
	make_writable(fs);
	if (fs->options.empty_lost_and_found)
		empty_lost_and_found(fs);
	return 0;
}

int y2_mount(struct y2_fs **mounted, const struct y2_geometry *geometry,
	     const struct y2_flash_ops *ops, void *flash, const struct y2_options *options,
	     u32 (*now)(void))
{
	struct y2_fs *fs = y2_zalloc(sizeof(*fs));
	int err;

	if (!fs)
		return -ENOMEM;
	fs->geometry = *geometry;
	fs->ops = ops;
	fs->flash = flash;
	fs->options = *options;
	fs->now = now;
	INIT_LIST_HEAD(&fs->dirty);
	err = mount(fs);
	if (err) {
		y2_abandon(fs);
		return err;
	}
	*mounted = fs;
	return 0;
}

int y2_sync(struct y2_fs *fs, bool checkpoint)
{
	while (!list_empty(&fs->dirty)) {
		int err = y2_flush(fs, list_first_entry(&fs->dirty, struct y2_object, in_dirty));

		if (err)
			return err;
	}
	return checkpoint ? y2_checkpoint_write(fs) : 0;
}

/* Read-only mounts get a checkpoint, like unmounted ones */
int y2_set_read_only(struct y2_fs *fs, bool read_only)
{
	int err = 0;

	if (read_only) {
		if (!fs->options.read_only)
			err = y2_sync(fs, true);
		fs->options.read_only |= !err;
		return err;
	}
	if (fs->options.read_only && !fs->failed) {
		fs->options.read_only = false;
		make_writable(fs);
	}
	return fs->failed ? -EROFS : 0;
}

int y2_unmount(struct y2_fs *fs)
{
	int err = 0;

	if (fs->failed)
		err = list_empty(&fs->dirty) ? 0 : -EROFS;
	else if (!fs->options.read_only)
		err = y2_sync(fs, true);
	y2_abandon(fs);
	return err;
}

void y2_abandon(struct y2_fs *fs)
{
	free_objects(fs);
	y2_free(fs->by_id);
	y2_free(fs->by_name);
	y2_free(fs->blocks);
	y2_free(fs->live);
	y2_free(fs->page);
	y2_free(fs->page2);
	y2_free(fs->cached);
	y2_free(fs->oob);
	y2_free(fs->summary);
	y2_free(fs);
}

u64 y2_free_bytes(const struct y2_fs *fs)
{
	return (u64)y2_chunks_free(fs) * fs->chunk_bytes;
}
