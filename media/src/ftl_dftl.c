// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * DFTL: the page-mapped layer for a controller that cannot hold the map. The map is stored on flash in map pages of
 * page_bytes / 4 entries, each on the die whose pages it maps. Map pages are written to an open block of their own and
 * collected like others. The controller caches the most recently used ones. A lookup that misses reads a map page. A
 * dirty map page is written when it is evicted. When collection moves a page, its map entry changes too.
 *
 * Gupta et al. 2009, "DFTL: a flash translation layer employing demand-based selective caching of page-level address
 * mappings", caches single entries; this layer caches whole map pages.
 *
 * With map_update_bytes the controller keeps changed entries separately, as the paper's does: neither a write nor a
 * move needs the cached map page. While a die exceeds its share of changed entries, each page of a request makes it
 * write map pages. It takes those that have changes in turn, as many as it has planes, with all their changes.
 * Collection of a block changes entries all over the map, so all changes since the last write of a map page share its
 * cost.
 *
 * Simplifications: the places of the map pages are always known; with map_update_bytes, so is the fact that a rewritten
 * page is stale, which a controller learns when it reads the map page to change it; the cache survives a power-off.
 * Collection may put more pages into the cache than it holds; the following writes bring it back to its size.
 */
#include "ftl_page.h"

/* The maximum of dirty map pages that one request evicts */
#define MAX_EVICTIONS 8

#define MAX_PLANES 8

/* For the host, for collection, for the map */
#define OPEN_BLOCKS 3

/* A changed entry with its page number */
#define CHANGE_BYTES 8

/*
 * The map pages of all dies, one die after another, then the head of the ring of cached ones, most recently used first
 */
struct fb_cached_map {
	u32 next;
	u32 previous;
	u32 state;		/* of the head: the number of cached map pages */
	u32 changes;		/* with map_update_bytes: entries newer than those on flash */
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

static u64 map_pages_per_die(const struct fb_params *p)
{
	return fb_div_round_up(fb_page_data_pages_per_die(p) * sizeof(u32), p->page_bytes);
}

static bool check(const struct fb_params *p, struct fb_complaint *complaint)
{
	u64 map_pages = map_pages_per_die(p);
	u64 room;

	if (!fb_check_range(complaint, p, FB_PARAM_map_cache_bytes, p->page_bytes, 1ull << 36,
			    "at least a page of the map") ||
	    (p->map_update_bytes &&
	     !fb_check_range(complaint, p, FB_PARAM_map_update_bytes, p->dies * CHANGE_BYTES, 1ull << 36,
			     "0, or at least 8 bytes a die")) ||
	    !fb_page_check(p, OPEN_BLOCKS, complaint))
		return false;
	room = fb_page_usable_blocks(p, OPEN_BLOCKS) * fb_nand_pages(p);
	if (fb_page_data_pages_per_die(p) + map_pages <= room)
		return true;
	return fb_complain(complaint, p, FB_PARAM_capacity_bytes, 4096, (room - map_pages) * p->page_bytes * p->dies,
			   "the map needs room, too");
}

/* A bit for each entry of a map page; pages have at least 512 bytes */
static u64 words_of_page(const struct fb_params *p)
{
	return p->page_bytes / sizeof(u32) / 32;
}

static struct fb_ftl_layout layout(const struct fb_params *p, u64 *end_offset)
{
	struct fb_ftl_layout layout = fb_page_layout(p, map_pages_per_die(p), end_offset);

	layout.cache_pages = p->map_cache_bytes / p->page_bytes;
	layout.cache_offset = fb_add_table(end_offset, (p->dies * layout.map_pages_per_die + 1) *
							       sizeof(struct fb_cached_map));
	if (p->map_update_bytes) {
		layout.max_changes_per_die = p->map_update_bytes / CHANGE_BYTES / p->dies;
		layout.change_words_per_die = layout.map_pages_per_die * words_of_page(p);
		layout.changes_offset = fb_add_table(end_offset, p->dies * layout.change_words_per_die * sizeof(u32));
	}
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

/* The die's logical page that holds a map page; map pages follow the data */
static u32 index_of(const struct fb_medium *m, u32 entry)
{
	return data_pages_per_die(m) + entry % (u32)m->flash.ftl.map_pages_per_die;
}

/* --- entries newer than their map page --- */

static u32 *change_words(const struct fb_medium *m, u32 die, u32 index)
{
	return (u32 *)fb_table(m, m->flash.ftl.changes_offset) + die * m->flash.ftl.change_words_per_die + index / 32;
}

static bool is_changed(const struct fb_medium *m, u32 die, u32 index)
{
	return m->flash.ftl.changes_offset && *change_words(m, die, index) >> index % 32 & 1;
}

static void note_change(struct fb_medium *m, u32 die, u32 index)
{
	u32 map_page = index / (u32)(m->params.page_bytes / sizeof(u32));

	if (is_changed(m, die, index))
		return;
	*change_words(m, die, index) |= 1u << index % 32;
	entries(m)[die * (u32)m->flash.ftl.map_pages_per_die + map_page].changes++;
	fb_die_tables(m, die).die->map_changes++;
}

static void forget_changes(struct fb_medium *m, struct fb_page_die *d, u32 die, u32 map_page)
{
	u32 *words = change_words(m, die, map_page * (u32)(m->params.page_bytes / sizeof(u32)));
	struct fb_cached_map *entry = &entries(m)[die * (u32)m->flash.ftl.map_pages_per_die + map_page];
	u32 i;

	for (i = 0; i < words_of_page(&m->params); i++)
		words[i] = 0;
	d->map_changes -= entry->changes;
	entry->changes = 0;
}

/* Finds the die's next map pages with changes, as many as it has planes; returns their number */
static u32 next_changed(struct fb_medium *m, struct fb_page_die *d, u32 die, u32 *found)
{
	u32 pages = m->flash.ftl.map_pages_per_die;
	const struct fb_cached_map *all = entries(m) + die * pages;
	u32 count = 0;
	u32 i;

	for (i = 0; i < pages && count < m->params.planes; i++) {
		if (all[d->next_map_page].changes)
			found[count++] = d->next_map_page;
		d->next_map_page = d->next_map_page + 1 < pages ? d->next_map_page + 1 : 0;
	}
	return count;
}

/* Reads those that are not cached first */
static void write_changes(struct fb_medium *m, u32 die, u64 ready_ns)
{
	u32 pages = m->flash.ftl.map_pages_per_die;
	struct fb_die_tables t = fb_die_tables(m, die);
	u32 found[MAX_PLANES];
	u32 count = next_changed(m, t.die, die, found);
	u64 read_ns = ready_ns;
	u32 i;

	fb_nand_begin_batch(m);
	for (i = 0; i < count; i++) {
		u32 index = data_pages_per_die(m) + found[i];

		if (entries(m)[die * pages + found[i]].state != NOT_CACHED ||
		    !fb_page_mapped(m, (u64)index * m->params.dies + die))
			continue;
		m->counters.map_read_pages++;
		read_ns = fb_max(read_ns, fb_page_fetch(m, die, index, m->params.page_bytes, ready_ns));
	}
	for (i = 0; i < count; i++) {
		forget_changes(m, t.die, die, found[i]);
		m->counters.map_written_pages++;
		fb_page_program(m, die, &t, data_pages_per_die(m) + found[i], FB_OPEN_FOR_HOT, read_ns);
	}
}

/*
 * Makes the map page of a data page the most recently used one; returns the time at which it is in the controller. It
 * may be called in the middle of a collection, so it must not collect.
 */
static u64 look_up(struct fb_medium *m, u32 die, u32 index, bool change, u64 ready_ns)
{
	u32 map_page = index / (u32)(m->params.page_bytes / sizeof(u32));
	u32 entry = die * (u32)m->flash.ftl.map_pages_per_die + map_page;
	u32 head = head_of(m);
	struct fb_cached_map *all = entries(m);
	bool hit = all[entry].state != NOT_CACHED;

	if (is_changed(m, die, index)) {
		m->counters.map_hits++;
		return ready_ns;
	}
	if (change && m->flash.ftl.changes_offset && !hit) {
		note_change(m, die, index);
		return ready_ns;
	}
	if (hit) {
		take_out(all, entry);
		m->counters.map_hits++;
	} else {
		all[entry].state = CLEAN;
		all[head].state++;
	}
	put_first(all, head, entry);
	if (change && m->flash.ftl.changes_offset)
		note_change(m, die, index);
	else if (change)
		all[entry].state = CHANGED;
	if (hit || !fb_page_mapped(m, (u64)index_of(m, entry) * m->params.dies + die))
		return ready_ns;
	m->counters.map_read_pages++;
	return fb_page_fetch(m, die, index_of(m, entry), m->params.page_bytes, ready_ns);
}

/* Evicts the least recently used map pages until the cache has its size again */
static void evict(struct fb_medium *m, u32 asked_die, u64 ready_ns)
{
	u32 head = head_of(m);
	struct fb_cached_map *all = entries(m);
	u32 evictions = 0;

	while (all[head].state > m->flash.ftl.cache_pages && evictions < MAX_EVICTIONS) {
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
	if (m->flash.ftl.changes_offset &&
	    fb_die_tables(m, asked_die).die->map_changes > m->flash.ftl.max_changes_per_die)
		write_changes(m, asked_die, ready_ns);
}

static void moved(struct fb_medium *m, u32 die, u32 index, u64 ready_ns)
{
	if (index >= data_pages_per_die(m))
		return;
	if (m->flash.ftl.changes_offset)
		note_change(m, die, index);
	else
		look_up(m, die, index, true, ready_ns);
}

static u64 read(struct fb_medium *m, u64 page, u64 bytes, u64 ready_ns)
{
	ready_ns = look_up(m, page % m->params.dies, page / m->params.dies, false, ready_ns);
	evict(m, page % m->params.dies, ready_ns);
	return fb_page_read(m, page, bytes, ready_ns);
}

static u64 write(struct fb_medium *m, u64 page, u64 ready_ns)
{
	struct fb_die_page at = fb_die_page(m, page);
	struct fb_die_tables t;

	ready_ns = look_up(m, page % m->params.dies, page / m->params.dies, true, ready_ns);
	evict(m, page % m->params.dies, ready_ns);
	t = fb_die_tables(m, at.die);
	return fb_page_program(m, at.die, &t, at.index, t.slc_blocks ? FB_OPEN_SLC : FB_OPEN_FOR_HOST, ready_ns);
}

static void discard(struct fb_medium *m, u64 first, u64 end)
{
	u64 page;

	for (page = first; page < end; page++) {
		if (!fb_page_mapped(m, page))
			continue;
		look_up(m, page % m->params.dies, page / m->params.dies, true, m->now_ns);
		fb_page_discard(m, page, page + 1);
		evict(m, page % m->params.dies, m->now_ns);
	}
}

static u32 ones(u32 word)
{
	u32 count = 0;

	for (; word; word &= word - 1)
		count++;
	return count;
}

static const char *verify_changes(const struct fb_medium *m)
{
	u32 map_pages = m->flash.ftl.map_pages_per_die;
	u32 words = words_of_page(&m->params);
	u32 die, page, i;

	for (die = 0; die < m->params.dies; die++) {
		const struct fb_page_die *d = fb_die_tables(m, die).die;
		const u32 *bits = change_words(m, die, 0);
		u32 changes = 0;

		for (page = 0; page < map_pages; page++) {
			u32 of_page = 0;

			for (i = 0; i < words; i++)
				of_page += ones(bits[page * words + i]);
			if (of_page != entries(m)[die * map_pages + page].changes)
				return "a page of the map has other changes than are counted";
			changes += of_page;
		}
		if (changes != d->map_changes || d->next_map_page >= map_pages)
			return "a die has other changes of the map than are counted";
	}
	return NULL;
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
	if (m->flash.ftl.changes_offset && verify_changes(m))
		return verify_changes(m);
	return fb_page_verify(m);
}

const struct fb_ftl fb_ftl_dftl = {
	.check = check,
	.layout = layout,
	.init = init,
	.mapped = fb_page_mapped,
	.prefetch = fb_page_prefetch,
	.read = read,
	.write = write,
	.moved = moved,
	.discard = discard,
	.rest = fb_page_rest,
	.pad = fb_page_pad,
	.page_at = fb_page_at,
	.scan_pages = fb_page_scan_pages,
	.verify = verify,
};
