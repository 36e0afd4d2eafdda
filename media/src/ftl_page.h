/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The page-mapped layer: each logical page is mapped by itself to any page of its die (page p lives on die p % dies). A
 * die writes into up to three open blocks: what the host writes, what it rewrites soon (dftl: pages of
 * the map), and what collection moves. Which
 * block is collected is the policy's choice (ftl_page_victim.c). Collection runs when a write needs a block and few are
 * free, a whole block at once; or some pages with each write; or while the die is idle.
 *
 * Bad blocks from the factory are never used. When a program fails, the page goes to the next block, and the
 * valid pages of the block that failed are moved away with the next write; then it is left alone, as is a block
 * whose erase fails. A block that went bad is on no list. The reserve is in use like other blocks until it is
 * needed.
 *
 * Simplification: nothing fails on a die that has only one block free, so that what is under way always finds room.
 *
 * With slc_cache_bytes, what the host writes goes to blocks in SLC mode first (ftl_page_slc.c), and from there to the
 * block that is open for the host.
 *
 * Memory: 4 bytes a logical page, 4 bytes a physical page, 20 bytes a block; 8 more where the choice of a block depends
 * on its age, and 8 more where bits can be wrong.
 */
#ifndef FB_FTL_PAGE_H
#define FB_FTL_PAGE_H

#include "arith.h"
#include "array.h"

enum fb_open_block { FB_OPEN_FOR_HOST, FB_OPEN_FOR_GC, FB_OPEN_FOR_HOT, FB_OPEN_SLC, FB_OPEN_BLOCKS };

/* What the layer keeps of a die. Block numbers count from 0 in each die; FB_NO_BLOCK is none. */
struct fb_page_die {
	u32 open[FB_OPEN_BLOCKS];
	u32 free_blocks;
	u32 fewest_valid;	/* no full block has fewer valid pages */
	u32 victim;		/* the block under collection */
	u32 victim_ppn;	/* where to go on in it */
	u32 recent_moves;	/* pages that the last collected blocks had to be moved of, and that they yielded */
	u32 recent_yield;
	u32 pace;		/* of collection in steps, in FB_PACE_PARTS of a page to move for each page that is written */
	u32 owed;		/* what collection in steps is behind, in the same unit */
	u32 min_erase_count;	/* no full block has been erased fewer times */
	u32 clock;		/* counts the pages that the host wrote */
	u32 failed_blocks;	/* gone bad, but with valid pages that are still to be moved */
	u32 slc_blocks;		/* in the SLC cache: the open one, the full ones, and the one being folded */
	u32 folding;		/* the SLC block that is being folded */
	u32 fold_ppn;		/* where to go on in it */
	u32 map_changes;	/* dftl: entries of the map that are newer than their page on flash */
	u32 next_map_page;	/* dftl: where the search for one to write goes on */
	u64 random;		/* never 0 */
};

#define FB_NO_BLOCK (~(u32)0)

#define FB_PACE_PARTS 16

/* Blocks that are free when collection begins, where programs and erases can fail: one for the moves, two to fail */
#define FB_FREE_TO_FAIL 4

/*
 * A block, or the head of a list of blocks. Records follow each other: the blocks of the die, then a head for the free
 * blocks, then a head for the full blocks with 0, 1, ... pages_per_block valid pages, then one for the full SLC
 * blocks. Lists are rings through their head; blocks join at the end and are taken from the front, so that the one that
 * waited longest goes first.
 */
struct fb_block {
	u32 next;
	u32 previous;
	u16 programmed_pages;
	u16 valid_pages;
};

/* By the die's clock; kept where a choice depends on it */
struct fb_block_age {
	u32 opened;
	u32 changed;		/* when it was filled, or lost a valid page */
};

/* map[]: for each logical page of the die, where it is: FB_MAPPED + ppn. Zero is the state of a new medium. */
#define FB_UNMAPPED	0u
#define FB_MAPPED	1u

/* owner[]: for each flash page, what was programmed there: FB_OWNED + logical page of the die */
#define FB_ERASED	0u
#define FB_STALE	1u
#define FB_OWNED	2u

/* The layer's tables of one die */
struct fb_die_tables {
	struct fb_page_die *die;
	struct fb_block *blocks;
	struct fb_block_age *ages;	/* NULL: nobody asks */
	const struct fb_nand_block *nand;
	u32 *map;
	u32 *owner;
	const struct fb_divisor *by_pages_per_block;
	u32 block_count;
	u32 pages_per_block;
	u32 slc_pages_per_block;
	u32 slc_blocks;		/* that the SLC cache may have */
	u32 logical_pages;
};

/* Where a logical page of the medium belongs */
struct fb_die_page {
	u32 die;
	u32 index;
};

static inline struct fb_die_page fb_die_page(const struct fb_medium *m, u64 page)
{
	u32 index = fb_quotient(&m->flash.ftl.by_dies, page);

	return (struct fb_die_page) { page - (u64)index * m->params.dies, index };
}

static inline struct fb_die_tables fb_die_tables(const struct fb_medium *m, u32 die)
{
	const struct fb_ftl_layout *layout = &m->flash.ftl;

	return (struct fb_die_tables) {
		.die = (struct fb_page_die *)fb_table(m, layout->dies_offset) + die,
		.blocks = (struct fb_block *)fb_table(m, layout->blocks_offset) + die * layout->block_records_per_die,
		.ages = layout->ages_offset ? (struct fb_block_age *)fb_table(m, layout->ages_offset) +
					      die * layout->blocks_per_die : NULL,
		.nand = fb_nand_block(&m->flash.nand, die, 0),
		.map = (u32 *)fb_table(m, layout->map_offset) + die * layout->logical_pages_per_die,
		.owner = (u32 *)fb_table(m, layout->owner_offset) + die * layout->physical_pages_per_die,
		.by_pages_per_block = &m->flash.nand.layout.by_pages_per_block,
		.block_count = layout->blocks_per_die,
		.pages_per_block = layout->pages_per_block,
		.slc_pages_per_block = m->flash.nand.layout.slc_pages_per_block,
		.slc_blocks = layout->slc_blocks_per_die,
		.logical_pages = layout->logical_pages_per_die,
	};
}

static inline bool fb_is_for_map(const struct fb_medium *m, enum fb_open_block open)
{
	return open == FB_OPEN_FOR_HOT && m->params.ftl == FB_FTL_DFTL;
}

static inline u32 fb_block_of(const struct fb_die_tables *t, u32 ppn)
{
	return fb_quotient(t->by_pages_per_block, ppn);
}

/* Heads of lists stand behind the blocks */
static inline u32 fb_free_list(const struct fb_die_tables *t)
{
	return t->block_count;
}

static inline u32 fb_full_list(const struct fb_die_tables *t, u32 valid_pages)
{
	return t->block_count + 1 + valid_pages;
}

/* In the order in which they were filled */
static inline u32 fb_slc_list(const struct fb_die_tables *t)
{
	return fb_full_list(t, t->pages_per_block) + 1;
}

static inline bool fb_bad(const struct fb_die_tables *t, u32 block)
{
	return t->nand[block].flags & FB_BLOCK_BAD;
}

static inline bool fb_full(const struct fb_die_tables *t, u32 block)
{
	return t->blocks[block].programmed_pages == t->pages_per_block && block != t->die->victim;
}

/* No block is left for the SLC cache to open */
static inline bool fb_slc_full(const struct fb_die_tables *t)
{
	return t->die->slc_blocks >= t->slc_blocks;
}

/* Free blocks beside those that are kept for the SLC cache, so that no burst waits for collection */
static inline u32 fb_spare_blocks(const struct fb_die_tables *t)
{
	u32 kept = fb_slc_full(t) ? 0 : t->slc_blocks - t->die->slc_blocks;

	return t->die->free_blocks > kept ? t->die->free_blocks - kept : 0;
}

/* What a die keeps open beside its reserve is not for data; nor are pages of the map, which come behind the data */
bool fb_page_check(const struct fb_params *params, u64 open_blocks, struct fb_complaint *complaint);
u64 fb_page_usable_blocks(const struct fb_params *params, u64 open_blocks);
u64 fb_page_data_pages_per_die(const struct fb_params *params);
struct fb_ftl_layout fb_page_layout(const struct fb_params *params, u64 map_pages_per_die, u64 *end_offset);
void fb_page_init(struct fb_medium *m);
bool fb_page_mapped(const struct fb_medium *m, u64 page);
void fb_page_prefetch(const struct fb_medium *m, u64 page, u32 step);
u64 fb_page_read(struct fb_medium *m, u64 page, u64 bytes, u64 ready_ns);
void fb_page_discard(struct fb_medium *m, u64 first, u64 end);
u64 fb_page_rest(struct fb_medium *m);
void fb_page_pad(struct fb_medium *m);
u64 fb_page_at(const struct fb_medium *m, u32 die, u32 ppn);
u64 fb_page_scan_pages(const struct fb_medium *m);
void fb_page_restore(struct fb_medium *m, const u32 *pages, const u32 *programmed);

/* Reads a logical page of a die, which is on flash */
u64 fb_page_fetch(struct fb_medium *m, u32 die, u32 index, u64 bytes, u64 ready_ns);

/* Writes a logical page of a die to an open block, collecting first if the die is short of blocks */
u64 fb_page_program(struct fb_medium *m, u32 die, struct fb_die_tables *t, u32 index, enum fb_open_block open,
		    u64 ready_ns);

static inline void fb_list_remove(struct fb_die_tables *t, u32 block)
{
	struct fb_block *b = &t->blocks[block];

	t->blocks[b->previous].next = b->next;
	t->blocks[b->next].previous = b->previous;
}

static inline void fb_list_append(struct fb_die_tables *t, u32 head, u32 block)
{
	u32 last = t->blocks[head].previous;

	t->blocks[block].next = head;
	t->blocks[block].previous = last;
	t->blocks[last].next = block;
	t->blocks[head].previous = block;
}

/* Something may fail: a block is left for what is under way then */
static inline bool fb_page_can_fail(const struct fb_die_tables *t)
{
	return fb_spare_blocks(t) > 1;
}

/* The next page of an open block, of which there is one or a free block for it, becomes the logical page's */
u64 fb_page_put(struct fb_medium *m, u32 die, struct fb_die_tables *t, enum fb_open_block open, u32 index,
		u64 ready_ns);

/* Nothing of the block is valid any more: it is left alone */
void fb_page_leave_alone(struct fb_die_tables *t, u32 block);

/* --- garbage collection (ftl_page_gc.c) --- */

/* A block that is being emptied: its valid pages go to an open block */
struct fb_emptying {
	u32 block;
	u32 *ppn;		/* where to go on in it */
	enum fb_open_block to;
	u64 *moved_pages;	/* the counter */
	bool whole_rows;	/* moves a row to its end, even if that is more than was asked for */
};

/* Moves so many of its pages, or all */
void fb_page_move(struct fb_medium *m, u32 die, struct fb_die_tables *t, const struct fb_emptying *from, u32 pages,
		  u64 ready_ns);

/* Collects until an open block can be taken; returns when the die has done so */
u64 fb_page_make_room(struct fb_medium *m, u32 die, struct fb_die_tables *t, u64 ready_ns);

/* With gc_step_pages: sets the pace by what is free; called when that changes by a block */
void fb_page_set_pace(const struct fb_medium *m, struct fb_die_tables *t);

/* With gc_step_pages: a page is to be written there, so collection is behind by its share, and catches up by a step */
void fb_page_keep_up(struct fb_medium *m, u32 die, struct fb_die_tables *t, enum fb_open_block open, u64 ready_ns);
void fb_page_gc_while_idle(struct fb_medium *m, u32 die, struct fb_die_tables *t, u64 until_ns);
void fb_page_empty_failed(struct fb_medium *m, u32 die, struct fb_die_tables *t, u64 ready_ns);

/* Nothing of the block is valid any more */
void fb_page_erase(struct fb_medium *m, u32 die, struct fb_die_tables *t, u32 block, u64 ready_ns);

/* --- the SLC cache (ftl_page_slc.c) --- */

bool fb_slc_check(const struct fb_params *params, struct fb_complaint *complaint);

/* Blocks of a die's layer that the cache has; 0: there is no cache */
u64 fb_slc_blocks_per_die(const struct fb_params *params);

/* Folds, if need be, so that a page of the host can go to the cache; returns when the die has done so */
u64 fb_slc_make_room(struct fb_medium *m, u32 die, struct fb_die_tables *t, u64 ready_ns);

/* What the die has folded since it became idle, until then */
void fb_slc_fold_while_idle(struct fb_medium *m, u32 die, struct fb_die_tables *t, u64 until_ns);

/* The full block to collect next; FB_NO_BLOCK if all are valid throughout */
u32 fb_choose_victim(const struct fb_params *params, struct fb_die_tables *t);

const char *fb_page_verify(const struct fb_medium *m);

#endif
