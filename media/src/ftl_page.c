// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The page-mapped layer: its map, its open blocks, and the placement of pages; garbage collection is in ftl_page_gc.c
 */
#include "ftl_page.h"
#include "nand_health.h"

/* Dynamic wear levelling takes the least erased of this many free blocks */
#define FREE_BLOCKS_LOOKED_AT 32

/* A page is hot if it was last written within 1/HOT_PART of the time that writing all pages takes */
#define HOT_PART 4

/* A die keeps its blocks open beside its reserve; the rest must hold the capacity */
u64 fb_page_usable_blocks(const struct fb_params *p, u64 open_blocks)
{
	return fb_health_good_blocks(p) - fb_slc_blocks_per_die(p) - p->gc_reserve_blocks - open_blocks;
}

bool fb_page_check(const struct fb_params *p, u64 open_blocks, struct fb_complaint *complaint)
{
	return fb_check_range(complaint, p, FB_PARAM_open_blocks, p->gc_step_pages || p->gc_idle_blocks ? 2 : 1, 3,
			      "at least 2 with gc_step_pages or gc_idle_blocks") &&
	       fb_check_range(complaint, p, FB_PARAM_gc_reserve_blocks, 1, fb_health_good_blocks(p) - open_blocks - 1,
			      "less than the good blocks of a plane without spare and open ones and one for data") &&
	       fb_slc_check(p, complaint) &&
	       fb_check_range(complaint, p, FB_PARAM_gc_reserve_blocks, fb_health_may_fail(p) ? FB_FREE_TO_FAIL : 1,
			      1 << 20, "at least 4 if programs or erases can fail") &&
	       fb_check_range(complaint, p, FB_PARAM_capacity_bytes, 4096,
			      fb_page_usable_blocks(p, open_blocks) * fb_nand_pages(p) * p->page_bytes * p->dies,
			      "no more than dies * (blocks_per_die - bad and spare ones - planes * (gc_reserve_blocks "
			      "+ open blocks + blocks of the SLC cache)) blocks");
}

static bool check(const struct fb_params *p, struct fb_complaint *complaint)
{
	return fb_page_check(p, p->open_blocks > 2 ? p->open_blocks : 2, complaint);
}

u64 fb_page_data_pages_per_die(const struct fb_params *p)
{
	return fb_div_round_up(fb_div_round_up(p->capacity_bytes, p->page_bytes), p->dies);
}

struct fb_ftl_layout fb_page_layout(const struct fb_params *p, u64 map_pages_per_die, u64 *end_offset)
{
	struct fb_ftl_layout layout = { 0 };

	layout.by_dies = fb_divisor(p->dies);
	layout.blocks_per_die = fb_nand_blocks(p);
	layout.pages_per_block = fb_nand_pages(p);
	layout.slc_blocks_per_die = fb_slc_blocks_per_die(p);
	layout.block_records_per_die = layout.blocks_per_die + 1 + layout.pages_per_block + 1 + 1;
	layout.map_pages_per_die = map_pages_per_die;
	layout.logical_pages_per_die = fb_page_data_pages_per_die(p) + map_pages_per_die;
	layout.physical_pages_per_die = p->blocks_per_die * p->pages_per_block;

	layout.dies_offset = fb_add_table(end_offset, p->dies * sizeof(struct fb_page_die));
	layout.blocks_offset = fb_add_table(end_offset,
					    p->dies * layout.block_records_per_die * sizeof(struct fb_block));
	if (p->gc_policy == FB_GC_COST_BENEFIT || p->open_blocks > 2)
		layout.ages_offset = fb_add_table(end_offset,
						  p->dies * layout.blocks_per_die * sizeof(struct fb_block_age));
	layout.map_offset = fb_add_table(end_offset, p->dies * layout.logical_pages_per_die * sizeof(u32));
	layout.owner_offset = fb_add_table(end_offset, p->dies * layout.physical_pages_per_die * sizeof(u32));
	return layout;
}

static struct fb_ftl_layout layout(const struct fb_params *p, u64 *end_offset)
{
	return fb_page_layout(p, 0, end_offset);
}

static void list_init(struct fb_die_tables *t, u32 head)
{
	t->blocks[head].next = head;
	t->blocks[head].previous = head;
}

void fb_page_init(struct fb_medium *m)
{
	u32 die, i;

	for (die = 0; die < m->params.dies; die++) {
		struct fb_die_tables t = fb_die_tables(m, die);

		for (i = 0; i < FB_OPEN_BLOCKS; i++)
			t.die->open[i] = FB_NO_BLOCK;
		list_init(&t, fb_free_list(&t));
		for (i = 0; i <= t.pages_per_block; i++)
			list_init(&t, fb_full_list(&t, i));
		list_init(&t, fb_slc_list(&t));
		for (i = 0; i < t.block_count; i++) {
			if (fb_bad(&t, i))
				continue;
			fb_list_append(&t, fb_free_list(&t), i);
			t.die->free_blocks++;
		}
		t.die->fewest_valid = t.pages_per_block;
		t.die->victim = FB_NO_BLOCK;
		t.die->folding = FB_NO_BLOCK;
		t.die->random = (m->params.seed + 1) << 16 | die;
	}
}

static void list_as_full(struct fb_die_tables *t, u32 block)
{
	u32 valid = t->blocks[block].valid_pages;

	if (t->ages)
		t->ages[block].changed = t->die->clock;
	fb_list_append(t, fb_full_list(t, valid), block);
	if (valid < t->die->fewest_valid)
		t->die->fewest_valid = valid;
}

/* Invalidates the page's current flash page, if it has one */
static void invalidate(struct fb_die_tables *t, u32 index)
{
	u32 ppn, block;

	if (t->map[index] == FB_UNMAPPED)
		return;
	ppn = t->map[index] - FB_MAPPED;
	block = fb_block_of(t, ppn);
	t->map[index] = FB_UNMAPPED;
	t->owner[ppn] = FB_STALE;
	t->blocks[block].valid_pages--;
	if (fb_full(t, block)) {
		fb_list_remove(t, block);
		list_as_full(t, block);
	}
}

/* Takes the free block with the fewest erases; among equals, the one that waited longest */
static u32 take_free(struct fb_die_tables *t)
{
	u32 head = fb_free_list(t);
	u32 best = t->blocks[head].next;
	u32 block = t->blocks[best].next;
	u32 i;

	for (i = 1; i < FREE_BLOCKS_LOOKED_AT && block != head; i++, block = t->blocks[block].next)
		if (t->nand[block].erase_count < t->nand[best].erase_count)
			best = block;
	fb_list_remove(t, best);
	t->die->free_blocks--;
	return best;
}

static u32 open_block(struct fb_medium *m, u32 die, struct fb_die_tables *t, enum fb_open_block purpose)
{
	u32 *open = &t->die->open[purpose];

	if (*open == FB_NO_BLOCK) {
		*open = take_free(t);
		if (t->ages)
			t->ages[*open].opened = t->die->clock;
		if (m->params.gc_step_pages)
			fb_page_set_pace(m, t);
		if (purpose == FB_OPEN_SLC) {
			fb_nand_begin_slc(m, die, *open);
			t->die->slc_blocks++;
		}
	}
	return *open;
}

/* Closes the open block, which is full */
static void close_block(struct fb_die_tables *t, enum fb_open_block purpose)
{
	u32 block = t->die->open[purpose];

	t->die->open[purpose] = FB_NO_BLOCK;
	if (purpose == FB_OPEN_SLC)
		fb_list_append(t, fb_slc_list(t), block);
	else
		list_as_full(t, block);
}

/* Maps the logical page to the next page of the open block; returns that flash page */
static u32 append(struct fb_medium *m, u32 die, struct fb_die_tables *t, enum fb_open_block purpose, u32 index)
{
	u32 block = t->die->open[purpose];
	struct fb_block *b;
	u32 ppn;

	if (block == FB_NO_BLOCK)
		block = open_block(m, die, t, purpose);
	b = &t->blocks[block];
	ppn = block * t->pages_per_block + b->programmed_pages;
	t->owner[ppn] = index + FB_OWNED;
	t->map[index] = ppn + FB_MAPPED;
	b->valid_pages++;
	b->programmed_pages++;
	if (b->programmed_pages == (purpose == FB_OPEN_SLC ? t->slc_pages_per_block : t->pages_per_block))
		close_block(t, purpose);
	return ppn;
}

/* Retires a block without valid pages */
void fb_page_leave_alone(struct fb_die_tables *t, u32 block)
{
	u32 ppn = block * t->pages_per_block;
	u32 end = ppn + t->pages_per_block;

	for (; ppn < end; ppn++)
		t->owner[ppn] = FB_ERASED;
	t->blocks[block].programmed_pages = 0;
}

/*
 * Spends failing programs until the open block's next page can be programmed; returns the time at which the last
 * failure is known
 */
static u64 fail_programs(struct fb_medium *m, u32 die, struct fb_die_tables *t, enum fb_open_block purpose,
			 u64 ready_ns)
{
	for (;;) {
		u32 block = open_block(m, die, t, purpose);
		u32 ppn = block * t->pages_per_block + t->blocks[block].programmed_pages;

		if (!fb_page_can_fail(t) || !fb_health_program_fails(m, die, ppn))
			return ready_ns;
		ready_ns = fb_array_program(m, die, ppn, FB_NO_PAGE, ready_ns);
		m->counters.program_failures++;
		fb_health_retire(m, die, block);
		t->die->open[purpose] = FB_NO_BLOCK;
		if (purpose == FB_OPEN_SLC)
			t->die->slc_blocks--;
		if (t->blocks[block].valid_pages)
			t->die->failed_blocks++;
		else
			fb_page_leave_alone(t, block);
	}
}

/* True if only collection, folding or the map fills the block, so that its pages may wait for a full program unit */
static bool may_wait(const struct fb_medium *m, const struct fb_die_tables *t, enum fb_open_block open)
{
	return open == FB_OPEN_FOR_GC || (open == FB_OPEN_FOR_HOST && t->slc_blocks) || fb_is_for_map(m, open);
}

u64 fb_page_put(struct fb_medium *m, u32 die, struct fb_die_tables *t, enum fb_open_block purpose, u32 index,
		   u64 ready_ns)
{
	if (m->params.program_fail_ppb)
		ready_ns = fail_programs(m, die, t, purpose, ready_ns);
	m->flash.nand.gathering = m->params.planes > 1 && may_wait(m, t, purpose);
	ready_ns = fb_array_program(m, die, append(m, die, t, purpose, index), (u64)index * m->params.dies + die,
				    ready_ns);
	m->flash.nand.gathering = 0;
	return ready_ns;
}

static void work_while_idle(struct fb_medium *m, u32 die, struct fb_die_tables *t, u64 until_ns)
{
	if (m->params.slc_idle_fold)
		fb_slc_fold_while_idle(m, die, t, until_ns);
	if (m->params.gc_idle_blocks)
		fb_page_gc_while_idle(m, die, t, until_ns);
}

/* Also folds a partly programmed SLC block: nothing written earlier stays in the cache */
u64 fb_page_rest(struct fb_medium *m)
{
	u64 done_ns = m->now_ns;
	u32 die;

	for (die = 0; die < m->params.dies; die++) {
		struct fb_die_tables t = fb_die_tables(m, die);

		if (m->params.slc_idle_fold && t.die->open[FB_OPEN_SLC] != FB_NO_BLOCK)
			close_block(&t, FB_OPEN_SLC);
		work_while_idle(m, die, &t, FB_NEVER);
		done_ns = fb_max(done_ns, fb_array_free_ns(m, die));
	}
	return done_ns;
}

static void pad_row(struct fb_medium *m, u32 die, struct fb_die_tables *t, enum fb_open_block purpose)
{
	u32 block = t->die->open[purpose];
	struct fb_block *b = &t->blocks[block];

	if (block == FB_NO_BLOCK || fb_is_for_map(m, purpose))
		return;
	while (b->programmed_pages % (u32)m->params.planes) {
		u32 ppn = block * t->pages_per_block + b->programmed_pages++;

		t->owner[ppn] = FB_STALE;
		fb_nand_pad(m, die, ppn);
	}
	if (b->programmed_pages == (purpose == FB_OPEN_SLC ? t->slc_pages_per_block : t->pages_per_block))
		close_block(t, purpose);
}

/*
 * Pads the rows of the host's pages. Other rows wait until they are full, because the sources of their pages still
 * exist.
 */
void fb_page_pad(struct fb_medium *m)
{
	u32 die;

	for (die = 0; die < m->params.dies; die++) {
		struct fb_die_tables t = fb_die_tables(m, die);

		pad_row(m, die, &t, t.slc_blocks ? FB_OPEN_SLC : FB_OPEN_FOR_HOST);
		pad_row(m, die, &t, FB_OPEN_FOR_HOT);
	}
}

static u32 *map_entry(const struct fb_medium *m, u64 page)
{
	struct fb_die_page at = fb_die_page(m, page);

	return fb_die_tables(m, at.die).map + at.index;
}

/* The steps fetch the page's map entry; then its flash page and block; then the block's neighbours on its list */
void fb_page_prefetch(const struct fb_medium *m, u64 page, u32 step)
{
	struct fb_die_page at = fb_die_page(m, page);
	struct fb_die_tables t = fb_die_tables(m, at.die);
	const struct fb_block *block;
	u32 ppn;

	if (!step)
		__builtin_prefetch(&t.map[at.index], 1);
	if (!step || t.map[at.index] == FB_UNMAPPED)
		return;
	ppn = t.map[at.index] - FB_MAPPED;
	block = &t.blocks[fb_quotient(t.by_pages_per_block, ppn)];
	if (step == 1) {
		__builtin_prefetch(&t.owner[ppn], 1);
		__builtin_prefetch(block, 1);
	} else if (block->programmed_pages == t.pages_per_block) {
		__builtin_prefetch(&t.blocks[block->next], 1);
		__builtin_prefetch(&t.blocks[block->previous], 1);
	}
}

bool fb_page_mapped(const struct fb_medium *m, u64 page)
{
	return *map_entry(m, page) != FB_UNMAPPED;
}

u64 fb_page_fetch(struct fb_medium *m, u32 die, u32 index, u64 bytes, u64 ready_ns)
{
	struct fb_die_tables t = fb_die_tables(m, die);

	return fb_array_read(m, die, t.map[index] - FB_MAPPED, ready_ns, bytes);
}

u64 fb_page_read(struct fb_medium *m, u64 page, u64 bytes, u64 ready_ns)
{
	struct fb_die_page at = fb_die_page(m, page);
	struct fb_die_tables t = fb_die_tables(m, at.die);

	if (t.map[at.index] == FB_UNMAPPED)
		return ready_ns;
	work_while_idle(m, at.die, &t, m->now_ns);
	return fb_array_read(m, at.die, t.map[at.index] - FB_MAPPED, ready_ns, bytes);
}

static enum fb_open_block open_block_for(const struct fb_medium *m, const struct fb_die_tables *t, u32 index)
{
	u32 block, age;

	if (t->slc_blocks)
		return FB_OPEN_SLC;
	if (m->params.open_blocks < 3 || t->map[index] == FB_UNMAPPED)
		return FB_OPEN_FOR_HOST;
	block = fb_block_of(t, t->map[index] - FB_MAPPED);
	age = t->die->clock - t->ages[block].opened;
	return age < t->logical_pages / HOT_PART ? FB_OPEN_FOR_HOT : FB_OPEN_FOR_HOST;
}

u64 fb_page_program(struct fb_medium *m, u32 die, struct fb_die_tables *t, u32 index, enum fb_open_block open,
		    u64 ready_ns)
{
	work_while_idle(m, die, t, m->now_ns);
	if (t->die->failed_blocks)
		fb_page_empty_failed(m, die, t, ready_ns);
	if (m->params.gc_step_pages)
		fb_page_keep_up(m, die, t, open, ready_ns);
	if (open == FB_OPEN_SLC)
		ready_ns = fb_slc_make_room(m, die, t, ready_ns);
	else if (t->die->open[open] == FB_NO_BLOCK)
		ready_ns = fb_page_make_room(m, die, t, ready_ns);
	t->die->clock++;
	invalidate(t, index);
	return fb_page_put(m, die, t, open, index, ready_ns);
}

static u64 write(struct fb_medium *m, u64 page, u64 ready_ns)
{
	struct fb_die_page at = fb_die_page(m, page);
	struct fb_die_tables t = fb_die_tables(m, at.die);

	return fb_page_program(m, at.die, &t, at.index, open_block_for(m, &t, at.index), ready_ns);
}

void fb_page_discard(struct fb_medium *m, u64 first, u64 end)
{
	for (; first < end; first++) {
		struct fb_die_page at = fb_die_page(m, first);
		struct fb_die_tables t = fb_die_tables(m, at.die);

		invalidate(&t, at.index);
	}
}

u64 fb_page_at(const struct fb_medium *m, u32 die, u32 ppn)
{
	struct fb_die_tables t = fb_die_tables(m, die);

	return t.owner[ppn] < FB_OWNED ? FB_NO_PAGE : (u64)(t.owner[ppn] - FB_OWNED) * m->params.dies + die;
}

/*
 * The first page of each block tells the block's use, and the spare areas of open blocks tell how far they are
 * programmed. The restart ends with the die that has the most pages in open blocks.
 */
u64 fb_page_scan_pages(const struct fb_medium *m)
{
	u64 max = 0;
	u32 die, i;

	for (die = 0; die < m->params.dies; die++) {
		struct fb_die_tables t = fb_die_tables(m, die);
		u64 open = 0;

		for (i = 0; i < FB_OPEN_BLOCKS; i++)
			if (t.die->open[i] != FB_NO_BLOCK)
				open += i == FB_OPEN_SLC ? t.slc_pages_per_block : t.pages_per_block;
		max = fb_max(max, open);
	}
	return m->flash.ftl.blocks_per_die + max;
}

/* A free block found programmed becomes full, or open if the layer has an open block to spare */
static void restore_block(struct fb_medium *m, struct fb_die_tables *t, u32 block, u32 programmed)
{
	u32 purpose;

	fb_list_remove(t, block);
	t->die->free_blocks--;
	t->blocks[block].programmed_pages = programmed;
	fb_nand_block(&m->flash.nand, 0, block)->programmed_pages = programmed;
	for (purpose = 0; purpose < m->params.open_blocks && programmed < t->pages_per_block; purpose++) {
		if (t->die->open[purpose] != FB_NO_BLOCK)
			continue;
		t->die->open[purpose] = block;
		return;
	}
	t->blocks[block].programmed_pages = t->pages_per_block;
	list_as_full(t, block);
}

void fb_page_restore(struct fb_medium *m, const u32 *pages, const u32 *programmed)
{
	struct fb_die_tables t = fb_die_tables(m, 0);
	u32 block, ppn;

	for (block = 0; block < t.block_count; block++) {
		u32 first = block * t.pages_per_block;

		if (!programmed[block])
			continue;
		for (ppn = first; ppn < first + programmed[block]; ppn++) {
			t.owner[ppn] = pages[ppn] ? pages[ppn] - 1 + FB_OWNED : FB_STALE;
			if (!pages[ppn])
				continue;
			t.map[pages[ppn] - 1] = ppn + FB_MAPPED;
			t.blocks[block].valid_pages++;
		}
		restore_block(m, &t, block, programmed[block]);
	}
}

const struct fb_ftl fb_ftl_page = {
	.check = check,
	.layout = layout,
	.init = fb_page_init,
	.mapped = fb_page_mapped,
	.prefetch = fb_page_prefetch,
	.read = fb_page_read,
	.write = write,
	.discard = fb_page_discard,
	.rest = fb_page_rest,
	.pad = fb_page_pad,
	.page_at = fb_page_at,
	.scan_pages = fb_page_scan_pages,
	.restore = fb_page_restore,
	.verify = fb_page_verify,
};
