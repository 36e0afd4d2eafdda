// SPDX-License-Identifier: GPL-2.0-only
/*
 * Garbage collection: copies a block's live chunks to the head of the log, then erases the block.
 *
 * A block with shrink headers may only be erased if no older block holds obsolete chunks, or they
 * would come back. The same could happen within the block if a power failure during the erase
 * destroys the header first. So before such an erase, a note in the log declares the block, with
 * this sequence number, void.
 */
#include "yaffs2.h"

#define PASSIVE_COPIES	5u	/* chunks copied per operation while there is room */
#define ERASED_PER_FREE 4u /* passive only while less than this part of the free chunks is erased \
			    */
#define FORCE_EVERY	500u	/* erases between two forced collections of the oldest block */
#define GC_MISSES_MAX \
	10u /* then the oldest dirty block, for which blocks with shrink headers wait */
#define GIVEN_UP	1

static int copy_header(struct y2_fs *fs, struct y2_object *obj)
{
	const struct y2_header_change change = { .urgency = Y2_CRITICAL };
	int err = y2_object_load(fs, obj);

	if (!err && y2_object_needs_name(obj))
		return y2_promote_link(fs, obj);
	return err ? err : y2_header_write(fs, obj, &change);
}

static int copy_data(struct y2_fs *fs, struct y2_object *obj, u32 k, u32 old,
		     const struct y2_tags *was)
{
	struct y2_tags tags = {
		.used = true, .object = obj->id, .chunk = k, .serial = (was->serial + 1) & 3
	};
	u32 bytes = was->bytes;
	u64 start = (u64)(k - 1) * fs->chunk_bytes;
	u64 inside = obj->size > start ? obj->size - start : 0;
	u32 chunk = 0;
	int err;

	/*
	 * A truncation may have left data beyond the end: a scan would take it for part of the file
	 */
	if (inside < bytes) {
		memset(fs->page + inside, 0, fs->chunk_bytes - inside);
		bytes = (u32)inside;
	}
	tags.bytes = bytes;
	err = y2_append(fs, fs->page, &tags, Y2_CRITICAL, &chunk);
	if (err)
		return err;
	y2_index_set(&obj->index, k, chunk + 1);
	y2_chunk_obsolete(fs, old);
	return 0;
}

static struct y2_object *owner_by_tags(struct y2_fs *fs, u32 chunk, const struct y2_tags *tags)
{
	struct y2_object *obj = tags->used ? y2_object_find(fs, tags->object) : NULL;

	if (!obj)
		return NULL;
	if (!tags->chunk)
		return obj->header == chunk ? obj : NULL;
	return obj->type == Y2_FILE && y2_index_get(&obj->index, tags->chunk) == chunk + 1 ? obj :
											     NULL;
}

/*
 * An unreadable chunk stays where it is, so that reads of it keep failing, until there is no other
 * block to collect: the second time, the result is err.
 */
static int give_up(struct y2_fs *fs, u32 chunk, int err)
{
	struct y2_block *block = &fs->blocks[chunk / fs->geometry.chunks_per_block];

	if (block->unreadable)
		return err;
	y2_warn("chunk %u cannot be read: its block stays as it is", chunk);
	block->unreadable = true;
	return GIVEN_UP;
}

/* 0, GIVEN_UP or a negative errno */
static int copy_chunk(struct y2_fs *fs, u32 chunk)
{
	struct y2_object *obj;
	struct y2_tags tags;
	u32 k;
	int result = y2_chunk_read(fs, chunk, fs->page, &tags);

	if (result < 0)
		return result == -ENOMEM ? result : give_up(fs, chunk, result);
	k = tags.chunk;
	obj = owner_by_tags(fs, chunk, &tags);
	if (!obj) {
		obj = y2_object_owner(fs, chunk, &k);
		tags.bytes = fs->chunk_bytes;
	}
	if (!obj) {
		y2_warn("chunk %u lives for nobody", chunk);
		y2_chunk_obsolete(fs, chunk);
		return 0;
	}
	if (result == Y2_READ_UNFIXED)	/* or only its tags are unreadable */
		result = y2_chunk_read(fs, chunk, fs->page, NULL);
	if (result < 0 || (result == Y2_READ_UNFIXED && k && !fs->blocks[fs->gc_block].unreadable))
		return give_up(fs, chunk, -EIO);
	if (result == Y2_READ_UNFIXED && k) {
		y2_warn("chunk %u of object %u is copied with errors", k, obj->id);
		fs->stats.chunks_lost++;
	}
	fs->stats.gc_copies++;
	tags.bytes = min(tags.bytes, fs->chunk_bytes);
	return k ? copy_data(fs, obj, k, chunk, &tags) : copy_header(fs, obj);
}

/* Writes a note about a block in its current state */
int y2_note_write(struct y2_fs *fs, enum y2_note kind, u32 number, u32 *chunk)
{
	struct y2_tags tags = {
		.used = true,
		.object = Y2_ID_SUMMARY,
		.extra = true,
		.type = Y2_FILE,
		.parent = Y2_ID_DELETED,
	};
	struct y2_header *header = y2_zalloc(sizeof(*header));

	if (!header)
		return -ENOMEM;
	header->type = Y2_FILE;
	header->parent = Y2_ID_DELETED;
	header->mode = S_IFREG;
	memcpy(header->name, "deleted", 7);
	memset(fs->page, 0xff, fs->chunk_bytes);
	y2_header_pack(header, fs->page);
	y2_free(header);
	put_unaligned_le32(Y2_NOTE_MAGIC, fs->page + Y2_NOTE);
	put_unaligned_le32(kind, fs->page + Y2_NOTE_KIND);
	put_unaligned_le32(number, fs->page + Y2_NOTE_BLOCK);
	put_unaligned_le32(fs->blocks[number].seq, fs->page + Y2_NOTE_SEQ);
	return y2_append(fs, fs->page, &tags, Y2_CRITICAL, chunk);
}

/* Finishes the block, whose live chunks have all been copied */
static int gc_finish(struct y2_fs *fs, u32 number)
{
	u32 note = Y2_NO_CHUNK;

	fs->gc_block = Y2_NO_BLOCK;
	if (fs->blocks[number].shrink_header) {
		int err;

		if (!y2_gc_may_erase(fs, number))
			return 0;	/* an older block became dirty meanwhile: this one waits */
		err = y2_note_write(fs, Y2_NOTE_VOID, number, &note);
		if (err)
			return err;
		fs->stats.erase_intents++;
	}
	fs->stats.gc_blocks++;
	y2_block_erase(fs, number);
	if (note != Y2_NO_CHUNK)
		y2_chunk_obsolete(fs, note);
	return fs->failed ? -EROFS : 0;
}

/* Continues gc_block; copies at most `copies` chunks */
static int gc_copy_some(struct y2_fs *fs, u32 copies)
{
	u32 number = fs->gc_block, first = number * fs->geometry.chunks_per_block;
	int err = 0;

	while (fs->blocks[number].live && fs->gc_page < fs->geometry.chunks_per_block && copies) {
		if (y2_chunk_is_live(fs, first + fs->gc_page)) {
			err = copy_chunk(fs, first + fs->gc_page);
			copies--;
		}
		if (err) {
			fs->gc_block = Y2_NO_BLOCK;
			return err == GIVEN_UP ? 0 : err;
		}
		fs->gc_page++;
	}
	return fs->blocks[number].live ? 0 : gc_finish(fs, number);
}

static int gc_step(struct y2_fs *fs, u32 copies)
{
	int err = y2_checkpoint_invalidate(fs);

	fs->gc_running = true;
	if (!err)
		err = gc_copy_some(fs, copies);
	fs->gc_running = false;
	return err;
}

static void gc_begin(struct y2_fs *fs, u32 number)
{
	fs->gc_block = number;
	fs->gc_page = 0;
}

int y2_gc_block(struct y2_fs *fs, u32 number)
{
	if (fs->gc_block != number)
		gc_begin(fs, number);
	return gc_step(fs, 0xffffffffu);
}

/*
 * Runs before the next change, and before the hiding header is lost: otherwise obsolete chunks
 * could come back
 */
int y2_gc_unmarked(struct y2_fs *fs)
{
	if (!fs->mark_failed || fs->gc_running)
		return 0;
	fs->mark_failed = false;
	for (u32 i = 0; i < fs->geometry.blocks; i++) {
		int err = 0;

		if (!fs->blocks[i].unmarked)
			continue;
		if (i == fs->alloc_block)
			y2_append_close(fs);
		/* The second try is for unreadable chunks */
		for (u32 tries = 0; !err && tries < 2 && fs->blocks[i].state == Y2_BLOCK_FULL;
		     tries++)
			err = y2_gc_block(fs, i);
		if (err) {
			fs->mark_failed = true;
			return err;
		}
	}
	return 0;
}

/* Regardless of free space */
static u32 victim_for_refresh(struct y2_fs *fs)
{
	u32 number = y2_gc_victim_prioritised(fs);

	if (number == Y2_NO_BLOCK && fs->erased_since_forced >= FORCE_EVERY) {
		fs->erased_since_forced = 0;
		number = y2_gc_victim_oldest(fs);
		fs->stats.forced_gc += number != Y2_NO_BLOCK;
	}
	return number;
}

static u32 victim_for_space(struct y2_fs *fs)
{
	u32 number = y2_gc_victim_sampled(fs);

	if (number == Y2_NO_BLOCK && ++fs->gc_misses <= GC_MISSES_MAX)
		return number;
	fs->gc_misses = 0;
	if (number == Y2_NO_BLOCK)
		number = y2_gc_oldest_dirty(fs);
	return number == Y2_NO_BLOCK || fs->blocks[number].unreadable ? Y2_NO_BLOCK : number;
}

static int gc_passive(struct y2_fs *fs, bool for_space)
{
	if (fs->gc_block == Y2_NO_BLOCK) {
		u32 number = victim_for_refresh(fs);

		if (number == Y2_NO_BLOCK && for_space)
			number = victim_for_space(fs);
		if (number == Y2_NO_BLOCK)
			return 0;
		gc_begin(fs, number);
	}
	fs->stats.passive_gc++;
	return gc_step(fs, PASSIVE_COPIES);
}

static int gc_aggressive(struct y2_fs *fs)
{
	u32 number = fs->gc_block == Y2_NO_BLOCK ? y2_gc_victim_best(fs) : fs->gc_block;

	if (number == Y2_NO_BLOCK)
		return -ENOSPC;
	fs->stats.aggressive_gc++;
	return y2_gc_block(fs, number);
}

static bool gc_is_due(const struct y2_fs *fs, u32 part)
{
	u64 total = (u64)(fs->good_blocks - fs->checkpoint_blocks) * fs->data_chunks;

	return (u64)fs->empty_blocks * fs->data_chunks * part <= total - fs->live_chunks;
}

/*
 * Makes room before an operation that writes `chunks` chunks. If that fails, the writes report it.
 */
int y2_gc_make_room(struct y2_fs *fs, u32 chunks)
{
	u32 must = 4 + chunks / fs->data_chunks,
	    should = Y2_RESERVED_BLOCKS + 1 + y2_checkpoint_blocks_needed(fs);
	u32 tries = 2 * fs->geometry.blocks;
	int err;

	if (fs->options.read_only || fs->gc_running)
		return 0;
	err = fs->empty_blocks >= must ? y2_gc_unmarked(fs) : 0;
	if (should > fs->checkpoint_blocks)
		should -= fs->checkpoint_blocks;
	if (!err && fs->empty_blocks >= must && fs->empty_blocks < should)
		err = gc_aggressive(fs);
	else if (!err && fs->empty_blocks >= must && gc_is_due(fs, ERASED_PER_FREE))
		err = gc_passive(fs, true);
	while (!err && fs->empty_blocks < must && tries--)
		err = gc_aggressive(fs);
	return err == -ENOSPC || err == -ENOMEM ? 0 : err;
}

int y2_gc_background(struct y2_fs *fs)
{
	u64 copies = fs->stats.gc_copies, blocks = fs->stats.gc_blocks;

	if (fs->options.read_only)
		return 0;
	return gc_passive(fs, gc_is_due(fs, 2)) ?
		       0 :
		       fs->stats.gc_copies != copies || fs->stats.gc_blocks != blocks;
}
