// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A flash device's reaction to NAND faults: the reserve, bad blocks and read retries */
#include "nand_health.h"
#include "arith.h"
#include "check.h"
#include "nand_faults.h"
#include "state.h"

/* The layer's blocks left in a die's reserve */
static u32 *reserve_of(const struct fb_medium *m, u32 die)
{
	return (u32 *)fb_table(m, m->flash.nand.layout.reserves_offset) + die;
}

u64 fb_health_bad_blocks(const struct fb_params *p)
{
	return fb_div_round_up(p->factory_bad_blocks, p->planes);
}

u64 fb_health_spare_blocks(const struct fb_params *p)
{
	return fb_div_round_up(p->spare_blocks, p->planes);
}

u64 fb_health_good_blocks(const struct fb_params *p)
{
	return fb_nand_blocks(p) - fb_health_bad_blocks(p) - fb_health_spare_blocks(p);
}

/* At least four good blocks must remain, as on the smallest possible die */
bool fb_health_check(const struct fb_params *p, struct fb_complaint *complaint)
{
	u64 max = (fb_nand_blocks(p) - 4) * p->planes;

	return fb_check_range(complaint, p, FB_PARAM_factory_bad_blocks, 0, max,
			      "four blocks of a plane must be good") &&
	       fb_check_range(complaint, p, FB_PARAM_spare_blocks, fb_health_may_fail(p),
			      max - fb_health_bad_blocks(p) * p->planes,
			      "at least 1 if programs or erases can fail; "
			      "four blocks of a plane must remain beside spare and bad ones");
}

u64 fb_health_layout(const struct fb_params *p, u64 *end_offset)
{
	return fb_add_table(end_offset, p->dies * sizeof(u32));
}

void fb_health_init(struct fb_medium *m)
{
	const struct fb_nand *nand = &m->flash.nand;
	u32 die;

	for (die = 0; die < m->params.dies; die++) {
		fb_faults_ship(&m->params, die, fb_nand_block(nand, die, 0), nand->layout.blocks_per_die,
			       fb_health_bad_blocks(&m->params));
		*reserve_of(m, die) = fb_health_spare_blocks(&m->params);
	}
}

bool fb_health_program_fails(const struct fb_medium *m, u32 die, u32 ppn)
{
	struct fb_fault_spot spot = { die, ppn, fb_nand_block_of(&m->flash.nand, die, ppn)->erase_count };

	return !m->flash.nand.worn_out && fb_faults_program_fails(&m->params, &spot);
}

bool fb_health_erase_fails(const struct fb_medium *m, u32 die, u32 block)
{
	struct fb_fault_spot spot = { die, block, fb_nand_block(&m->flash.nand, die, block)->erase_count };

	return !m->flash.nand.worn_out && fb_faults_erase_fails(&m->params, &spot);
}

void fb_health_retire(struct fb_medium *m, u32 die, u32 block)
{
	fb_nand_block(&m->flash.nand, die, block)->flags |= FB_BLOCK_GROWN_BAD;
	if (!--*reserve_of(m, die))
		m->flash.nand.worn_out = 1;
}

static u32 block_of(const struct fb_medium *m, u32 ppn)
{
	return fb_quotient(&m->flash.nand.layout.by_pages_per_block, ppn);
}

static u64 age_hours(const struct fb_medium *m)
{
	return fb_age_ns(m) / FB_HOUR_NS;
}

u32 fb_health_read(struct fb_medium *m, u32 die, u32 ppn)
{
	u32 block = block_of(m, ppn);
	struct fb_nand_past *past = fb_nand_past(&m->flash.nand, die, block);
	struct fb_fault_spot spot = { die, ppn, fb_nand_block(&m->flash.nand, die, block)->erase_count };
	struct fb_faulty_read read = fb_faults_read(&m->params, &spot, past, age_hours(m));

	if (m->params.read_bit_error_ppt)
		past->reads++;
	m->flash.nand.read_failed = read.uncorrectable;
	m->counters.uncorrectable_pages += read.uncorrectable;
	m->counters.corrected_bits += read.corrected_bits;
	m->counters.flash_read_retries += read.retries;
	return read.retries;
}

void fb_health_date_block(struct fb_medium *m, u32 die, u32 ppn)
{
	fb_nand_past(&m->flash.nand, die, block_of(m, ppn))->programmed_hours = age_hours(m);
}

void fb_health_forget_reads(struct fb_medium *m, u32 die, u32 block)
{
	fb_nand_past(&m->flash.nand, die, block)->reads = 0;
}

bool fb_health_read_only(const struct fb_medium *m)
{
	return m->flash.nand.worn_out;
}

const char *fb_health_verify(const struct fb_medium *m)
{
	u64 spare = fb_health_spare_blocks(&m->params);
	u64 bad = fb_health_bad_blocks(&m->params);
	bool worn_out = false;
	u32 die, i;

	for (die = 0; die < m->params.dies; die++) {
		u64 grown = 0, shipped = 0;

		for (i = 0; i < m->flash.nand.layout.blocks_per_die; i++) {
			u32 flags = fb_nand_block(&m->flash.nand, die, i)->flags;

			if ((flags & FB_BLOCK_BAD) == FB_BLOCK_BAD)
				return "a block went bad that was bad from the factory";
			shipped += !!(flags & FB_BLOCK_FACTORY_BAD);
			grown += !!(flags & FB_BLOCK_GROWN_BAD);
		}
		if (shipped != bad)
			return "a die has more or fewer bad blocks from the factory than it was made with";
		if (grown > spare || *reserve_of(m, die) != spare - grown)
			return "a die's reserve does not fit the blocks that went bad";
		worn_out |= spare && !*reserve_of(m, die);
	}
	if (m->flash.nand.worn_out != worn_out)
		return "the medium is read-only with a reserve, or writable without";
	return NULL;
}
