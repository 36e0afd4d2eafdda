// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The page-mapped layer's choice of the block to collect */
#include "ftl_page.h"
#include "random.h"

/* The draws without a hit after which the greedy choice is taken */
#define MAX_DRAWS 1024

/* The front of a list of full blocks has the oldest last change */
static u32 front(const struct fb_die_tables *t, u32 valid_pages)
{
	u32 head = fb_full_list(t, valid_pages);
	u32 block = t->blocks[head].next;

	return block == head ? FB_NO_BLOCK : block;
}

static u32 greedy(struct fb_die_tables *t)
{
	u32 *valid = &t->die->fewest_valid;
	u32 block;

	for (; *valid < t->pages_per_block; ++*valid) {
		block = front(t, *valid);
		if (block != FB_NO_BLOCK)
			return block;
	}
	return FB_NO_BLOCK;
}

/*
 * Maximizes (1 - u) * age / 2u, with u the share of valid pages and age the time since the last change (Kawaguchi et
 * al. 1995, "A flash-memory based file system"). Among blocks with equally many valid pages the oldest is best, so
 * comparing the fronts is enough.
 */
static u32 cost_benefit(struct fb_die_tables *t)
{
	u64 best_score = 0;
	u32 best = greedy(t);
	u32 valid, block;

	if (best == FB_NO_BLOCK || !t->blocks[best].valid_pages)
		return best;
	for (valid = t->die->fewest_valid; valid < t->pages_per_block; valid++) {
		u64 age, score;

		block = front(t, valid);
		if (block == FB_NO_BLOCK)
			continue;
		age = (u32)(t->die->clock - t->ages[block].changed);
		score = age * (t->pages_per_block - valid) * 1024 / valid;
		if (score > best_score) {
			best_score = score;
			best = block;
		}
	}
	return best;
}

static u32 draw(struct fb_die_tables *t)
{
	return (fb_xorshift(&t->die->random) >> 32) * t->block_count >> 32;
}

/* A block without a stale page gains nothing and does not count as drawn */
static u32 best_of(struct fb_die_tables *t, u64 choices)
{
	u32 best = greedy(t);
	u32 i, drawn = FB_NO_BLOCK;

	if (best == FB_NO_BLOCK)
		return best;
	for (i = 0; i < MAX_DRAWS && choices; i++) {
		u32 block = draw(t);

		if (!fb_full(t, block) || t->blocks[block].valid_pages == t->pages_per_block)
			continue;
		choices--;
		if (drawn == FB_NO_BLOCK || t->blocks[block].valid_pages < t->blocks[drawn].valid_pages)
			drawn = block;
	}
	return drawn == FB_NO_BLOCK ? best : drawn;
}

u32 fb_choose_victim(const struct fb_params *p, struct fb_die_tables *t)
{
	switch (p->gc_policy) {
	case FB_GC_COST_BENEFIT:
		return cost_benefit(t);
	case FB_GC_RANDOM:
		return best_of(t, 1);
	case FB_GC_D_CHOICES:
		return best_of(t, p->gc_choices);
	}
	return greedy(t);
}
