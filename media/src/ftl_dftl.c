// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * DFTL: the page-mapped layer for a controller that cannot hold the map. The map lies on flash, in pages of page_bytes / 4
 * entries each on the die whose pages it maps; they are written to an open block of their own and collected like others.
 * The controller keeps those used last. A lookup that misses reads a page of the map; a page of the map that was changed is
 * written when it has to make way, and when collection moves a page, its entry changes too.
 *
 * Gupta et al. 2009, "DFTL: a flash translation layer employing demand-based selective caching of page-level address
 * mappings", which caches single entries; this layer caches whole pages of the map.
 *
 * Simplifications: where the pages of the map lie is always known; the cache survives when the power is turned off.
 * Collection may put more pages into the cache than it holds; the writes that follow bring it back to its size.
 */
#include "ftl_page.h"
#include "nand_health.h"

/* Pages of the map that a request at most writes to make way */
#define MOST_EVICTIONS 8

/* The pages of the map, all dies' one after another, then the head of the ring of cached ones, used last first */
struct fb_cached_map {
	u32 next;
	u32 previous;
	u32 state;		/* of the head: how many are cached */
};

enum { NOT_CACHED, CLEAN, CHANGED };

static struct fb_cached_map *entries(const struct fb_medium *m)
{
	return fb_table(m, m->flash.ftl.cache_offset);
}

static u32 head_of(const struct fb_medium *m)
{
	return m->params.dies * m->flash.ftl.map_pages_per_die;
}

static bool check(const struct fb_params *p, struct fb_complaint *complaint)
{
	u64 data_pages = fb_divide_up(fb_divide_up(p->capacity_bytes, p->page_bytes), p->dies);
	u64 map_pages = fb_divide_up(data_pages * sizeof(u32), p->page_bytes);
	u64 room;

	if (!fb_check_range(complaint, p, FB_PARAM_map_cache_bytes, p->page_bytes, 1ull << 36,
			    "at least a page of the map") ||
	    !fb_page_check(p, complaint))
		return false;
	room = (fb_health_good_blocks(p) - fb_slc_blocks_per_die(p) - p->gc_reserve_blocks - 3) * fb_nand_pages(p);
	if (data_pages + map_pages <= room)
		return true;
	return fb_complain(complaint, p, FB_PARAM_capacity_bytes, 4096, (room - map_pages) * p->page_bytes * p->dies,
			   "the map needs room, too");
}

static struct fb_ftl_layout layout(const struct fb_params *p, u64 *end_offset)
{
	struct fb_ftl_layout layout = fb_page_layout(p, end_offset);

	layout.cache_pages = p->map_cache_bytes / p->page_bytes;
	layout.cache_offset = fb_add_table(end_offset, (p->dies * layout.map_pages_per_die + 1) *
							       sizeof(struct fb_cached_map));
	return layout;
}

static void init(struct fb_medium *m)
{
	u32 head = head_of(m);

	fb_page_init(m);
	entries(m)[head].next = head;
	entries(m)[head].previous = head;
}

static void take_out(struct fb_cached_map *all, u32 entry)
{
	all[all[entry].previous].next = all[entry].next;
	all[all[entry].next].previous = all[entry].previous;
}

static void put_first(struct fb_cached_map *all, u32 head, u32 entry)
{
	all[entry].next = all[head].next;
	all[entry].previous = head;
	all[all[head].next].previous = entry;
	all[head].next = entry;
}

static u32 data_pages_per_die(const struct fb_medium *m)
{
	return m->flash.ftl.logical_pages_per_die - m->flash.ftl.map_pages_per_die;
}

/* Logical page of the die that holds a page of its map; they come behind the data */
static u32 index_of(const struct fb_medium *m, u32 entry)
{
	return data_pages_per_die(m) + entry % (u32)m->flash.ftl.map_pages_per_die;
}

/*
 * Makes the page of the map that has a data page's entry the one used last; returns when it is in the controller. It may be
 * called in the middle of a collection, so it must not collect.
 */
static u64 look_up(struct fb_medium *m, u32 die, u32 index, bool change, u64 ready_ns)
{
	u32 map_page = index / (u32)(m->params.page_bytes / sizeof(u32));
	u32 entry = die * (u32)m->flash.ftl.map_pages_per_die + map_page;
	u32 head = head_of(m);
	struct fb_cached_map *all = entries(m);
	bool hit = all[entry].state != NOT_CACHED;

	if (hit) {
		take_out(all, entry);
		m->counters.map_hits++;
	} else {
		all[entry].state = CLEAN;
		all[head].state++;
	}
	put_first(all, head, entry);
	if (change)
		all[entry].state = CHANGED;
	if (hit || !fb_page_mapped(m, (u64)index_of(m, entry) * m->params.dies + die))
		return ready_ns;
	m->counters.map_read_pages++;
	return fb_page_fetch(m, die, index_of(m, entry), m->params.page_bytes, ready_ns);
}

/* The pages that were used longest ago make way, until the cache has its size again */
static void make_way(struct fb_medium *m, u64 ready_ns)
{
	u32 head = head_of(m);
	struct fb_cached_map *all = entries(m);
	u32 evictions = 0;

	while (all[head].state > m->flash.ftl.cache_pages && evictions < MOST_EVICTIONS) {
		u32 entry = all[head].previous;
		bool changed = all[entry].state == CHANGED;
		u32 die = entry / (u32)m->flash.ftl.map_pages_per_die;
		struct fb_die_tables t = fb_die_tables(m, die);

		take_out(all, entry);
		all[entry].state = NOT_CACHED;
		all[head].state--;
		if (!changed)
			continue;
		evictions++;
		m->counters.map_written_pages++;
		fb_page_program(m, die, &t, index_of(m, entry), FB_OPEN_FOR_HOT, ready_ns);
	}
}

void fb_map_moved(struct fb_medium *m, u32 die, u32 index, u64 ready_ns)
{
	if (index < data_pages_per_die(m))
		look_up(m, die, index, true, ready_ns);
}

static u64 read(struct fb_medium *m, u64 page, u64 bytes, u64 ready_ns)
{
	ready_ns = look_up(m, page % m->params.dies, page / m->params.dies, false, ready_ns);
	make_way(m, ready_ns);
	return fb_page_read(m, page, bytes, ready_ns);
}

static u64 write(struct fb_medium *m, u64 page, u64 ready_ns)
{
	ready_ns = look_up(m, page % m->params.dies, page / m->params.dies, true, ready_ns);
	make_way(m, ready_ns);
	return fb_page_write(m, page, ready_ns);
}

static void discard(struct fb_medium *m, u64 first, u64 end)
{
	u64 page;

	for (page = first; page < end; page++) {
		if (!fb_page_mapped(m, page))
			continue;
		look_up(m, page % m->params.dies, page / m->params.dies, true, m->now_ns);
		fb_page_discard(m, page, page + 1);
		make_way(m, m->now_ns);
	}
}

static const char *verify(const struct fb_medium *m)
{
	const struct fb_cached_map *all = entries(m);
	u32 head = head_of(m);
	u32 entry = all[head].next;
	u32 before = head;
	u32 cached = 0;
	u32 count;

	for (count = 0; entry != head; count++) {
		if (entry > head || count == all[head].state || all[entry].previous != before)
			return "the list of cached pages of the map is torn";
		if (all[entry].state != CLEAN && all[entry].state != CHANGED)
			return "a page of the map is listed that is not cached";
		before = entry;
		entry = all[entry].next;
	}
	for (entry = 0; entry < head; entry++)
		cached += all[entry].state != NOT_CACHED;
	if (count != all[head].state || count != cached || all[head].previous != before)
		return "the count of cached pages of the map is wrong";
	return fb_page_verify(m);
}

const struct fb_ftl fb_ftl_dftl = {
	.check = check,
	.layout = layout,
	.init = init,
	.mapped = fb_page_mapped,
	.expect = fb_page_expect,
	.read = read,
	.write = write,
	.discard = discard,
	.page_at = fb_page_at,
	.scan_pages = fb_page_scan_pages,
	.verify = verify,
};
