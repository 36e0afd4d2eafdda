// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Consistency checks of the page-mapped layer's tables, with each other and with the dies. They serve tests and states
 * from elsewhere: no number is trusted unchecked.
 */
#include "ftl_page.h"

static const char *verify_map(const struct fb_die_tables *t)
{
	u32 ppns = t->block_count * t->pages_per_block;
	u32 index, ppn;

	for (index = 0; index < t->logical_pages; index++) {
		if (t->map[index] == FB_UNMAPPED)
			continue;
		ppn = t->map[index] - FB_MAPPED;
		if (ppn >= ppns)
			return "a page is mapped beyond its die";
		if (t->owner[ppn] != index + FB_OWNED)
			return "a page is mapped to a flash page that is not its own";
	}
	for (ppn = 0; ppn < ppns; ppn++) {
		if (t->owner[ppn] < FB_OWNED)
			continue;
		index = t->owner[ppn] - FB_OWNED;
		if (index >= t->logical_pages)
			return "a flash page is owned by a page that does not exist";
		if (t->map[index] != ppn + FB_MAPPED)
			return "a flash page is owned by a page that is mapped elsewhere";
	}
	return NULL;
}

static const char *verify_block(const struct fb_die_tables *t, u32 block)
{
	const struct fb_block *b = &t->blocks[block];
	const u32 *owner = t->owner + (u64)block * t->pages_per_block;
	u32 i, valid = 0;

	if (b->programmed_pages > (t->nand[block].flags & FB_BLOCK_SLC ? t->slc_pages_per_block : t->pages_per_block))
		return "a block has more programmed pages than pages";
	for (i = 0; i < t->pages_per_block; i++) {
		if (i < b->programmed_pages && owner[i] == FB_ERASED)
			return "a programmed page is erased";
		if (i >= b->programmed_pages && owner[i] != FB_ERASED)
			return "pages of a block are programmed out of order";
		valid += owner[i] >= FB_OWNED;
	}
	if (valid != b->valid_pages)
		return "a block's count of valid pages is wrong";
	return NULL;
}

/* Adds the list's length to *found. A block with consistent neighbours is on one list only. */
#define ANY_VALID (~(u32)0)

static const char *verify_list(const struct fb_die_tables *t, u32 head, u32 programmed, u32 valid, u32 *found)
{
	u32 before = head;
	u32 block = t->blocks[head].next;

	for (; block != head; before = block, block = t->blocks[block].next) {
		if (block >= t->block_count)
			return "a list of blocks leads out of the table";
		if (t->blocks[block].previous != before)
			return "a list of blocks is torn";
		if (block == t->die->victim)
			return "the block under collection is on a list";
		if (fb_bad(t, block))
			return "a bad block is on a list";
		if (t->blocks[block].programmed_pages != programmed ||
		    (valid != ANY_VALID && t->blocks[block].valid_pages != valid))
			return "a block is on the wrong list";
		if (++*found > t->block_count)
			return "a list of blocks has no end";
	}
	if (t->blocks[head].previous != before)
		return "a list of blocks is torn";
	return NULL;
}

/* The block's pages before next_ppn have been moved */
static const char *verify_emptying(const struct fb_die_tables *t, u32 block, u32 next_ppn, u32 pages)
{
	u32 ppn = block * t->pages_per_block;

	if (next_ppn < ppn || next_ppn > ppn + pages)
		return "a block is emptied that is another one";
	for (; ppn < next_ppn; ppn++)
		if (t->owner[ppn] >= FB_OWNED)
			return "a page was left behind in a block that is emptied";
	return NULL;
}

static const char *verify_victim(const struct fb_die_tables *t)
{
	u32 victim = t->die->victim;

	if (victim == FB_NO_BLOCK)
		return t->die->free_blocks ? NULL : "a die has no free block and none under collection";
	if (victim >= t->block_count ||
	    (fb_bad(t, victim) ? !t->blocks[victim].programmed_pages :
				 t->blocks[victim].programmed_pages != t->pages_per_block))
		return "the block under collection does not exist or is not full";
	return verify_emptying(t, victim, t->die->victim_ppn, t->pages_per_block);
}

/* Checks the block being folded. Adds the SLC blocks that are full, or being folded, to *found. */
static const char *verify_slc(const struct fb_die_tables *t, u32 *found)
{
	u32 folding = t->die->folding;
	u32 before = *found;
	u32 in_mode = 0;
	const char *fault = verify_list(t, fb_slc_list(t), t->slc_pages_per_block, ANY_VALID, found);
	u32 block;

	if (fault)
		return fault;
	if (folding != FB_NO_BLOCK) {
		if (folding >= t->block_count || fb_bad(t, folding) ||
		    t->blocks[folding].programmed_pages != t->slc_pages_per_block)
			return "the block that is folded does not exist or is not full";
		fault = verify_emptying(t, folding, t->die->fold_ppn, t->slc_pages_per_block);
		if (fault)
			return fault;
		++*found;
	}
	if (*found - before + (t->die->open[FB_OPEN_SLC] != FB_NO_BLOCK) != t->die->slc_blocks)
		return "a die's count of SLC blocks is wrong";
	for (block = 0; block < t->block_count; block++)
		in_mode += !fb_bad(t, block) && t->nand[block].flags & FB_BLOCK_SLC;
	if (in_mode != t->die->slc_blocks)
		return "a block is in SLC mode that is not in the cache, or the other way round";
	return t->die->slc_blocks > t->slc_blocks ? "the SLC cache has more blocks than it may" : NULL;
}

/* Failed blocks that are not empty yet still have pages in the layer's tables */
static u32 bad_blocks(const struct fb_die_tables *t, u32 *failed)
{
	u32 count = 0;
	u32 block;

	for (block = 0; block < t->block_count; block++) {
		if (!fb_bad(t, block))
			continue;
		count++;
		*failed += t->blocks[block].programmed_pages != 0;
	}
	return count;
}

static const char *verify_lists(const struct fb_die_tables *t)
{
	const char *fault;
	u32 found = 0, failed = 0;
	u32 valid, i, other;

	fault = verify_list(t, fb_free_list(t), 0, 0, &found);
	if (fault)
		return fault;
	if (found != t->die->free_blocks)
		return "a die's count of free blocks is wrong";
	for (valid = 0; valid <= t->pages_per_block; valid++) {
		u32 before = found;

		fault = verify_list(t, fb_full_list(t, valid), t->pages_per_block, valid, &found);
		if (fault)
			return fault;
		if (found != before && valid < t->die->fewest_valid)
			return "collection would miss a block with fewer valid pages";
	}
	for (i = 0; i < FB_OPEN_BLOCKS; i++) {
		if (t->die->open[i] == FB_NO_BLOCK)
			continue;
		if (t->die->open[i] >= t->block_count)
			return "an open block does not exist";
		if (t->blocks[t->die->open[i]].programmed_pages >=
		    (i == FB_OPEN_SLC ? t->slc_pages_per_block : t->pages_per_block))
			return "an open block is full";
		if (!t->blocks[t->die->open[i]].programmed_pages)
			return "an open block is erased";
		if (fb_bad(t, t->die->open[i]))
			return "an open block is bad";
		for (other = 0; other < i; other++)
			if (t->die->open[other] == t->die->open[i])
				return "a block is open twice";
		found++;
	}
	fault = verify_victim(t);
	if (!fault)
		fault = verify_slc(t, &found);
	if (fault)
		return fault;
	found += t->die->victim != FB_NO_BLOCK && !fb_bad(t, t->die->victim);
	found += bad_blocks(t, &failed);
	if (failed != t->die->failed_blocks)
		return "a die's count of failed blocks is wrong";
	if (found != t->block_count)
		return "a block is on no list";
	return NULL;
}

static const char *verify_on_die(const struct fb_medium *m, u32 die, const struct fb_die_tables *t)
{
	u32 block;

	for (block = 0; block < t->block_count; block++) {
		u32 programmed_pages = t->blocks[block].programmed_pages;

		/* The failed page is not counted by the layer, and a retired block has no pages */
		if (fb_bad(t, block))
			programmed_pages = programmed_pages ? programmed_pages + 1 : t->nand[block].programmed_pages;
		if (programmed_pages != fb_nand_block(&m->flash.nand, die, block)->programmed_pages)
			return "a block has other pages programmed than its die says";
	}
	return NULL;
}

const char *fb_page_verify(const struct fb_medium *m)
{
	const char *fault;
	u32 die, block;

	for (die = 0; die < m->params.dies; die++) {
		struct fb_die_tables t = fb_die_tables(m, die);

		fault = verify_map(&t);
		for (block = 0; !fault && block < t.block_count; block++)
			fault = verify_block(&t, block);
		if (!fault)
			fault = verify_lists(&t);
		if (!fault)
			fault = verify_on_die(m, die, &t);
		if (fault)
			return fault;
	}
	return NULL;
}
