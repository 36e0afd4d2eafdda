/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The page-mapped layer: each logical page is mapped individually to any page of its die (page p lives on die p %
 * dies). A die writes to up to three open blocks: for the host, for pages that the host rewrites soon (dftl: map
 * pages), and for collection. The policy chooses the block to collect (ftl_page_victim.c). Collection runs when a write
 * needs a block and few are free, a whole block at once; or some pages with each write; or while the die is idle.
 *
 * Factory-bad blocks are never used. When a program fails, the page goes to the next block, and the next write moves
 * the valid pages of the failed block away. The failed block is then retired, as is a block whose erase fails. A bad
 * block is on no list. Blocks of the reserve are used like others until they are needed.
 *
 * Simplification: nothing fails on a die with a single free block, so that work under way always finds room.
 *
 * With slc_cache_bytes, host writes go first to blocks in SLC mode (ftl_page_slc.c), and from there to the block that
 * is open for the host.
 *
 * Memory: 4 bytes a logical page, 4 bytes a physical page, 20 bytes a block; 8 more a block if the choice of a victim
 * depends on age, and 8 more if bits can be wrong.
 */
#ifndef FB_FTL_PAGE_H
#define FB_FTL_PAGE_H

#include "arith.h"
#include "array.h"

enum fb_open_block { FB_OPEN_FOR_HOST, FB_OPEN_FOR_GC, FB_OPEN_FOR_HOT, FB_OPEN_SLC, FB_OPEN_BLOCKS };

/* The layer's record of a die. Block numbers count from 0 in each die; FB_NO_BLOCK is none. */
struct fb_page_die {
	u32 open[FB_OPEN_BLOCKS];
	u32 free_blocks;
	u32 fewest_valid;	/* a lower bound of the valid pages of full blocks */
	u32 victim;		/* the block being collected */
	u32 victim_ppn;	/* the next page to look at in it */
	u32 recent_moves;	/* pages moved out of, and gained from, the last collected blocks */
	u32 recent_yield;
	u32 pace;		/* of collection in steps: FB_PACE_PARTS of a page to move for each page written */
	u32 owed;		/* the backlog of collection in steps, in the same unit */
	u32 min_erase_count;	/* a lower bound of the erase counts of full blocks */
	u32 clock;		/* counts the host's page writes */
	u32 failed_blocks;	/* bad blocks with valid pages still to be moved */
	u32 slc_blocks;		/* of the SLC cache: open, full, and being folded */
	u32 folding;		/* the SLC block being folded */
	u32 fold_ppn;		/* the next page to look at in it */
	u32 map_changes;	/* dftl: map entries newer than their map page on flash */
	u32 next_map_page;	/* dftl: where the search for a map page to write continues */
	u64 random;		/* never 0 */
};

#define FB_NO_BLOCK (~(u32)0)

#define FB_PACE_PARTS 16

/* Free blocks at the start of collection if programs and erases can fail: one for the moves, two that may fail */
#define FB_FREE_TO_FAIL 4

/*
 * A block, or the head of a list of blocks. The records are: the blocks of the die, then a head for the free blocks,
 * then a head for the full blocks with 0, 1, ... pages_per_block valid pages, then one for the full SLC blocks. Lists
 * are rings through their head. Blocks join at the end and are taken from the front, first in, first out.
 */
struct fb_block {
	u32 next;
	u32 previous;
	u16 programmed_pages;
	u16 valid_pages;
};

/* By the die's clock; kept if a choice depends on it */
struct fb_block_age {
	u32 opened;
	u32 changed;		/* when it was filled, or last lost a valid page */
};

/* map[]: the place of each logical page of the die: FB_MAPPED + ppn. Zero in a new medium. */
#define FB_UNMAPPED	0u
#define FB_MAPPED	1u

/* owner[]: the page programmed in each flash page: FB_OWNED + logical page of the die */
#define FB_ERASED	0u
#define FB_STALE	1u
#define FB_OWNED	2u

/* The layer's tables of one die */
struct fb_die_tables {
	struct fb_page_die *die;
	struct fb_block *blocks;
	struct fb_block_age *ages;	/* NULL: not kept */
	const struct fb_nand_block *nand;
	u32 *map;
	u32 *owner;
	const struct fb_divisor *by_pages_per_block;
	u32 block_count;
	u32 pages_per_block;
	u32 slc_pages_per_block;
	u32 slc_blocks;		/* the SLC cache's limit */
	u32 logical_pages;
};

/* The home of a logical page of the medium */
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

/* The heads of lists follow the blocks */
static inline u32 fb_free_list(const struct fb_die_tables *t)
{
	return t->block_count;
}

static inline u32 fb_full_list(const struct fb_die_tables *t, u32 valid_pages)
{
	return t->block_count + 1 + valid_pages;
}

/* The full SLC blocks, in the order in which they were filled */
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

/* True if the SLC cache may open no further block */
static inline bool fb_slc_full(const struct fb_die_tables *t)
{
	return t->die->slc_blocks >= t->slc_blocks;
}

/* The free blocks beyond those kept for the SLC cache, so that no burst waits for collection */
static inline u32 fb_spare_blocks(const struct fb_die_tables *t)
{
	u32 kept = fb_slc_full(t) ? 0 : t->slc_blocks - t->die->slc_blocks;

	return t->die->free_blocks > kept ? t->die->free_blocks - kept : 0;
}

/* The open blocks beside the reserve hold no data; nor do map pages, which follow the data */
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

/* Reads a logical page of a die, which must be on flash */
u64 fb_page_fetch(struct fb_medium *m, u32 die, u32 index, u64 bytes, u64 ready_ns);

/* Writes a logical page of a die to an open block; collects first if the die is short of blocks */
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

/* True if a failure still leaves a block for the work under way */
static inline bool fb_page_can_fail(const struct fb_die_tables *t)
{
	return fb_spare_blocks(t) > 1;
}

/* Programs the logical page to the next page of an open block. The block must have room, or a free block must exist. */
u64 fb_page_put(struct fb_medium *m, u32 die, struct fb_die_tables *t, enum fb_open_block open, u32 index,
		u64 ready_ns);

/* Retires a block without valid pages */
void fb_page_leave_alone(struct fb_die_tables *t, u32 block);

/* --- garbage collection (ftl_page_gc.c) --- */

/* A block being emptied: its valid pages move to an open block */
struct fb_emptying {
	u32 block;
	u32 *ppn;		/* the next page to look at */
	enum fb_open_block to;
	u64 *moved_pages;	/* the counter */
	bool whole_rows;	/* finishes a row even if that exceeds the number asked for */
};

/* Moves up to `pages` of its pages, or all */
void fb_page_move(struct fb_medium *m, u32 die, struct fb_die_tables *t, const struct fb_emptying *from, u32 pages,
		  u64 ready_ns);

/* Collects until an open block can be taken; returns the time at which the die is done */
u64 fb_page_make_room(struct fb_medium *m, u32 die, struct fb_die_tables *t, u64 ready_ns);

/* With gc_step_pages: sets the pace by the free blocks; called when their number changes */
void fb_page_set_pace(const struct fb_medium *m, struct fb_die_tables *t);

/* With gc_step_pages: adds the share of one page write to the backlog of collection, and catches up by a step */
void fb_page_keep_up(struct fb_medium *m, u32 die, struct fb_die_tables *t, enum fb_open_block open, u64 ready_ns);
void fb_page_gc_while_idle(struct fb_medium *m, u32 die, struct fb_die_tables *t, u64 until_ns);
void fb_page_empty_failed(struct fb_medium *m, u32 die, struct fb_die_tables *t, u64 ready_ns);

/* Erases a block without valid pages */
void fb_page_erase(struct fb_medium *m, u32 die, struct fb_die_tables *t, u32 block, u64 ready_ns);

/* --- the SLC cache (ftl_page_slc.c) --- */

bool fb_slc_check(const struct fb_params *params, struct fb_complaint *complaint);

/* The SLC cache's blocks in a die's layer; 0: no cache */
u64 fb_slc_blocks_per_die(const struct fb_params *params);

/* Folds, if necessary, so that a host page can go to the cache; returns the time at which the die is done */
u64 fb_slc_make_room(struct fb_medium *m, u32 die, struct fb_die_tables *t, u64 ready_ns);

/* Accounts for the folding that the die did while idle, up to until_ns */
void fb_slc_fold_while_idle(struct fb_medium *m, u32 die, struct fb_die_tables *t, u64 until_ns);

/* The next full block to collect; FB_NO_BLOCK if every page of every block is valid */
u32 fb_choose_victim(const struct fb_params *params, struct fb_die_tables *t);

const char *fb_page_verify(const struct fb_medium *m);

#endif
