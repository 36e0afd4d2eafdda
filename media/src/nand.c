// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "arith.h"
#include "state.h"

struct fb_nand_layout fb_nand_layout(const struct fb_params *p, u64 *end_offset)
{
	struct fb_nand_layout layout = { 0 };

	layout.blocks_per_die = p->blocks_per_die;
	layout.pages_per_block = p->pages_per_block;
	layout.dies_offset = fb_add_table(end_offset, p->dies * sizeof(struct fb_die));
	layout.channels_offset = fb_add_table(end_offset, p->channels * sizeof(struct fb_timeline));
	layout.blocks_offset = fb_add_table(end_offset,
					    p->dies * layout.blocks_per_die * sizeof(struct fb_nand_block));
	return layout;
}

static struct fb_die *die_of(const struct fb_medium *m, u32 die)
{
	return (struct fb_die *)fb_table(m, m->flash.nand.layout.dies_offset) + die;
}

static struct fb_timeline *channel_of(struct fb_medium *m, u32 die)
{
	return (struct fb_timeline *)fb_table(m, m->flash.nand.layout.channels_offset) + die % m->params.channels;
}

void fb_nand_power_on(struct fb_medium *m)
{
	u32 i;

	for (i = 0; i < m->params.dies; i++)
		die_of(m, i)->free_ns = 0;
	for (i = 0; i < m->params.channels; i++)
		channel_of(m, i)->count = 0;
}

/* Callers have the die occupied throughout, so a die with a channel of its own need not look for a gap */
static u64 bus_take(struct fb_medium *m, u32 die, u64 ready_ns, u64 bytes)
{
	u64 length_ns = fb_transfer_ns(bytes, m->params.bus_ps_per_byte);

	m->counters.flash_bus_ns += length_ns;
	if (m->params.dies == m->params.channels)
		return ready_ns + length_ns;
	return fb_timeline_take(channel_of(m, die), m->now_ns, ready_ns, length_ns);
}

u64 fb_nand_read(struct fb_medium *m, u32 die, u32 place, u64 ready_ns, u64 transfer_bytes)
{
	u64 *free_ns = &die_of(m, die)->free_ns;
	u64 sensed_ns = fb_later(ready_ns, *free_ns) + m->params.read_ns;

	(void)place;
	m->counters.flash_read_pages++;
	m->counters.flash_read_ns += m->params.read_ns;
	*free_ns = bus_take(m, die, sensed_ns, transfer_bytes);
	return *free_ns;
}

static void keep_rules(struct fb_medium *m, u32 die, u32 place)
{
	u32 pages = m->flash.nand.layout.pages_per_block;
	struct fb_nand_block *block = fb_nand_block(m, die, place / pages);

	if (block->programmed_pages != place % pages)
		m->flash.nand.broken_rules++;
	else
		block->programmed_pages++;
}

u64 fb_nand_program(struct fb_medium *m, u32 die, u32 place, u64 ready_ns)
{
	u64 *free_ns = &die_of(m, die)->free_ns;
	u64 loaded_ns = bus_take(m, die, fb_later(ready_ns, *free_ns), m->params.page_bytes);

	keep_rules(m, die, place);
	m->counters.flash_programmed_pages++;
	m->counters.flash_program_ns += m->params.program_ns;
	*free_ns = loaded_ns + m->params.program_ns;
	return *free_ns;
}

u64 fb_nand_erase(struct fb_medium *m, u32 die, u32 block, u64 ready_ns)
{
	u64 *free_ns = &die_of(m, die)->free_ns;
	struct fb_nand_block *b = fb_nand_block(m, die, block);

	b->programmed_pages = 0;
	b->erase_count++;
	m->counters.flash_erased_blocks++;
	m->counters.flash_erase_ns += m->params.erase_ns;
	*free_ns = fb_later(ready_ns, *free_ns) + m->params.erase_ns;
	return *free_ns;
}

u64 fb_nand_free_ns(const struct fb_medium *m, u32 die)
{
	return die_of(m, die)->free_ns;
}

struct fb_wear fb_nand_wear(const struct fb_medium *m)
{
	struct fb_wear wear = { .erase_count_min = ~(u64)0 };
	u64 i;

	wear.blocks = m->params.dies * m->flash.nand.layout.blocks_per_die;
	for (i = 0; i < wear.blocks; i++) {
		u64 erases = fb_nand_block(m, 0, i)->erase_count;

		wear.erase_count_sum += erases;
		if (erases < wear.erase_count_min)
			wear.erase_count_min = erases;
		if (erases > wear.erase_count_max)
			wear.erase_count_max = erases;
	}
	return wear;
}

const char *fb_nand_verify(const struct fb_medium *m)
{
	const struct fb_nand_layout *layout = &m->flash.nand.layout;
	u64 blocks = m->params.dies * layout->blocks_per_die;
	u64 programmed_pages = 0, erases = 0, i;

	for (i = 0; i < blocks; i++) {
		const struct fb_nand_block *block = fb_nand_block(m, 0, i);

		if (block->programmed_pages > layout->pages_per_block)
			return "a block has more programmed pages than pages";
		programmed_pages += block->programmed_pages + block->erase_count * layout->pages_per_block;
		erases += block->erase_count;
	}
	if (m->flash.nand.broken_rules)
		return "a page was programmed out of order, or twice without an erase";
	if (erases != m->counters.flash_erased_blocks)
		return "erase counts do not add up to the blocks erased";
	if (programmed_pages < m->counters.flash_programmed_pages)
		return "a page was programmed twice without an erase";
	return NULL;
}
