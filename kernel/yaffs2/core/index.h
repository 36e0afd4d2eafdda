/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The index of a file maps chunk k of the file to a chunk of the flash. It is a radix tree with 16
 * places a level, as high as the largest k needs; an empty place is a hole. Entries are the flash
 * chunk's number plus 1; 0: hole.
 */
#ifndef Y2_INDEX_H
#define Y2_INDEX_H

#include "platform.h"

#define Y2_INDEX_BITS	4
#define Y2_INDEX_SLOTS	(1u << Y2_INDEX_BITS)

struct y2_index {
	void *root;	/* a leaf if height is 1, else a node */
	u32 height;	/* 0: empty */
};

struct y2_leaf {
	u32 slot[Y2_INDEX_SLOTS];
};

u32 y2_index_get(const struct y2_index *index, u32 k);
/*
 * Makes the leaf for k, so that y2_index_set() cannot fail; adds the number of new leaves to
 * *leaves
 */
int y2_index_prepare(struct y2_index *index, u32 k, u32 *leaves);
void y2_index_set(struct y2_index *index, u32 k, u32 value);
/* The leaf with the first place at or after k; stores its first k in *base. NULL: none */
struct y2_leaf *y2_index_next_leaf(const struct y2_index *index, u32 k, u32 *base);
/*
 * Frees all leaves whose places are all >= from, which the caller has cleared. Subtracts their
 * number from *leaves
 */
void y2_index_cut(struct y2_index *index, u32 from, u32 *leaves);

#endif
