// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The SLC cache of the page-mapped layer. A block of multi-bit cells takes fewer pages in SLC mode, but far faster.
 * Host writes therefore go to SLC blocks first. Folding copies them to blocks in normal mode, oldest first: when the
 * cache is full, a whole block at once, or some pages with each write; or while the die is idle. Pages rewritten in the
 * meantime need no folding.
 *
 * The cache has a fixed number of blocks a die, but not always the same ones: a folded block is erased and joins the
 * free blocks, so that wear spreads over all. Free blocks are reserved for what the cache may still take. A folded page
 * goes through the controller, like a collected one.
 *
 * Simplifications: an erase takes as long, and wears as much, as in normal mode (chips allow a multiple of erases in
 * SLC mode); pages in SLC mode have as many wrong bits as others.
 */
#include "ftl_page.h"
#include "nand_health.h"

u64 fb_slc_blocks_per_die(const struct fb_params *p)
{
	return p->slc_cache_bytes ? p->slc_cache_bytes / p->dies / p->page_bytes / fb_nand_slc_pages(p) : 0;
}

bool fb_slc_check(const struct fb_params *p, struct fb_complaint *complaint)
{
	u64 block_bytes = fb_nand_slc_pages(p) * p->page_bytes * p->dies;
	u64 without_reserve = fb_health_good_blocks(p) - p->gc_reserve_blocks;
	u64 max_blocks = without_reserve > 4 ? without_reserve - 4 : 0;

	if (!fb_check_range(complaint, p, FB_PARAM_one_shot, 0, p->slc_cache_bytes ? 1 : 0,
			    "0 without slc_cache_bytes: pages of the host cannot wait for others of their cells"))
		return false;
	if (!p->slc_cache_bytes)
		return true;
	if (p->one_shot && p->pages_per_block % p->bits_per_cell)
		return fb_complain(complaint, p, FB_PARAM_one_shot, 0, 0,
				   "0 if pages_per_block is no multiple of bits_per_cell");
	if (p->bits_per_cell == 1 || !block_bytes)
		return fb_complain(complaint, p, FB_PARAM_slc_cache_bytes, 0, 0,
				   "bits_per_cell must be more than 1, and no more than pages_per_block");
	return fb_check_range(complaint, p, FB_PARAM_open_blocks, 2, 3, "at least 2 with slc_cache_bytes") &&
	       fb_check_range(complaint, p, FB_PARAM_slc_cache_bytes, block_bytes, (max_blocks + 1) * block_bytes - 1,
			      "at least a block of all planes and dies in SLC mode, and room for data must remain");
}

/* Folds up to `pages` pages of the oldest block, and erases it once it is empty. False: there is nothing to fold. */
static bool fold_some(struct fb_medium *m, u32 die, struct fb_die_tables *t, u32 pages, u64 ready_ns)
{
	u32 *folding = &t->die->folding;
	const u32 *open = &t->die->open[FB_OPEN_FOR_HOST];

	if (*folding == FB_NO_BLOCK) {
		u32 oldest = t->blocks[fb_slc_list(t)].next;

		if (oldest == fb_slc_list(t))
			return false;
		fb_list_remove(t, oldest);
		*folding = oldest;
		t->die->fold_ppn = oldest * t->pages_per_block;
	}
	while (pages && t->blocks[*folding].valid_pages) {
		struct fb_emptying from = {
			*folding, &t->die->fold_ppn, FB_OPEN_FOR_HOST, &m->counters.slc_folded_pages, false,
		};
		u32 room = t->pages_per_block;

		if (*open == FB_NO_BLOCK)
			ready_ns = fb_page_make_room(m, die, t, ready_ns);
		else
			room -= t->blocks[*open].programmed_pages;
		room = fb_min(room, pages);
		fb_page_move(m, die, t, &from, room, ready_ns);
		pages -= room;
	}
	if (t->blocks[*folding].valid_pages)
		return true;
	fb_page_erase(m, die, t, *folding, ready_ns);
	*folding = FB_NO_BLOCK;
	t->die->slc_blocks--;
	return true;
}

u64 fb_slc_make_room(struct fb_medium *m, u32 die, struct fb_die_tables *t, u64 ready_ns)
{
	u64 begin_ns = fb_max(ready_ns, fb_array_free_ns(m, die));
	bool folded = false;

	if (!fb_slc_full(t))
		return ready_ns;
	if (m->params.slc_step_pages)
		folded = fold_some(m, die, t, m->params.slc_step_pages, ready_ns);
	if (t->die->open[FB_OPEN_SLC] == FB_NO_BLOCK)
		while (fb_slc_full(t) && fold_some(m, die, t, t->pages_per_block, ready_ns))
			folded = true;
	if (!folded)
		return ready_ns;
	m->counters.slc_fold_ns += fb_array_free_ns(m, die) - begin_ns;
	return fb_array_free_ns(m, die);
}

void fb_slc_fold_while_idle(struct fb_medium *m, u32 die, struct fb_die_tables *t, u64 until_ns)
{
	u64 begin_ns = fb_array_free_ns(m, die) + m->params.slc_idle_ns;

	for (; begin_ns < until_ns; begin_ns = fb_array_free_ns(m, die))
		if (!fold_some(m, die, t, m->params.planes, begin_ns))
			return;
}
