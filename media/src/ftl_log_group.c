// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Groups of the log-block layers: free groups, their blocks, and the places of their pages. Groups are made of good
 * blocks, so a spare block replaces one that goes bad while it is programmed or erased.
 */
#include "ftl_log_group.h"
#include "nand_health.h"

void fb_log_put_free(struct fb_log_tables *t, u32 group)
{
	t->groups[group].user = FB_GROUP_FREE;
	t->groups[group].next_free = FB_NO_GROUP;
	if (t->free->count++)
		t->groups[t->free->last].next_free = group;
	else
		t->free->first = group;
	t->free->last = group;
}

u32 fb_log_take_free(struct fb_log_tables *t, u32 user)
{
	u32 group = t->free->first;

	t->free->first = t->groups[group].next_free;
	t->free->count--;
	t->groups[group].user = user;
	return group;
}

/* Returns the first good block of the die that is in no group. There is one as long as the die has a reserve. */
static u32 spare_block(const struct fb_medium *m, u32 die)
{
	u32 block = 0;

	while (*fb_log_layer_block(m, die, block) || fb_nand_block(&m->flash.nand, die, block)->flags & FB_BLOCK_BAD)
		block++;
	return block;
}

static void put_at(struct fb_medium *m, u32 die, u32 layer_block, u32 block)
{
	*fb_log_block_at(m, die, layer_block) = block;
	*fb_log_layer_block(m, die, block) = layer_block + FB_IN_GROUP;
}

void fb_log_put_blocks(struct fb_medium *m, u32 die)
{
	u32 layer_block = 0;
	u32 block;

	for (block = 0; layer_block < m->flash.ftl.layer_blocks_per_die; block++)
		if (!(fb_nand_block(&m->flash.nand, die, block)->flags & FB_BLOCK_BAD))
			put_at(m, die, layer_block++, block);
}

/* Replaces a bad block */
static void replace(struct fb_medium *m, u32 die, u32 layer_block, u32 by)
{
	*fb_log_layer_block(m, die, *fb_log_block_at(m, die, layer_block)) = 0;
	put_at(m, die, layer_block, by);
}

/* Spends the time of a failed program and retires its block; returns the time at which the failure is known */
static u64 fail_program(struct fb_medium *m, const struct fb_log_spot *at, u64 ready_ns)
{
	ready_ns = fb_array_program(m, at->die, at->ppn, FB_NO_PAGE, ready_ns);
	m->counters.program_failures++;
	m->flash.nand.has_page = 0;
	fb_health_retire(m, at->die, at->ppn / (u32)m->flash.nand.layout.pages_per_block);
	return ready_ns;
}

/*
 * Copies the first pages of a block to the beginning of another. If a program fails, returns false and sets *ready_ns
 * to the time at which that is known.
 */
static bool copy_block(struct fb_medium *m, u32 die, u32 from, u32 to, u32 pages, u64 *ready_ns)
{
	struct fb_log_spot at = { die, to };
	u64 done_ns = *ready_ns;

	for (; pages; pages--, from++, at.ppn++) {
		u64 read_ns, page;

		fb_nand_begin_batch(m);
		m->flash.nand.read_failed = 0;
		read_ns = fb_array_read(m, die, from, *ready_ns, m->params.page_bytes);
		page = m->flash.nand.read_failed ? fb_log_page_at(m, die, from) : FB_NO_PAGE;
		if (page != FB_NO_PAGE)
			fb_power_lose(m, page * m->params.page_bytes, m->params.page_bytes);
		if (fb_health_program_fails(m, die, at.ppn)) {
			*ready_ns = fail_program(m, &at, read_ns);
			return false;
		}
		done_ns = fb_array_program(m, die, at.ppn, fb_log_page_at(m, die, from), read_ns);
		m->counters.collection_moved_pages++;
	}
	*ready_ns = done_ns;
	return true;
}

u64 fb_log_fail_programs(struct fb_medium *m, u32 group, u32 offset, u64 ready_ns)
{
	u32 pages = m->flash.nand.layout.pages_per_block;
	struct fb_log_spot to = fb_log_spot_in(m, group, offset);

	while (fb_health_program_fails(m, to.die, to.ppn)) {
		u32 from = to.ppn / pages;
		u32 layer_block = *fb_log_layer_block(m, to.die, from) - FB_IN_GROUP;
		u32 spare;

		ready_ns = fail_program(m, &to, ready_ns);
		do {
			spare = spare_block(m, to.die);
		} while (!copy_block(m, to.die, from * pages, spare * pages, to.ppn % pages, &ready_ns));
		replace(m, to.die, layer_block, spare);
		to = fb_log_spot_in(m, group, offset);
	}
	return ready_ns;
}

/* Erases a block; if that fails, a spare block replaces it */
static u64 erase(struct fb_medium *m, u32 die, u32 layer_block, u64 ready_ns)
{
	u32 block = *fb_log_block_at(m, die, layer_block);
	bool fails = m->params.erase_fail_ppb && fb_health_erase_fails(m, die, block);

	ready_ns = fb_array_erase(m, die, block, ready_ns);
	if (fails) {
		m->counters.erase_failures++;
		fb_health_retire(m, die, block);
		replace(m, die, layer_block, spare_block(m, die));
	}
	return ready_ns;
}

u64 fb_log_release(struct fb_medium *m, struct fb_log_tables *t, u32 group, u64 ready_ns)
{
	u32 first = group * m->params.blocks_per_group;
	u64 done_ns = ready_ns;
	u32 die, i;

	for (die = 0; die < m->params.dies; die++)
		for (i = first; i < first + m->params.blocks_per_group; i++)
			if (fb_nand_block(&m->flash.nand, die, *fb_log_block_at(m, die, i))->programmed_pages)
				done_ns = fb_max(done_ns, erase(m, die, i, ready_ns));
	t->groups[group].programmed_pages = 0;
	fb_log_put_free(t, group);
	return done_ns;
}

u64 fb_log_page_at(const struct fb_medium *m, u32 die, u32 ppn)
{
	struct fb_log_tables t = fb_log_tables(m);
	u32 pages_of_die = t.pages_per_group / m->params.dies;
	u32 pages = m->flash.nand.layout.pages_per_block;
	u32 layer_block = *fb_log_layer_block(m, die, ppn / pages);
	u32 layer_ppn = (layer_block - FB_IN_GROUP) * pages + ppn % pages;
	u32 group = layer_ppn / pages_of_die;
	u32 offset = layer_ppn % pages_of_die * m->params.dies + die;
	u32 user, logged, page;

	if (!layer_block || offset >= t.groups[group].programmed_pages)
		return FB_NO_PAGE;
	user = t.groups[group].user;
	if (user >= FB_GROUP_DATA) {
		page = (user - FB_GROUP_DATA) * t.pages_per_group + offset;
		if (fb_log_merged(&t, page) && group != t.free->merging_into)
			return FB_NO_PAGE;
		return t.latest[page] ? FB_NO_PAGE : page;
	}
	logged = fb_log_slot(&t, user - FB_GROUP_LOG, offset);
	page = t.owner[logged] - FB_LOGGED;
	return t.owner[logged] && t.latest[page] == logged + FB_IN_LOG ? page : FB_NO_PAGE;
}
