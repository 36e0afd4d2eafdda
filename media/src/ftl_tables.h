/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The translation layer's tables of one die, and what their values mean. Zero is the state of a new medium. */
#ifndef FB_FTL_TABLES_H
#define FB_FTL_TABLES_H

#include "arith.h"
#include "state.h"

/* map[]: for each logical page of the die, where it is: FB_MAPPED + place */
#define FB_UNMAPPED	0u
#define FB_MAPPED	1u

/* owner[]: for each place, what was programmed there: FB_OWNED + logical page of the die */
#define FB_ERASED	0u
#define FB_STALE	1u
#define FB_OWNED	2u

struct fb_die_tables {
	struct fb_ftl_die *die;
	struct fb_block *blocks;
	u32 *map;
	u32 *owner;
	u32 block_count;
	u32 pages_per_block;
	u32 logical_pages;
};

static inline struct fb_die_tables fb_die_tables(const struct fb_medium *m, u32 die)
{
	const struct fb_flash_layout *layout = &m->flash.layout;

	return (struct fb_die_tables) {
		.die = &fb_die(m, die)->ftl,
		.blocks = (struct fb_block *)fb_table(m, layout->blocks_offset) + die * layout->block_records_per_die,
		.map = (u32 *)fb_table(m, layout->map_offset) + die * layout->logical_pages_per_die,
		.owner = (u32 *)fb_table(m, layout->owner_offset) + die * layout->physical_pages_per_die,
		.block_count = m->params.blocks_per_die,
		.pages_per_block = m->params.pages_per_block,
		.logical_pages = layout->logical_pages_per_die,
	};
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

#endif
