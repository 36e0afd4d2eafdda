/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The translation layer: a page-mapped one. Each logical page is mapped by itself to any page of its die (page p lives
 * on die p % dies). A die writes into two open blocks, one for the host and one for what collection moves. Collection
 * is greedy: it takes the block with the fewest valid pages.
 *
 * Memory: 4 bytes a logical page, 4 bytes a physical page, 16 bytes a block.
 */
#ifndef FB_FTL_H
#define FB_FTL_H

#include "fb_medium.h"

enum fb_open_block { FB_OPEN_FOR_HOST, FB_OPEN_FOR_COLLECTION, FB_OPEN_BLOCKS };

/* What the layer keeps of a die. Block numbers count from 0 in each die; FB_NO_BLOCK is none. */
struct fb_ftl_die {
	u32 open[FB_OPEN_BLOCKS];
	u32 free_blocks;
	u32 fewest_valid;	/* no full block has fewer valid pages */
};

#define FB_NO_BLOCK (~(u32)0)

/*
 * A block, or the head of a list of blocks. Records follow each other: blocks_per_die blocks, then a head for the free
 * blocks, then a head for the full blocks with 0, 1, ... pages_per_block valid pages. Lists are rings through their
 * head; blocks join at the end and are taken from the front, so that the one that waited longest goes first.
 */
struct fb_block {
	u32 next;
	u32 previous;
	u32 erase_count;
	u16 programmed_pages;
	u16 valid_pages;
};

void fb_ftl_init(struct fb_medium *m);
bool fb_ftl_mapped(const struct fb_medium *m, u64 page);

/* Puts a page into a fresh place, collecting first if the die is short of blocks; returns when it is programmed */
u64 fb_ftl_write(struct fb_medium *m, u64 page, u64 ready_ns);
void fb_ftl_discard(struct fb_medium *m, u64 page);

struct fb_wear fb_ftl_wear(const struct fb_medium *m);
const char *fb_ftl_verify(const struct fb_medium *m);

#endif
