// SPDX-License-Identifier: GPL-2.0-only
/*
 * A consistency check of the state in memory: every live chunk has one owner, every count is right.
 * For tests.
 */
#include "yaffs2.h"

struct verifier {
	struct y2_fs *fs;
	unsigned long *seen;	/* a bit a chunk */
	u32 references, leaves, objects;
	int wrong;
};

#define EXPECT(v, condition, number) \
	do { \
		if (!(condition)) { \
			y2_warn("verify: not so: %s (%u)", #condition, (u32)(number)); \
			(v)->wrong = -EUCLEAN; \
		} \
	} while (0)

static void one_reference(struct verifier *v, u32 chunk)
{
	EXPECT(v, chunk < v->fs->geometry.blocks * v->fs->geometry.chunks_per_block, chunk);
	if (v->wrong)
		return;
	EXPECT(v, y2_chunk_is_live(v->fs, chunk), chunk);
	EXPECT(v, !__test_and_set_bit(chunk, v->seen), chunk);
	v->references++;
}

static void one_object(struct verifier *v, struct y2_object *obj)
{
	u32 from = 0, base;
	struct y2_leaf *leaf;

	v->objects++;
	if (obj->header != Y2_NO_CHUNK)
		one_reference(v, obj->header);
	EXPECT(v, obj->parent || obj->unlinked || obj == v->fs->root, obj->id);
	EXPECT(v,
	       obj->type != Y2_HARDLINK ||
		       (obj->unlinked ? !obj->target : obj->target->type != Y2_HARDLINK),
	       obj->id);
	if (obj->type != Y2_FILE)
		return;
	while ((leaf = y2_index_next_leaf(&obj->index, from, &base))) {
		v->leaves++;
		for (u32 i = 0; i < Y2_INDEX_SLOTS; i++) {
			if (!leaf->slot[i])
				continue;
			one_reference(v, leaf->slot[i] - 1);
			EXPECT(v, (u64)(base + i - 1) * v->fs->chunk_bytes < obj->size, obj->id);
		}
		from = base + Y2_INDEX_SLOTS;
	}
}

static void blocks(struct verifier *v)
{
	struct y2_fs *fs = v->fs;
	u32 live = 0, empty = 0, good = 0, checkpoint = 0;

	for (u32 i = 0; i < fs->geometry.blocks; i++) {
		const struct y2_block *block = &fs->blocks[i];
		u32 of_block = 0;

		for (u32 page = 0; page < fs->geometry.chunks_per_block; page++)
			of_block += y2_chunk_is_live(fs, i * fs->geometry.chunks_per_block + page);
		EXPECT(v, of_block == block->live, i);
		EXPECT(v,
		       !of_block || block->state == Y2_BLOCK_FULL ||
			       block->state == Y2_BLOCK_ALLOCATING,
		       i);
		EXPECT(v, (block->state == Y2_BLOCK_ALLOCATING) == (fs->alloc_block == i), i);
		live += of_block;
		empty += block->state == Y2_BLOCK_EMPTY;
		good += block->state != Y2_BLOCK_DEAD;
		checkpoint += block->state == Y2_BLOCK_CHECKPOINT;
	}
	EXPECT(v, live == fs->live_chunks, live);
	EXPECT(v, empty == fs->empty_blocks, empty);
	EXPECT(v, good == fs->good_blocks, good);
	EXPECT(v, checkpoint == fs->checkpoint_blocks, checkpoint);
}

int y2_verify(struct y2_fs *fs)
{
	struct verifier v = { .fs = fs };
	struct y2_object *obj;

	v.seen = y2_zalloc(y2_live_bytes(fs));
	if (!v.seen)
		return -ENOMEM;
	for (u32 i = 0; i <= fs->hash_mask; i++)
		list_for_each_entry(obj, &fs->by_id[i], in_hash)
			one_object(&v, obj);
	EXPECT(&v, v.references == fs->live_chunks, v.references);
	EXPECT(&v, v.leaves == fs->leaves, v.leaves);
	EXPECT(&v, v.objects == fs->objects, v.objects);
	blocks(&v);
	y2_free(v.seen);
	return v.wrong;
}
