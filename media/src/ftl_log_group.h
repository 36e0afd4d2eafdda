/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Groups of a log-block layer, and the places of their pages on the dies. Functions that run for each page read or
 * programmed are inline.
 */
#ifndef FB_FTL_LOG_GROUP_H
#define FB_FTL_LOG_GROUP_H

#include "array.h"
#include "ftl_log.h"

/* Queues a group behind all free ones; takes the first free one for a user (FB_GROUP_...) */
void fb_log_put_free(struct fb_log_tables *t, u32 group);
u32 fb_log_take_free(struct fb_log_tables *t, u32 user);

/* Assigns the good blocks of a new die to groups, in order */
void fb_log_put_blocks(struct fb_medium *m, u32 die);

/* Entries of block_at[] and layer_block[] */
static inline u32 *fb_log_block_at(const struct fb_medium *m, u32 die, u32 layer_block)
{
	const struct fb_ftl_layout *layout = &m->flash.ftl;

	return (u32 *)fb_table(m, layout->block_at_offset) + die * (u32)layout->layer_blocks_per_die + layer_block;
}

static inline u32 *fb_log_layer_block(const struct fb_medium *m, u32 die, u32 block)
{
	return (u32 *)fb_table(m, m->flash.ftl.layer_block_offset) +
	       die * (u32)m->flash.nand.layout.blocks_per_die + block;
}

/* The place of a page */
struct fb_log_spot {
	u32 die;
	u32 ppn;
};

static inline struct fb_log_spot fb_log_spot_in(const struct fb_medium *m, u32 group, u32 offset)
{
	u32 dies = m->params.dies;
	u32 pages = m->flash.nand.layout.pages_per_block;
	u32 layer_block = group * (u32)m->params.blocks_per_group + offset / dies / pages;
	u32 die = offset % dies;

	return (struct fb_log_spot) {
		.die = die,
		.ppn = *fb_log_block_at(m, die, layer_block) * pages + offset / dies % pages,
	};
}

/* The place of a page that holds data */
static inline struct fb_log_spot fb_log_spot_of(const struct fb_medium *m, const struct fb_log_tables *t, u32 page)
{
	u32 offset = page % t->pages_per_group;
	u32 slot;

	if (!t->latest[page] && fb_log_merged(t, page))
		return fb_log_spot_in(m, t->free->merging_into, offset);
	if (!t->latest[page])
		return fb_log_spot_in(m, t->map[page / t->pages_per_group] - FB_MAPPED_GROUP, offset);
	slot = t->latest[page] - FB_IN_LOG;
	return fb_log_spot_in(m, t->logs[slot / t->pages_per_group].group, slot % t->pages_per_group);
}

/*
 * Spends failing programs until the group's page at this offset lies in a block where its program succeeds; returns the
 * time at which the last failure is known
 */
u64 fb_log_fail_programs(struct fb_medium *m, u32 group, u32 offset, u64 ready_ns);

/*
 * Programs a logical page, or FB_NO_PAGE for padding, as the group's next page; returns the time at which the die is
 * done
 */
static inline u64 fb_log_program_next(struct fb_medium *m, struct fb_log_tables *t, u32 group, u64 page, u64 ready_ns)
{
	u32 offset = t->groups[group].programmed_pages++;
	struct fb_log_spot to;

	if (m->params.program_fail_ppb)
		ready_ns = fb_log_fail_programs(m, group, offset, ready_ns);
	to = fb_log_spot_in(m, group, offset);
	return fb_array_program(m, to.die, to.ppn, page, ready_ns);
}

/* Erases the programmed blocks of a group and frees it; returns the time at which all are erased */
u64 fb_log_release(struct fb_medium *m, struct fb_log_tables *t, u32 group, u64 ready_ns);

#endif
