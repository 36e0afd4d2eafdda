// SPDX-License-Identifier: GPL-2.0-only
/*
 * The index of a file's chunks, a radix tree. Linux's XArray does not fit: here the leaf is made
 * before the chunk is written, so that y2_index_set() cannot fail, and a checkpoint stores the
 * leaves as they are. Nodes are freed only by y2_index_cut(), when the file is truncated or
 * removed.
 */
#include "index.h"

struct node {
	void *slot[Y2_INDEX_SLOTS];
};

static u32 slot(u32 k, u32 level)
{
	return k >> (level - 1) * Y2_INDEX_BITS & (Y2_INDEX_SLOTS - 1);
}

/* True if a tree of this height has a place for k; 8 levels of 4 bits hold all */
static bool reaches(u32 height, u32 k)
{
	return height && (height * Y2_INDEX_BITS >= 32 || k >> height * Y2_INDEX_BITS == 0);
}

static struct y2_leaf *find(const struct y2_index *index, u32 k)
{
	void *at = index->root;

	if (!reaches(index->height, k))
		return NULL;
	for (u32 level = index->height; at && level > 1; level--)
		at = ((struct node *)at)->slot[slot(k, level)];
	return at;
}

u32 y2_index_get(const struct y2_index *index, u32 k)
{
	const struct y2_leaf *leaf = find(index, k);

	return leaf ? leaf->slot[slot(k, 1)] : 0;
}

void y2_index_set(struct y2_index *index, u32 k, u32 value)
{
	find(index, k)->slot[slot(k, 1)] = value;
}

static int grow(struct y2_index *index, u32 k)
{
	while (!reaches(index->height, k)) {
		struct node *node;

		if (!index->root) {
			index->height++;
			continue;
		}
		node = y2_zalloc(sizeof(*node));
		if (!node)
			return -ENOMEM;
		node->slot[0] = index->root;
		index->root = node;
		index->height++;
	}
	return 0;
}

int y2_index_prepare(struct y2_index *index, u32 k, u32 *leaves)
{
	void **at = &index->root;
	int err = grow(index, k);

	if (err)
		return err;
	for (u32 level = index->height; level; level--) {
		if (!*at) {
			*at = y2_zalloc(level == 1 ? sizeof(struct y2_leaf) : sizeof(struct node));
			if (!*at)
				return -ENOMEM;
			*leaves += level == 1;
		}
		if (level > 1)
			at = &((struct node *)*at)->slot[slot(k, level)];
	}
	return 0;
}

static struct y2_leaf *next_leaf(void *at, u32 level, u32 from, u32 *base)
{
	u32 step_bits = (level - 1) * Y2_INDEX_BITS;

	if (!at || level == 1)
		return at;
	for (u32 i = slot(from, level); i < Y2_INDEX_SLOTS; i++) {
		u32 below = *base + (i << step_bits);
		u32 start = max(below, from);
		u32 found_base = below;
		struct y2_leaf *leaf =
			next_leaf(((struct node *)at)->slot[i], level - 1, start, &found_base);

		if (leaf) {
			*base = found_base;
			return leaf;
		}
	}
	return NULL;
}

struct y2_leaf *y2_index_next_leaf(const struct y2_index *index, u32 k, u32 *base)
{
	*base = 0;
	if (!reaches(index->height, k))
		return NULL;
	return next_leaf(index->root, index->height, k, base);
}

/*
 * Frees what starts at or after `from` below *at, whose first k is `base`. Returns true if *at is
 * freed
 */
static bool cut(void **at, u32 level, u32 base, u32 from, u32 *leaves)
{
	u32 left = 0;

	if (!*at)
		return true;
	if (level == 1) {
		if (base < from)
			return false;
		--*leaves;
	} else {
		for (u32 i = 0; i < Y2_INDEX_SLOTS; i++)
			left += !cut(&((struct node *)*at)->slot[i], level - 1,
				     base + (i << (level - 1) * Y2_INDEX_BITS), from, leaves);
		if (left)
			return false;
	}
	y2_free(*at);
	*at = NULL;
	return true;
}

void y2_index_cut(struct y2_index *index, u32 from, u32 *leaves)
{
	if (cut(&index->root, index->height ? index->height : 1, 0, from, leaves))
		index->height = 0;
}
