// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A raw NAND chip as a kind of medium: its parameters, tables and wear, and whether its state agrees with itself */
#include "chip.h"
#include "arith.h"
#include "check.h"
#include "kind.h"
#include "nand_faults.h"
#include "state.h"

static bool check(const struct fb_params *p, struct fb_complaint *complaint)
{
	u64 bytes = p->page_bytes * p->pages_per_block * p->blocks_per_die;

	return fb_check_power_of_two(complaint, p, FB_PARAM_page_bytes) &&
	       fb_check_range(complaint, p, FB_PARAM_pages_per_block, 2, 0xfffffffe / p->blocks_per_die,
			      "the chip has fewer than 2^32 pages") &&
	       fb_check_range(complaint, p, FB_PARAM_capacity_bytes, bytes, bytes,
			      "page_bytes * pages_per_block * blocks_per_die") &&
	       fb_check_range(complaint, p, FB_PARAM_planes, 1, p->blocks_per_die / 4,
			      "at least four blocks in a plane") &&
	       fb_check_whole(complaint, p, FB_PARAM_blocks_per_die, p->planes, "must be a multiple of planes") &&
	       fb_check_whole(complaint, p, FB_PARAM_bus_bits, 8, "must be 8 or 16") &&
	       fb_check_range(complaint, p, FB_PARAM_factory_bad_blocks, 0, p->blocks_per_die - 4,
			      "four blocks must be good") &&
	       fb_faults_check(p, complaint);
}

static u64 lay_out(const struct fb_params *p, struct fb_chip *chip)
{
	u64 end_offset = fb_common_bytes(p);

	chip->blocks_offset = fb_add_table(&end_offset, p->blocks_per_die * sizeof(struct fb_nand_block));
	chip->pasts_offset = fb_add_table(&end_offset, p->blocks_per_die * sizeof(struct fb_nand_past));
	chip->pages_offset = fb_add_table(&end_offset, fb_chip_pages(p));
	return end_offset;
}

static u64 state_bytes(const struct fb_params *p)
{
	struct fb_chip chip;

	return lay_out(p, &chip);
}

struct fb_nand_block *fb_chip_block(const struct fb_medium *m, u32 block)
{
	return (struct fb_nand_block *)fb_table(m, m->chip.blocks_offset) + block;
}

struct fb_nand_past *fb_chip_past(const struct fb_medium *m, u32 block)
{
	return (struct fb_nand_past *)fb_table(m, m->chip.pasts_offset) + block;
}

u8 *fb_chip_programs(const struct fb_medium *m, u32 page)
{
	return (u8 *)fb_table(m, m->chip.pages_offset) + page;
}

static void init(struct fb_medium *m)
{
	lay_out(&m->params, &m->chip);
	fb_faults_ship(&m->params, 0, fb_chip_block(m, 0), m->params.blocks_per_die, m->params.factory_bad_blocks);
}

static bool undamaged(const struct fb_medium *m)
{
	struct fb_chip expected;

	lay_out(&m->params, &expected);
	return m->chip.blocks_offset == expected.blocks_offset && m->chip.pasts_offset == expected.pasts_offset &&
	       m->chip.pages_offset == expected.pages_offset &&
	       m->chip.queued.planes <= FB_CHIP_PLANES && m->chip.work[0].planes <= FB_CHIP_PLANES &&
	       m->chip.work[1].planes <= FB_CHIP_PLANES;
}

static void power_on(struct fb_medium *m)
{
	struct fb_chip chip = { 0 };

	lay_out(&m->params, &chip);
	m->chip = chip;
}

static struct fb_wear wear_of(const struct fb_medium *m)
{
	struct fb_wear wear = { .erase_count_min = ~(u64)0 };
	u32 i;

	for (i = 0; i < m->params.blocks_per_die; i++) {
		const struct fb_nand_block *block = fb_chip_block(m, i);

		wear.factory_bad_blocks += !!(block->flags & FB_BLOCK_FACTORY_BAD);
		wear.grown_bad_blocks += !!(block->flags & FB_BLOCK_GROWN_BAD);
		if (block->flags & FB_BLOCK_BAD)
			continue;
		wear.blocks++;
		wear.erase_count_sum += block->erase_count;
		wear.erase_count_min = fb_min(wear.erase_count_min, block->erase_count);
		wear.erase_count_max = fb_max(wear.erase_count_max, block->erase_count);
	}
	if (!wear.blocks)
		wear.erase_count_min = 0;
	wear.step_erases = wear.erase_count_max / FB_WEAR_STEPS + 1;
	for (i = 0; i < m->params.blocks_per_die; i++)
		if (!(fb_chip_block(m, i)->flags & FB_BLOCK_BAD))
			wear.blocks_by_step[fb_chip_block(m, i)->erase_count / wear.step_erases]++;
	return wear;
}

static const char *verify(const struct fb_medium *m)
{
	u64 shipped = 0, erases = 0;
	u32 i, row, programmed;

	for (i = 0; i < m->params.blocks_per_die; i++) {
		const struct fb_nand_block *block = fb_chip_block(m, i);

		shipped += !!(block->flags & FB_BLOCK_FACTORY_BAD);
		erases += block->erase_count;
		if (block->programmed_pages > m->params.pages_per_block)
			return "a block has more programmed pages than pages";
		programmed = 0;
		for (row = 0; row < m->params.pages_per_block; row++)
			if (*fb_chip_programs(m, i * (u32)m->params.pages_per_block + row))
				programmed = row + 1;
		if (programmed != block->programmed_pages)
			return "a block's last programmed page is another than it says";
	}
	if (shipped != m->params.factory_bad_blocks)
		return "the chip has more or fewer bad blocks from the factory than it was made with";
	if (erases != m->counters.flash_erased_blocks)
		return "erase counts do not add up to the blocks erased";
	return NULL;
}

static u64 blocks(const struct fb_medium *m)
{
	return m->params.blocks_per_die;
}

static u32 block_erases(const struct fb_medium *m, u64 block)
{
	return fb_chip_block(m, block)->erase_count;
}

/* None of its own: see fb_chip_cut() */
static u64 pending_parts(const struct fb_params *p)
{
	(void)p;
	return 1;
}

const struct fb_kind_ops fb_kind_nand = {
	.check = check,
	.state_bytes = state_bytes,
	.init = init,
	.undamaged = undamaged,
	.verify = verify,
	.power_on = power_on,
	.wear = wear_of,
	.blocks = blocks,
	.block_erases = block_erases,
	.pending_parts = pending_parts,
};
