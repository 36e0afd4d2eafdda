// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "arith.h"
#include "check.h"
#include "state.h"

/* Page numbers within a die are 32 bits wide, and the tables use three values for "none", "erased" and "stale" */
#define MAX_PAGES_PER_DIE 0xfffffffcull

/* A die keeps two blocks open beside its reserve; what remains must hold the capacity */
static u64 usable_blocks_per_die(const struct fb_params *p)
{
	return p->blocks_per_die - p->gc_reserve_blocks - FB_OPEN_BLOCKS;
}

bool fb_flash_check(const struct fb_params *p, struct fb_complaint *complaint)
{
	return fb_check_power_of_two(complaint, p, FB_PARAM_page_bytes) &&
	       fb_check_range(complaint, p, FB_PARAM_page_bytes, p->sector_bytes, 65536,
			      "at least sector_bytes") &&
	       fb_check_range(complaint, p, FB_PARAM_channels, 1, p->dies,
			      "no more than dies") &&
	       fb_check_range(complaint, p, FB_PARAM_blocks_per_die, 4, MAX_PAGES_PER_DIE / p->pages_per_block,
			      "a die has fewer than 2^32 pages") &&
	       fb_check_range(complaint, p, FB_PARAM_gc_reserve_blocks, 1, p->blocks_per_die - FB_OPEN_BLOCKS - 1,
			      "less than blocks_per_die without two open blocks and one for data") &&
	       fb_check_range(complaint, p, FB_PARAM_capacity_bytes, 4096,
			      usable_blocks_per_die(p) * p->pages_per_block * p->page_bytes * p->dies,
			      "no more than dies * (blocks_per_die - gc_reserve_blocks - 2) blocks");
}

static u64 table(u64 *end_offset, u64 bytes)
{
	u64 offset = *end_offset;

	*end_offset = fb_divide_up(offset + bytes, FB_STATE_ALIGN) * FB_STATE_ALIGN;
	return offset;
}

struct fb_flash_layout fb_flash_layout(const struct fb_params *p)
{
	struct fb_flash_layout layout = { 0 };
	u64 end = 0;

	layout.block_records_per_die = p->blocks_per_die + 1 + p->pages_per_block + 1;
	layout.logical_pages_per_die = fb_divide_up(fb_divide_up(p->capacity_bytes, p->page_bytes), p->dies);
	layout.physical_pages_per_die = p->blocks_per_die * p->pages_per_block;

	table(&end, sizeof(struct fb_medium));
	layout.dies_offset = table(&end, p->dies * sizeof(struct fb_die));
	layout.channels_offset = table(&end, p->channels * sizeof(struct fb_timeline));
	layout.blocks_offset = table(&end, p->dies * layout.block_records_per_die * sizeof(struct fb_block));
	layout.map_offset = table(&end, p->dies * layout.logical_pages_per_die * sizeof(u32));
	layout.owner_offset = table(&end, p->dies * layout.physical_pages_per_die * sizeof(u32));
	layout.end_offset = end;
	return layout;
}

static struct fb_timeline *channel_of(struct fb_medium *m, u32 die)
{
	return (struct fb_timeline *)fb_table(m, m->flash.layout.channels_offset) + die % m->params.channels;
}

void fb_flash_init(struct fb_medium *m)
{
	m->flash.layout = fb_flash_layout(&m->params);
	fb_ftl_init(m);
}

bool fb_flash_undamaged(const struct fb_medium *m)
{
	struct fb_flash_layout expected = fb_flash_layout(&m->params);
	const u64 *is = (const u64 *)&m->flash.layout;
	const u64 *should = (const u64 *)&expected;
	u32 i;

	for (i = 0; i < sizeof(expected) / sizeof(u64); i++)
		if (is[i] != should[i])
			return false;
	return true;
}

void fb_flash_power_on(struct fb_medium *m)
{
	u32 i;

	for (i = 0; i < m->params.dies; i++)
		fb_die(m, i)->free_ns = 0;
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

u64 fb_flash_read(struct fb_medium *m, u32 die, u64 ready_ns, u64 transfer_bytes)
{
	u64 *free_ns = &fb_die(m, die)->free_ns;
	u64 sensed_ns = fb_later(ready_ns, *free_ns) + m->params.read_ns;

	m->counters.flash_read_pages++;
	m->counters.flash_read_ns += m->params.read_ns;
	*free_ns = bus_take(m, die, sensed_ns, transfer_bytes);
	return *free_ns;
}

u64 fb_flash_program(struct fb_medium *m, u32 die, u64 ready_ns)
{
	u64 *free_ns = &fb_die(m, die)->free_ns;
	u64 loaded_ns = bus_take(m, die, fb_later(ready_ns, *free_ns), m->params.page_bytes);

	m->counters.flash_programmed_pages++;
	m->counters.flash_program_ns += m->params.program_ns;
	*free_ns = loaded_ns + m->params.program_ns;
	return *free_ns;
}

u64 fb_flash_erase(struct fb_medium *m, u32 die, u64 ready_ns)
{
	u64 *free_ns = &fb_die(m, die)->free_ns;

	m->counters.flash_erased_blocks++;
	m->counters.flash_erase_ns += m->params.erase_ns;
	*free_ns = fb_later(ready_ns, *free_ns) + m->params.erase_ns;
	return *free_ns;
}

static u32 die_of(const struct fb_medium *m, u64 page)
{
	return page % m->params.dies;
}

/* A page that was never written has nothing on flash: controller and link only */
static u64 read_page(struct fb_medium *m, u64 page, u64 bytes, u64 command_done_ns)
{
	u64 ready_ns = command_done_ns;

	if (fb_ftl_mapped(m, page))
		ready_ns = fb_flash_read(m, die_of(m, page), command_done_ns, bytes);
	return fb_link_take(m, ready_ns, bytes);
}

/*
 * The old content that a part-page write needs can be fetched while the new content is still on the link. The program
 * waits for both: it is on the same die.
 */
static u64 write_page(struct fb_medium *m, u64 page, u64 bytes, u64 command_done_ns)
{
	u64 arrived_ns = fb_link_take(m, command_done_ns, bytes);

	if (bytes < m->params.page_bytes && fb_ftl_mapped(m, page)) {
		fb_flash_read(m, die_of(m, page), command_done_ns, m->params.page_bytes - bytes);
		m->counters.flash_modified_pages++;
	}
	return fb_ftl_write(m, page, arrived_ns);
}

/* Pages that are not covered whole stay mapped */
static void discard(struct fb_medium *m, const struct fb_request *request)
{
	u64 page = fb_divide_up(request->offset_bytes, m->params.page_bytes);
	u64 end = (request->offset_bytes + request->length_bytes) / m->params.page_bytes;

	for (; page < end; page++)
		fb_ftl_discard(m, page);
}

u64 fb_flash_submit(struct fb_medium *m, const struct fb_request *request, u64 command_done_ns)
{
	u64 page_bytes = m->params.page_bytes;
	u64 page = request->offset_bytes / page_bytes;
	u64 skip = request->offset_bytes % page_bytes;
	u64 left = request->length_bytes;
	u64 done_ns = command_done_ns;

	if (request->op == FB_DISCARD) {
		discard(m, request);
		return command_done_ns;
	}
	while (left) {
		u64 bytes = left < page_bytes - skip ? left : page_bytes - skip;
		u64 page_done_ns = request->op == FB_READ ? read_page(m, page, bytes, command_done_ns) :
							    write_page(m, page, bytes, command_done_ns);

		done_ns = fb_later(done_ns, page_done_ns);
		left -= bytes;
		skip = 0;
		page++;
	}
	return done_ns;
}
