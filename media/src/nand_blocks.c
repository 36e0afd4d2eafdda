// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Block operations beside reads, programs and erases: SLC mode, and recovery at a restart */
#include "nand.h"
#include "state.h"

void fb_nand_begin_slc(struct fb_medium *m, u32 die, u32 block)
{
	struct fb_nand_block *b = fb_nand_block(&m->flash.nand, die, block);

	if (b->programmed_pages)
		m->flash.nand.violations++;
	b->flags |= FB_BLOCK_SLC;
}

void fb_nand_count_erase(struct fb_medium *m)
{
	m->counters.flash_erased_blocks += m->params.planes;
	m->counters.flash_erase_ns += m->params.erase_ns;
}

void fb_nand_erase_again(struct fb_medium *m, u32 die, u32 block)
{
	fb_nand_block(&m->flash.nand, die, block)->erase_count++;
	fb_nand_count_erase(m);
}

u64 fb_nand_scan(struct fb_medium *m, u64 pages_per_die)
{
	m->counters.flash_read_pages += pages_per_die * m->params.dies;
	m->counters.flash_read_ns += pages_per_die * m->params.dies * m->params.read_ns;
	return pages_per_die * m->params.read_ns;
}
