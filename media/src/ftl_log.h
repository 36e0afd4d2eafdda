/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the log-block layers share: groups, logs and merges. Such layers are found in memory cards and sticks, whose
 * controllers have no memory for a map of pages.
 *
 * A group is the unit of mapping and erasing: blocks_per_group erase blocks on every die. Its pages are striped over
 * the dies: page i of a group lies on die i % dies. A data group holds the pages of one logical group, each at its own
 * offset. Because pages are programmed in order, only the next page can be added to it. All others go to a log, a group
 * that takes pages in the order of writes. A merge turns a logical group back into one data group:
 *
 *	switch		the log holds all pages in order: it becomes the data group
 *	partial		the log holds the first pages in order: the others are copied behind them
 *	full		the newest of each page is copied to a fresh group
 *
 * A full merge programs every page up to the last that holds data; gaps are padded. A page once written or padded is
 * read from flash until its whole group is discarded; a discard of part of a group has no effect.
 *
 * A shared log is emptied by merging every group of which it holds a valid page. This happens at once, or, with
 * merge_step_pages, while the next log is filled, so that no write waits for more than its share, at most one merge. A
 * merge in steps copies a group's pages in order; each is then found in the new group, unless it is written again.
 * Until the merge is done, the group takes part in no other merge, gets no log of its own, and does not grow in place.
 * FAST's sequential log is completed in steps too: the pages behind its own are appended to it as if they were
 * rewritten.
 *
 * The model keeps the log slot of each logical page (latest[]), 4 bytes a page. A card searches its few logs instead;
 * that time is part of command_ns. Its controller has no room for the page layout of every group: it knows that of
 * known_groups. For another group it first reads the spare area of the first page of the group's data, and that of the
 * last page of the group's own log, if there is one: each describes all pages before it. Hence a read across the
 * boundary of two groups takes longer than one beside it, as "flashbench -a" shows on cards and sticks (LWN 428836,
 * "Optimizing Linux with cheap flash drives"). A shared log is always known.
 *
 * Groups are made of good blocks. A bad block is replaced by the next spare block of its die, independently of the
 * others, so a group's blocks may lie anywhere. When a program fails, the earlier pages of the block are copied to a
 * spare block at once.
 *
 * Kim et al. 2002, "A space-efficient flash translation layer for CompactFlash systems" (BAST); Lee et al. 2007, "A log
 * buffer-based flash translation layer using fully-associative sector translation" (FAST).
 */
#ifndef FB_FTL_LOG_H
#define FB_FTL_LOG_H

#include "arith.h"
#include "state.h"

#define FB_NO_GROUP (~(u32)0)
#define FB_NO_LOG (~(u32)0)

/* Erased groups, first in, first out */
struct fb_free_groups {
	u32 first;
	u32 last;
	u32 count;
	u32 uses;		/* incremented by each write, to order the logs by use */
	u32 newest_log;		/* the shared log being filled */
	u32 emptying_log;	/* the shared log being emptied in steps; FB_NO_LOG */
	u32 emptying_offset;	/* the next offset to look at in it */
	u32 groups_left;	/* upper bound of the groups it holds valid pages of */
	u32 merging;		/* the logical group being merged in steps; FB_NO_GROUP */
	u32 merging_into;	/* the group that has its first pages */
	u32 counted_logs;	/* a generation number for counted[] */
	u32 closing;		/* the log being completed in steps: FB_CLOSING + log. Zero: none */
};

#define FB_CLOSING	1u

/* user: the use of a group */
#define FB_GROUP_FREE	0u
#define FB_GROUP_LOG	1u	/* + number of the log */
#define FB_GROUP_DATA	1024u	/* + logical group */

struct fb_group {
	u32 programmed_pages;
	u32 user;
	u32 next_free;
};

struct fb_log {
	u32 group;		/* FB_NO_GROUP: free */
	u32 logical_group;	/* the owner of its pages; FB_NO_GROUP: shared */
	u32 in_order;		/* every page so far is at its own offset */
	u32 last_use;
};

/* map[]: the data group of each logical group: FB_MAPPED_GROUP + group. Zero: none. */
#define FB_MAPPED_GROUP	1u

/* latest[]: the log slot of each logical page: FB_IN_LOG + slot. Zero: in the data group, if anywhere. */
#define FB_IN_LOG	1u

/* owner[]: the page programmed in each log slot: FB_LOGGED + logical page. Zero: none. */
#define FB_LOGGED	1u

/* counted[]: the generation (counted_logs) of the last log found to hold a valid page of each logical group */

/* known[]: logical groups whose layout the controller knows, most recently used first: FB_KNOWN + group */
#define FB_KNOWN	1u

/*
 * block_at[] maps each block of a group, in the order of the groups and die by die, to a block of the die.
 * layer_block[] maps each block of a die to a block of a group: FB_IN_GROUP + its number in the die. Zero: a bad or a
 * spare block.
 */
#define FB_IN_GROUP	1u

struct fb_log_tables {
	struct fb_free_groups *free;
	struct fb_group *groups;
	struct fb_log *logs;
	u32 *map;
	u32 *latest;
	u32 *owner;
	u32 *known;
	u32 *counted;
	u32 *block_at;
	u32 *layer_block;
	u32 group_count;
	u32 log_count;
	u32 logical_groups;
	u32 pages_per_group;
};

static inline struct fb_log_tables fb_log_tables(const struct fb_medium *m)
{
	const struct fb_ftl_layout *layout = &m->flash.ftl;

	return (struct fb_log_tables) {
		.free = fb_table(m, layout->free_offset),
		.groups = fb_table(m, layout->groups_offset),
		.logs = fb_table(m, layout->logs_offset),
		.map = fb_table(m, layout->map_offset),
		.latest = fb_table(m, layout->latest_offset),
		.owner = fb_table(m, layout->owner_offset),
		.known = fb_table(m, layout->known_offset),
		.counted = fb_table(m, layout->counted_offset),
		.block_at = fb_table(m, layout->block_at_offset),
		.layer_block = fb_table(m, layout->layer_block_offset),
		.group_count = layout->groups,
		.log_count = m->params.log_blocks,
		.logical_groups = layout->logical_groups,
		.pages_per_group = layout->pages_per_group,
	};
}

/* The slot of a page in a log; slots are counted through all logs */
static inline u32 fb_log_slot(const struct fb_log_tables *t, u32 log, u32 offset)
{
	return log * t->pages_per_group + offset;
}

static inline void fb_log_put_in_log(struct fb_log_tables *t, u32 slot, u32 page)
{
	t->owner[slot] = page + FB_LOGGED;
	t->latest[page] = slot + FB_IN_LOG;
}

/* The first shared log. Logs from there on take pages of any group, one log after another. */
static inline u32 fb_log_first_shared(const struct fb_params *p)
{
	return p->ftl == FB_FTL_FAST ? 1 : p->log_blocks - p->shared_logs;
}

/* True if a merge in steps has copied the page already */
static inline bool fb_log_merged(const struct fb_log_tables *t, u32 page)
{
	return t->free->merging == page / t->pages_per_group &&
	       page % t->pages_per_group < t->groups[t->free->merging_into].programmed_pages;
}

static inline bool fb_log_in_data(const struct fb_log_tables *t, u32 page)
{
	u32 entry = t->map[page / t->pages_per_group];

	return fb_log_merged(t, page) ||
	       (entry && page % t->pages_per_group < t->groups[entry - FB_MAPPED_GROUP].programmed_pages);
}

/* True if the page was written or padded since its group was discarded */
static inline bool fb_log_holds(const struct fb_log_tables *t, u32 page)
{
	return t->latest[page] || fb_log_in_data(t, page);
}

static inline bool fb_log_in_use(const struct fb_log_tables *t, u32 log)
{
	return t->logs[log].group != FB_NO_GROUP;
}

bool fb_log_check(const struct fb_params *params, u64 fewest_logs, struct fb_complaint *complaint);
struct fb_ftl_layout fb_log_layout(const struct fb_params *params, u64 *end_offset);
void fb_log_init(struct fb_medium *m);
void fb_log_power_on(struct fb_medium *m);
bool fb_log_mapped(const struct fb_medium *m, u64 page);
u64 fb_log_read(struct fb_medium *m, u64 page, u64 bytes, u64 ready_ns);
void fb_log_discard(struct fb_medium *m, u64 first, u64 end);
u64 fb_log_scan_pages(const struct fb_medium *m);

/* Restores data groups only, each with the pages of one logical group at their own offsets; there are no logs */
void fb_log_restore(struct fb_medium *m, const u32 *pages, const u32 *programmed);
const char *fb_log_verify(const struct fb_medium *m);

/* The operations that bast and fast share */
#define FB_LOG_OPERATIONS \
	.layout = fb_log_layout, \
	.init = fb_log_init, \
	.power_on = fb_log_power_on, \
	.mapped = fb_log_mapped, \
	.read = fb_log_read, \
	.discard = fb_log_discard, \
	.page_at = fb_log_page_at, \
	.scan_pages = fb_log_scan_pages, \
	.restore = fb_log_restore, \
	.verify = fb_log_verify

/*
 * Returns the time at which the controller knows the layout of a logical group, which counts as a use of it. That is
 * ready_ns if the group was used recently, or if it is empty.
 */
u64 fb_log_know(struct fb_medium *m, struct fb_log_tables *t, u32 logical_group, u64 ready_ns);

/* True if the page can be programmed into its data group now, at its own offset */
bool fb_log_extends_data(const struct fb_log_tables *t, u32 page);
u64 fb_log_extend_data(struct fb_medium *m, struct fb_log_tables *t, u32 page, u64 ready_ns);

/* Gives a free log a fresh group */
void fb_log_start(struct fb_log_tables *t, u32 log, u32 logical_group);
bool fb_log_full(const struct fb_log_tables *t, u32 log);
u64 fb_log_append(struct fb_medium *m, struct fb_log_tables *t, u32 log, u32 page, u64 ready_ns);

/* --- groups (ftl_log_group.c; ftl_log_group.h has the rest) --- */

u64 fb_log_page_at(const struct fb_medium *m, u32 die, u32 ppn);

/* --- merges (ftl_log_merge.c) --- */

/* Merges return the time at which the dies are done */
u64 fb_log_merge_full(struct fb_medium *m, struct fb_log_tables *t, u32 logical_group, u64 ready_ns);

/* Merges a log of one logical group in the cheapest way, and frees the log */
u64 fb_log_merge(struct fb_medium *m, struct fb_log_tables *t, u32 log, u64 ready_ns);

/* Invalidates the logical group's pages in logs */
void fb_log_forget_pages(struct fb_log_tables *t, u32 logical_group);

/* Erases a log without valid pages, and frees it */
u64 fb_log_drop(struct fb_medium *m, struct fb_log_tables *t, u32 log, u64 ready_ns);

/* A merge in steps, of a group without its own log: begin it; copy up to *pages pages and count them down; end it */
void fb_log_begin_merge(struct fb_log_tables *t, u32 logical_group);
u64 fb_log_go_on_merging(struct fb_medium *m, struct fb_log_tables *t, u32 *pages, u64 ready_ns);
u64 fb_log_end_merge(struct fb_medium *m, struct fb_log_tables *t, u32 logical_group, u64 ready_ns);

/* Completes a log in order by up to *pages pages and counts them down; a complete log is switched in */
u64 fb_log_close_some(struct fb_medium *m, struct fb_log_tables *t, u32 log, u32 *pages, u64 ready_ns);

/* True if a log in order holds all of its group's data, so that a switch copies nothing */
bool fb_log_complete(const struct fb_log_tables *t, u32 log);

/* --- shared logs (ftl_log_shared.c) --- */

u64 fb_log_write_shared(struct fb_medium *m, struct fb_log_tables *t, u32 page, u64 ready_ns);

#endif
