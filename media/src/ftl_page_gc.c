// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Garbage collection of the page-mapped layer: empties and erases blocks, to gain free ones and to level wear */
#include "ftl_page.h"
#include "nand_health.h"

#define MAX_PLANES 8

/* The most pages read before the first of them is programmed, not counting the rest of the last one's row */
#define MAX_AT_ONCE 32

/* Collection in steps averages over about this many of the last blocks */
#define PACE_OF_BLOCKS 32

/* The distance, in moved pages, at which a page's map entry is prefetched */
#define FETCH_AHEAD 8

/* The page is moved with its uncorrectable errors */
static void lose(struct fb_medium *m, u32 die, u32 index)
{
	fb_power_lose(m, ((u64)index * m->params.dies + die) * m->params.page_bytes, m->params.page_bytes);
}

/* Reads all pages, then programs all: at each change between the two, the array waits for the end of a transfer */
static void move_some(struct fb_medium *m, u32 die, struct fb_die_tables *t, const struct fb_emptying *from,
		      const u32 *ppns, u32 count, u64 ready_ns)
{
	const struct fb_ftl *ftl = fb_ftl(&m->params);
	u32 i;

	fb_nand_begin_batch(m);
	for (i = 0; i < count; i++) {
		fb_array_read(m, die, ppns[i], ready_ns, m->params.page_bytes);
		if (m->params.ecc_bits && m->flash.nand.read_failed)
			lose(m, die, t->owner[ppns[i]] - FB_OWNED);
	}
	for (i = 0; i < count; i++) {
		u32 index = t->owner[ppns[i]] - FB_OWNED;

		fb_page_put(m, die, t, from->to, index, ready_ns);
		if (ftl->moved)
			ftl->moved(m, die, index, ready_ns);
		t->owner[ppns[i]] = FB_STALE;
		t->blocks[from->block].valid_pages--;
		++*from->moved_pages;
	}
}

/* The pages read and programmed together: a row, so that its pages join, or as many rows as gc_step_pages fill */
static u32 pages_at_once(const struct fb_params *p)
{
	return fb_min(fb_max(p->planes, p->gc_step_pages), MAX_AT_ONCE);
}

void fb_page_move(struct fb_medium *m, u32 die, struct fb_die_tables *t, const struct fb_emptying *from, u32 pages,
		  u64 ready_ns)
{
	u32 *ppn = from->ppn;
	u32 end = (from->block + 1) * t->pages_per_block;
	u32 planes = m->params.planes;
	u32 in_row = *ppn % planes;
	u32 at_once = pages_at_once(&m->params);
	const u16 *valid = &t->blocks[from->block].valid_pages;
	u32 ppns[MAX_AT_ONCE + MAX_PLANES];
	u32 count = 0;

	for (; *valid && *ppn < end && (pages || (from->whole_rows && in_row)); ++*ppn) {
		if (*ppn + FETCH_AHEAD < end)
			__builtin_prefetch(&t->map[t->owner[*ppn + FETCH_AHEAD] - FB_OWNED], 1);
		in_row = in_row + 1 < planes ? in_row + 1 : 0;
		if (t->owner[*ppn] >= FB_OWNED) {
			ppns[count++] = *ppn;
			pages -= pages > 0;
		}
		if (!count || ((count < at_once || in_row) && count < *valid && (pages || (from->whole_rows && in_row))))
			continue;
		move_some(m, die, t, from, ppns, count, ready_ns);
		count = 0;
	}
}

void fb_page_erase(struct fb_medium *m, u32 die, struct fb_die_tables *t, u32 block, u64 ready_ns)
{
	fb_page_leave_alone(t, block);
	if (m->params.erase_fail_ppb && fb_page_can_fail(t) && fb_health_erase_fails(m, die, block)) {
		fb_array_erase(m, die, block, ready_ns);
		m->counters.erase_failures++;
		fb_health_retire(m, die, block);
		return;
	}
	fb_array_erase(m, die, block, ready_ns);
	fb_list_append(t, fb_free_list(t), block);
	t->die->free_blocks++;
}

/* The pages that can be programmed before the die runs out of free blocks */
static u64 room_pages(const struct fb_die_tables *t)
{
	u64 room = (u64)fb_spare_blocks(t) * t->pages_per_block;
	u32 i;

	for (i = 0; i < FB_OPEN_SLC; i++)
		if (t->die->open[i] != FB_NO_BLOCK)
			room += t->pages_per_block - t->blocks[t->die->open[i]].programmed_pages;
	return room;
}

/* With this many free blocks, opening the next one waits for the collection of a whole block */
static u64 kept_blocks(const struct fb_params *p)
{
	if (!p->gc_step_pages)
		return p->gc_reserve_blocks;
	return fb_health_may_fail(p) ? FB_FREE_TO_FAIL - 1 : 1;
}

/*
 * Each page written adds the same share of work, so that a die which collects a block with many valid pages is no
 * slower than the others: a write buffer waits for the slowest die. The share is the ratio of pages moved to pages
 * gained in the last blocks, because map blocks yield nearly all and others little. It is scaled by the missing room:
 * zero with a block more than the reserve, once with three quarters of that, twice with half. If the next write
 * would wait for a whole block, the share is the most that a step can do.
 */
void fb_page_set_pace(const struct fb_medium *m, struct fb_die_tables *t)
{
	struct fb_page_die *d = t->die;
	u64 max = m->params.gc_step_pages * FB_PACE_PARTS;
	u64 full_pages = (m->params.gc_reserve_blocks + 1) * t->pages_per_block;
	u64 room = room_pages(t);
	u64 share = max;

	if (d->recent_yield)
		share = fb_div_round_up((u64)d->recent_moves * FB_PACE_PARTS, d->recent_yield);
	if (fb_spare_blocks(t) <= kept_blocks(&m->params))
		share = max;
	else if (room < full_pages)
		share = share * 4 * (full_pages - room) / full_pages;
	else
		share = d->owed = 0;
	d->pace = fb_min(share, max);
}

static void note_yield(const struct fb_medium *m, struct fb_die_tables *t, u32 valid)
{
	struct fb_page_die *d = t->die;

	d->recent_moves += valid - d->recent_moves / PACE_OF_BLOCKS;
	d->recent_yield += t->pages_per_block - valid - d->recent_yield / PACE_OF_BLOCKS;
	fb_page_set_pace(m, t);
}

static void gc_begin(struct fb_medium *m, struct fb_die_tables *t, u32 block)
{
	if (!fb_bad(t, block))
		fb_list_remove(t, block);
	t->die->victim = block;
	t->die->victim_ppn = block * t->pages_per_block;
	if (m->params.gc_step_pages)
		note_yield(m, t, t->blocks[block].valid_pages);
	m->counters.collections++;
}

/* A failed block that is not empty yet. It gives no free block back, so one must remain. */
static u32 failed_block(const struct fb_die_tables *t)
{
	u32 block;

	if (!t->die->failed_blocks || !fb_page_can_fail(t))
		return FB_NO_BLOCK;
	for (block = 0; block < t->block_count; block++)
		if (fb_bad(t, block) && t->blocks[block].programmed_pages)
			return block;
	return FB_NO_BLOCK;
}

/* Moves up to `pages` pages, and erases the block once it is empty. False: there is nothing to collect. */
static bool gc_some(struct fb_medium *m, u32 die, struct fb_die_tables *t, u32 pages, u64 ready_ns)
{
	u32 block = t->die->victim;

	if (block == FB_NO_BLOCK) {
		block = failed_block(t);
		if (block == FB_NO_BLOCK)
			block = fb_choose_victim(&m->params, t);
		if (block == FB_NO_BLOCK)
			return false;
		gc_begin(m, t, block);
	}
	fb_page_move(m, die, t, &(struct fb_emptying) {
		.block = block,
		.ppn = &t->die->victim_ppn,
		.to = m->params.open_blocks > 1 ? FB_OPEN_FOR_GC : FB_OPEN_FOR_HOST,
		.moved_pages = &m->counters.collection_moved_pages,
		.whole_rows = true,
	}, pages, ready_ns);
	if (t->blocks[block].valid_pages)
		return true;
	t->die->victim = FB_NO_BLOCK;
	if (fb_bad(t, block)) {
		fb_page_leave_alone(t, block);
		t->die->failed_blocks--;
	} else {
		fb_page_erase(m, die, t, block, ready_ns);
	}
	return true;
}

static u32 min_erased_full(const struct fb_die_tables *t)
{
	u32 best = FB_NO_BLOCK;
	u32 block;

	for (block = 0; block < t->block_count; block++)
		if (fb_full(t, block) &&
		    (best == FB_NO_BLOCK || t->nand[block].erase_count < t->nand[best].erase_count))
			best = block;
	return best;
}

/*
 * Static wear levelling: data that are never rewritten keep their block from being erased. When the last erased block
 * is wear_threshold erases ahead of such a block, the data move on, and the block is used again.
 */
static void level_wear(struct fb_medium *m, u32 die, struct fb_die_tables *t, u64 ready_ns)
{
	u32 block, max;

	if (!m->params.wear_threshold || !fb_spare_blocks(t) || t->die->victim != FB_NO_BLOCK)
		return;
	max = t->nand[t->blocks[fb_free_list(t)].previous].erase_count;
	if (max < t->die->min_erase_count + m->params.wear_threshold)
		return;
	block = min_erased_full(t);
	if (block == FB_NO_BLOCK)
		return;
	t->die->min_erase_count = t->nand[block].erase_count;
	if (max < t->die->min_erase_count + m->params.wear_threshold)
		return;
	gc_begin(m, t, block);
	m->counters.wear_collections++;
	gc_some(m, die, t, t->pages_per_block, ready_ns);
}

/*
 * A block's moves take at most one free block and give one back, so one is always left for them. Host pages must not
 * come in between: collection in steps has an open block of its own.
 */
u64 fb_page_make_room(struct fb_medium *m, u32 die, struct fb_die_tables *t, u64 ready_ns)
{
	u64 keep_blocks = kept_blocks(&m->params);
	u64 begin_ns = fb_max(ready_ns, fb_array_free_ns(m, die));
	bool collected = false;

	while (fb_spare_blocks(t) <= keep_blocks && gc_some(m, die, t, t->pages_per_block, ready_ns)) {
		collected = true;
		level_wear(m, die, t, ready_ns);
	}
	if (!collected)
		return ready_ns;
	m->counters.collection_ns += fb_array_free_ns(m, die) - begin_ns;
	return fb_array_free_ns(m, die);
}

/*
 * One step of collection with a write, so that no write waits for a whole block. The die does it before the write,
 * unless the write joins a program that waits already.
 */
static void collect_step(struct fb_medium *m, u32 die, struct fb_die_tables *t, u64 ready_ns)
{
	u64 begin_ns = fb_max(ready_ns, fb_array_free_ns(m, die));
	u64 before = m->counters.collection_moved_pages;
	struct fb_page_die *d = t->die;

	if (d->owed < m->params.gc_step_pages * FB_PACE_PARTS || !gc_some(m, die, t, m->params.gc_step_pages, ready_ns))
		return;
	d->owed -= fb_min(d->owed, (m->counters.collection_moved_pages - before) * FB_PACE_PARTS);
	level_wear(m, die, t, ready_ns);
	m->counters.collection_ns += fb_array_free_ns(m, die) - begin_ns;
}

/* Map pages are written many at a time: the next write does the step that they owe, so that they hold up no die */
void fb_page_keep_up(struct fb_medium *m, u32 die, struct fb_die_tables *t, enum fb_open_block open, u64 ready_ns)
{
	if (open != FB_OPEN_SLC || fb_slc_full(t))
		t->die->owed += t->die->pace;
	if (!fb_is_for_map(m, open))
		collect_step(m, die, t, ready_ns);
}

/*
 * Accounts for the collection that the die did while idle. This is computed at the die's next request: a step that
 * began before it delays the request.
 */
void fb_page_gc_while_idle(struct fb_medium *m, u32 die, struct fb_die_tables *t, u64 until_ns)
{
	while (fb_spare_blocks(t) < m->params.gc_idle_blocks && fb_array_free_ns(m, die) < until_ns)
		if (!gc_some(m, die, t, m->params.planes, fb_array_free_ns(m, die)))
			return;
}

/* Empties blocks that failed in earlier writes; a block under collection comes first */
void fb_page_empty_failed(struct fb_medium *m, u32 die, struct fb_die_tables *t, u64 ready_ns)
{
	while (t->die->failed_blocks && fb_page_can_fail(t))
		if (!gc_some(m, die, t, t->pages_per_block, ready_ns))
			return;
}
