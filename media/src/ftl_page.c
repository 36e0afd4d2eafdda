// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "ftl_page.h"

#define MAX_PLANES 8

/* A die keeps two blocks open beside its reserve; what remains must hold the capacity */
static u64 usable_blocks_per_die(const struct fb_params *p)
{
	return fb_nand_blocks(p) - p->gc_reserve_blocks - FB_OPEN_BLOCKS;
}

static bool check(const struct fb_params *p, struct fb_complaint *complaint)
{
	return fb_check_range(complaint, p, FB_PARAM_gc_reserve_blocks, 1, fb_nand_blocks(p) - FB_OPEN_BLOCKS - 1,
			      "less than the blocks of a plane without two open blocks and one for data") &&
	       fb_check_range(complaint, p, FB_PARAM_capacity_bytes, 4096,
			      usable_blocks_per_die(p) * fb_nand_pages(p) * p->page_bytes * p->dies,
			      "no more than dies * (blocks_per_die - planes * (gc_reserve_blocks + 2)) blocks");
}

static struct fb_ftl_layout layout(const struct fb_params *p, u64 *end_offset)
{
	struct fb_ftl_layout layout = { 0 };

	layout.blocks_per_die = fb_nand_blocks(p);
	layout.pages_per_block = fb_nand_pages(p);
	layout.block_records_per_die = layout.blocks_per_die + 1 + layout.pages_per_block + 1;
	layout.logical_pages_per_die = fb_divide_up(fb_divide_up(p->capacity_bytes, p->page_bytes), p->dies);
	layout.physical_pages_per_die = p->blocks_per_die * p->pages_per_block;

	layout.dies_offset = fb_add_table(end_offset, p->dies * sizeof(struct fb_page_die));
	layout.blocks_offset = fb_add_table(end_offset,
					    p->dies * layout.block_records_per_die * sizeof(struct fb_block));
	layout.map_offset = fb_add_table(end_offset, p->dies * layout.logical_pages_per_die * sizeof(u32));
	layout.owner_offset = fb_add_table(end_offset, p->dies * layout.physical_pages_per_die * sizeof(u32));
	return layout;
}

static void list_init(struct fb_die_tables *t, u32 head)
{
	t->blocks[head].next = head;
	t->blocks[head].previous = head;
}

static void list_append(struct fb_die_tables *t, u32 head, u32 block)
{
	u32 last = t->blocks[head].previous;

	t->blocks[block].next = head;
	t->blocks[block].previous = last;
	t->blocks[last].next = block;
	t->blocks[head].previous = block;
}

static void list_remove(struct fb_die_tables *t, u32 block)
{
	struct fb_block *b = &t->blocks[block];

	t->blocks[b->previous].next = b->next;
	t->blocks[b->next].previous = b->previous;
}

static void init(struct fb_medium *m)
{
	u32 die, i;

	for (die = 0; die < m->params.dies; die++) {
		struct fb_die_tables t = fb_die_tables(m, die);

		for (i = 0; i < FB_OPEN_BLOCKS; i++)
			t.die->open[i] = FB_NO_BLOCK;
		list_init(&t, fb_free_list(&t));
		for (i = 0; i <= t.pages_per_block; i++)
			list_init(&t, fb_full_list(&t, i));
		for (i = 0; i < t.block_count; i++)
			list_append(&t, fb_free_list(&t), i);
		t.die->free_blocks = t.block_count;
		t.die->fewest_valid = t.pages_per_block;
	}
}

static void list_as_full(struct fb_die_tables *t, u32 block)
{
	u32 valid = t->blocks[block].valid_pages;

	list_append(t, fb_full_list(t, valid), block);
	if (valid < t->die->fewest_valid)
		t->die->fewest_valid = valid;
}

/* The page's present place, if it has one, no longer counts */
static void invalidate(struct fb_die_tables *t, u32 index)
{
	u32 place, block;

	if (t->map[index] == FB_UNMAPPED)
		return;
	place = t->map[index] - FB_MAPPED;
	block = place / t->pages_per_block;
	t->map[index] = FB_UNMAPPED;
	t->owner[place] = FB_STALE;
	t->blocks[block].valid_pages--;
	if (t->blocks[block].programmed_pages == t->pages_per_block) {
		list_remove(t, block);
		list_as_full(t, block);
	}
}

/* The next page of the open block becomes the page's place, which is returned */
static u32 append(struct fb_die_tables *t, enum fb_open_block purpose, u32 index)
{
	u32 *open = &t->die->open[purpose];
	struct fb_block *b;
	u32 place;

	if (*open == FB_NO_BLOCK) {
		*open = t->blocks[fb_free_list(t)].next;
		list_remove(t, *open);
		t->die->free_blocks--;
	}
	b = &t->blocks[*open];
	place = *open * t->pages_per_block + b->programmed_pages;
	t->owner[place] = index + FB_OWNED;
	t->map[index] = place + FB_MAPPED;
	b->valid_pages++;
	b->programmed_pages++;
	if (b->programmed_pages == t->pages_per_block) {
		list_as_full(t, *open);
		*open = FB_NO_BLOCK;
	}
	return place;
}

/* The full block with the fewest valid pages; none if all are valid throughout */
static u32 take_victim(struct fb_die_tables *t)
{
	u32 *valid = &t->die->fewest_valid;
	u32 head, block;

	for (; *valid < t->pages_per_block; ++*valid) {
		head = fb_full_list(t, *valid);
		block = t->blocks[head].next;
		if (block != head) {
			list_remove(t, block);
			return block;
		}
	}
	return FB_NO_BLOCK;
}

/* Reads and programs as many pages at a time as the die has planes, so that they can join */
static void move_some(struct fb_medium *m, u32 die, struct fb_die_tables *t, const u32 *places, u32 count, u64 ready_ns)
{
	u32 i;

	fb_nand_begin_batch(m);
	for (i = 0; i < count; i++)
		fb_nand_read(m, die, places[i], ready_ns, m->params.page_bytes);
	for (i = 0; i < count; i++) {
		u32 index = t->owner[places[i]] - FB_OWNED;

		fb_nand_program(m, die, append(t, FB_OPEN_FOR_COLLECTION, index), ready_ns);
		t->owner[places[i]] = FB_STALE;
		t->blocks[places[i] / t->pages_per_block].valid_pages--;
		m->counters.collection_moved_pages++;
	}
}

static void move_valid_pages(struct fb_medium *m, u32 die, struct fb_die_tables *t, u32 block, u64 ready_ns)
{
	u32 place = block * t->pages_per_block;
	u32 end = place + t->pages_per_block;
	u32 places[MAX_PLANES];
	u32 count = 0;

	for (; t->blocks[block].valid_pages && place < end; place++) {
		if (t->owner[place] < FB_OWNED)
			continue;
		places[count++] = place;
		if (count < m->params.planes && count < t->blocks[block].valid_pages)
			continue;
		move_some(m, die, t, places, count, ready_ns);
		count = 0;
	}
}

static void erase(struct fb_medium *m, u32 die, struct fb_die_tables *t, u32 block, u64 ready_ns)
{
	u32 place = block * t->pages_per_block;
	u32 end = place + t->pages_per_block;

	for (; place < end; place++)
		t->owner[place] = FB_ERASED;
	t->blocks[block].programmed_pages = 0;
	fb_nand_erase(m, die, block, ready_ns);
	list_append(t, fb_free_list(t), block);
	t->die->free_blocks++;
}

/* A block's moves take at most one free block and give one back, so one in reserve is enough */
static bool collect(struct fb_medium *m, u32 die, struct fb_die_tables *t, u64 ready_ns)
{
	u32 block = take_victim(t);

	if (block == FB_NO_BLOCK)
		return false;
	m->counters.collections++;
	move_valid_pages(m, die, t, block, ready_ns);
	erase(m, die, t, block, ready_ns);
	return true;
}

static u64 make_room(struct fb_medium *m, u32 die, struct fb_die_tables *t, u64 ready_ns)
{
	bool collected = false;
	u64 begin_ns = fb_later(ready_ns, fb_nand_free_ns(m, die));

	while (t->die->free_blocks <= m->params.gc_reserve_blocks && collect(m, die, t, ready_ns))
		collected = true;
	if (!collected)
		return ready_ns;
	m->counters.collection_ns += fb_nand_free_ns(m, die) - begin_ns;
	return fb_nand_free_ns(m, die);
}

static u32 *map_entry(const struct fb_medium *m, u64 page)
{
	struct fb_die_tables t = fb_die_tables(m, page % m->params.dies);

	return &t.map[page / m->params.dies];
}

static bool mapped(const struct fb_medium *m, u64 page)
{
	return *map_entry(m, page) != FB_UNMAPPED;
}

static u64 read(struct fb_medium *m, u64 page, u64 bytes, u64 ready_ns)
{
	u32 entry = *map_entry(m, page);

	if (entry == FB_UNMAPPED)
		return ready_ns;
	return fb_nand_read(m, page % m->params.dies, entry - FB_MAPPED, ready_ns, bytes);
}

/* Collects first if the die is short of blocks */
static u64 write(struct fb_medium *m, u64 page, u64 ready_ns)
{
	u32 die = page % m->params.dies;
	u32 index = page / m->params.dies;
	struct fb_die_tables t = fb_die_tables(m, die);

	if (t.die->open[FB_OPEN_FOR_HOST] == FB_NO_BLOCK)
		ready_ns = make_room(m, die, &t, ready_ns);
	invalidate(&t, index);
	return fb_nand_program(m, die, append(&t, FB_OPEN_FOR_HOST, index), ready_ns);
}

static void discard(struct fb_medium *m, u64 first, u64 end)
{
	for (; first < end; first++) {
		struct fb_die_tables t = fb_die_tables(m, first % m->params.dies);

		invalidate(&t, first / m->params.dies);
	}
}

static u64 page_at(const struct fb_medium *m, u32 die, u32 place)
{
	struct fb_die_tables t = fb_die_tables(m, die);

	return t.owner[place] < FB_OWNED ? FB_NO_PAGE : (u64)(t.owner[place] - FB_OWNED) * m->params.dies + die;
}

/* The first page of each block says what the block is, the spare areas of open blocks how far they are programmed */
static u64 scan_pages(const struct fb_medium *m)
{
	return m->flash.ftl.blocks_per_die + FB_OPEN_BLOCKS * m->flash.ftl.pages_per_block;
}

const struct fb_ftl fb_ftl_page = {
	.check = check,
	.layout = layout,
	.init = init,
	.mapped = mapped,
	.read = read,
	.write = write,
	.discard = discard,
	.page_at = page_at,
	.scan_pages = scan_pages,
	.verify = fb_page_verify,
};
