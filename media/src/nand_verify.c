// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The wear of the dies' blocks, and whether the chip's rules were kept */
#include "nand.h"
#include "state.h"

struct fb_wear fb_nand_wear(const struct fb_medium *m)
{
	struct fb_wear wear = {
		.erase_count_min = ~(u64)0,
		.erase_count_sum = m->flash.nand.journal_erases * m->params.planes,
	};
	u64 blocks = m->params.dies * m->flash.nand.layout.blocks_per_die;
	u64 i;

	for (i = 0; i < blocks; i++) {
		const struct fb_nand_block *block = fb_nand_block(&m->flash.nand, 0, i);
		u64 erases = block->erase_count;

		if (block->flags & FB_BLOCK_FACTORY_BAD)
			wear.factory_bad_blocks += m->params.planes;
		if (block->flags & FB_BLOCK_GROWN_BAD)
			wear.grown_bad_blocks += m->params.planes;
		if (block->flags & FB_BLOCK_BAD)
			continue;
		wear.blocks += m->params.planes;
		wear.erase_count_sum += erases * m->params.planes;
		if (erases < wear.erase_count_min)
			wear.erase_count_min = erases;
		if (erases > wear.erase_count_max)
			wear.erase_count_max = erases;
	}
	wear.step_erases = wear.erase_count_max / FB_WEAR_STEPS + 1;
	for (i = 0; i < blocks; i++) {
		const struct fb_nand_block *block = fb_nand_block(&m->flash.nand, 0, i);

		if (!(block->flags & FB_BLOCK_BAD))
			wear.blocks_by_step[block->erase_count / wear.step_erases] += m->params.planes;
	}
	return wear;
}

const char *fb_nand_verify(const struct fb_medium *m)
{
	const struct fb_nand_layout *layout = &m->flash.nand.layout;
	u64 blocks = m->params.dies * layout->blocks_per_die;
	u64 programmed_pages = m->flash.nand.journal_pages, erases = m->flash.nand.journal_erases, i;

	for (i = 0; i < blocks; i++) {
		const struct fb_nand_block *block = fb_nand_block(&m->flash.nand, 0, i);

		if (block->programmed_pages > layout->pages_per_block)
			return "a block has more programmed pages than pages";
		if (block->flags & FB_BLOCK_FACTORY_BAD && (block->programmed_pages || block->erase_count))
			return "a block that is bad from the factory was used";
		if (block->flags & FB_BLOCK_SLC && block->programmed_pages > layout->slc_pages_per_block)
			return "a block in SLC mode has more programmed pages than cells";
		programmed_pages += block->programmed_pages + (u64)block->erase_count * layout->pages_per_block;
		erases += block->erase_count;
	}
	if (m->flash.nand.violations)
		return "a page was programmed out of order, or twice without an erase; or a bad block was erased, "
		       "or one in use changed its mode";
	if (erases * m->params.planes != m->counters.flash_erased_blocks)
		return "erase counts do not add up to the blocks erased";
	if (programmed_pages < m->counters.flash_programmed_pages)
		return "a page was programmed twice without an erase";
	return NULL;
}
