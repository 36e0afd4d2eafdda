// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What the log-block layers share: groups and the blocks that they are made of, logs, and the three merges.
 *
 * Longer than 500 lines: a program that fails copies a block in the midst of a merge, and a merge reads and writes through the
 * functions that serve the host. Shared logs, verification, BAST and FAST have files of their own.
 */
#include "ftl_log.h"
#include "nand_health.h"

/* Copies read this many pages before they program them, so that several dies work at the same time */
#define COPY_PAGES 16

static u64 pages_per_group(const struct fb_params *p)
{
	return p->dies * p->blocks_per_group * fb_nand_pages(p);
}

static u64 groups(const struct fb_params *p)
{
	return fb_health_good_blocks(p) / p->blocks_per_group;
}

/* Groups that are kept free for merges to write to: for one at once, and one in steps */
static u64 free_groups(const struct fb_params *p)
{
	return p->merge_step_pages ? 2 : 1;
}

static bool check_shared(const struct fb_params *p, struct fb_complaint *complaint)
{
	u64 most_shared = p->ftl == FB_FTL_BAST ? p->log_blocks - 1 : 0;
	u64 shared = p->log_blocks - fb_log_first_shared(p);

	return fb_check_range(complaint, p, FB_PARAM_shared_logs, 0, most_shared,
			      "less than log_blocks; with fast 0: all its logs but the first are shared") &&
	       fb_check_range(complaint, p, FB_PARAM_short_write_bytes, 0, p->shared_logs ? 1 << 30 : 0,
			      "0 without shared_logs") &&
	       fb_check_range(complaint, p, FB_PARAM_merge_step_pages, 0, shared > 1 ? 65535 : 0,
			      "0 with fewer than two shared logs: one is emptied while another is filled");
}

bool fb_log_check(const struct fb_params *p, u64 fewest_logs, struct fb_complaint *complaint)
{
	return fb_check_range(complaint, p, FB_PARAM_slc_cache_bytes, 0, 0,
			      "bast and fast have no SLC cache") &&
	       fb_check_range(complaint, p, FB_PARAM_log_blocks, fewest_logs, 256,
			      "at least 1 for bast, 2 for fast") &&
	       check_shared(p, complaint) &&
	       fb_check_range(complaint, p, FB_PARAM_blocks_per_group, 1,
			      fb_health_good_blocks(p) / (p->log_blocks + free_groups(p) + 1),
			      "log_blocks + 2 groups of good blocks fit into a plane, with merge_step_pages one more") &&
	       fb_check_range(complaint, p, FB_PARAM_dies, 1,
			      0x3fffffff / (p->blocks_per_die * p->pages_per_block),
			      "a log-block layer has fewer than 2^30 pages") &&
	       fb_check_range(complaint, p, FB_PARAM_capacity_bytes, 4096,
			      (groups(p) - p->log_blocks - free_groups(p)) * pages_per_group(p) * p->page_bytes,
			      "no more than (blocks_per_die - bad and spare ones) / planes / blocks_per_group - log_blocks - 1 "
			      "groups, with merge_step_pages one less");
}

struct fb_ftl_layout fb_log_layout(const struct fb_params *p, u64 *end_offset)
{
	struct fb_ftl_layout layout = { 0 };

	layout.groups = groups(p);
	layout.pages_per_group = pages_per_group(p);
	layout.logical_groups = fb_divide_up(p->capacity_bytes, layout.pages_per_group * p->page_bytes);

	layout.free_offset = fb_add_table(end_offset, sizeof(struct fb_free_groups));
	layout.groups_offset = fb_add_table(end_offset, layout.groups * sizeof(struct fb_group));
	layout.logs_offset = fb_add_table(end_offset, p->log_blocks * sizeof(struct fb_log));
	layout.map_offset = fb_add_table(end_offset, layout.logical_groups * sizeof(u32));
	layout.latest_offset = fb_add_table(end_offset,
					    layout.logical_groups * layout.pages_per_group * sizeof(u32));
	layout.owner_offset = fb_add_table(end_offset, p->log_blocks * layout.pages_per_group * sizeof(u32));
	layout.known_offset = fb_add_table(end_offset, p->known_groups * sizeof(u32));
	layout.counted_offset = fb_add_table(end_offset,
					     (p->merge_step_pages ? layout.logical_groups : 0) * sizeof(u32));
	layout.layer_blocks_per_die = layout.groups * p->blocks_per_group;
	layout.block_at_offset = fb_add_table(end_offset, p->dies * layout.layer_blocks_per_die * sizeof(u32));
	layout.layer_block_offset = fb_add_table(end_offset, p->dies * fb_nand_blocks(p) * sizeof(u32));
	return layout;
}

static void put_free(struct fb_log_tables *t, u32 group)
{
	t->groups[group].user = FB_GROUP_FREE;
	t->groups[group].next_free = FB_NO_GROUP;
	if (t->free->count++)
		t->groups[t->free->last].next_free = group;
	else
		t->free->first = group;
	t->free->last = group;
}

static u32 take_free(struct fb_log_tables *t, u32 user)
{
	u32 group = t->free->first;

	t->free->first = t->groups[group].next_free;
	t->free->count--;
	t->groups[group].user = user;
	return group;
}

/* --- blocks of groups, and those of the dies --- */

static u32 *block_at(const struct fb_medium *m, u32 die, u32 layer_block)
{
	const struct fb_ftl_layout *layout = &m->flash.ftl;

	return (u32 *)fb_table(m, layout->block_at_offset) + die * (u32)layout->layer_blocks_per_die + layer_block;
}

static u32 *layer_block_of(const struct fb_medium *m, u32 die, u32 block)
{
	return (u32 *)fb_table(m, m->flash.ftl.layer_block_offset) +
	       die * (u32)m->flash.nand.layout.blocks_per_die + block;
}

/* The first good block of the die that is in no group. There is one as long as the die has a reserve. */
static u32 spare_block(const struct fb_medium *m, u32 die)
{
	u32 block = 0;

	while (*layer_block_of(m, die, block) || fb_nand_block(m, die, block)->flags & FB_BLOCK_BAD)
		block++;
	return block;
}

static void put_at(struct fb_medium *m, u32 die, u32 layer_block, u32 block)
{
	*block_at(m, die, layer_block) = block;
	*layer_block_of(m, die, block) = layer_block + FB_IN_GROUP;
}

static void put_blocks(struct fb_medium *m, u32 die)
{
	u32 layer_block = 0;
	u32 block;

	for (block = 0; layer_block < m->flash.ftl.layer_blocks_per_die; block++)
		if (!(fb_nand_block(m, die, block)->flags & FB_BLOCK_BAD))
			put_at(m, die, layer_block++, block);
}

/* Another block takes the place of a bad one */
static void replace(struct fb_medium *m, u32 die, u32 layer_block, u32 by)
{
	*layer_block_of(m, die, *block_at(m, die, layer_block)) = 0;
	put_at(m, die, layer_block, by);
}

void fb_log_init(struct fb_medium *m)
{
	struct fb_log_tables t = fb_log_tables(m);
	u32 i;

	for (i = 0; i < m->params.dies; i++)
		put_blocks(m, i);
	for (i = 0; i < t.group_count; i++)
		put_free(&t, i);
	for (i = 0; i < t.log_count; i++)
		t.logs[i].group = FB_NO_GROUP;
	t.free->newest_log = FB_NO_LOG;
	t.free->emptying_log = FB_NO_LOG;
	t.free->merging = FB_NO_GROUP;
}

/* Where a group's page lies */
struct spot {
	u32 die;
	u32 ppn;
};

static struct spot spot_in(const struct fb_medium *m, u32 group, u32 offset)
{
	u32 dies = m->params.dies;
	u32 pages = m->flash.nand.layout.pages_per_block;
	u32 layer_block = group * (u32)m->params.blocks_per_group + offset / dies / pages;
	u32 die = offset % dies;

	return (struct spot) {
		.die = die,
		.ppn = *block_at(m, die, layer_block) * pages + offset / dies % pages,
	};
}

/* A failed program: its time passes, and its block is bad; returns when that is known */
static u64 fail_program(struct fb_medium *m, const struct spot *at, u64 ready_ns)
{
	ready_ns = fb_array_program(m, at->die, at->ppn, FB_NO_PAGE, ready_ns);
	m->counters.program_failures++;
	m->flash.nand.has_page = 0;
	fb_health_retire(m, at->die, at->ppn / (u32)m->flash.nand.layout.pages_per_block);
	return ready_ns;
}

/* The first pages of a block to the beginning of another; false: it failed, and *ready_ns is when that is known */
static bool copy_block(struct fb_medium *m, u32 die, u32 from, u32 to, u32 pages, u64 *ready_ns)
{
	struct spot at = { die, to };
	u64 done_ns = *ready_ns;

	for (; pages; pages--, from++, at.ppn++) {
		u64 read_ns, page;

		fb_nand_begin_batch(m);
		m->flash.nand.read_failed = 0;
		read_ns = fb_array_read(m, die, from, *ready_ns, m->params.page_bytes);
		page = m->flash.nand.read_failed ? fb_log_page_at(m, die, from) : FB_NO_PAGE;
		if (page != FB_NO_PAGE)
			fb_power_lose(m, page * m->params.page_bytes, m->params.page_bytes);
		if (fb_health_program_fails(m, die, at.ppn)) {
			*ready_ns = fail_program(m, &at, read_ns);
			return false;
		}
		done_ns = fb_array_program(m, die, at.ppn, fb_log_page_at(m, die, from), read_ns);
		m->counters.collection_moved_pages++;
	}
	*ready_ns = done_ns;
	return true;
}

/* Programs that fail, until the next page of the group lies where it will not */
static u64 fail_programs(struct fb_medium *m, u32 group, u32 offset, u64 ready_ns)
{
	u32 pages = m->flash.nand.layout.pages_per_block;
	struct spot to = spot_in(m, group, offset);

	while (fb_health_program_fails(m, to.die, to.ppn)) {
		u32 from = to.ppn / pages;
		u32 layer_block = *layer_block_of(m, to.die, from) - FB_IN_GROUP;
		u32 spare;

		ready_ns = fail_program(m, &to, ready_ns);
		do {
			spare = spare_block(m, to.die);
		} while (!copy_block(m, to.die, from * pages, spare * pages, to.ppn % pages, &ready_ns));
		replace(m, to.die, layer_block, spare);
		to = spot_in(m, group, offset);
	}
	return ready_ns;
}

static u64 program_next(struct fb_medium *m, struct fb_log_tables *t, u32 group, u64 page, u64 ready_ns)
{
	u32 offset = t->groups[group].programmed_pages++;
	struct spot to;

	if (m->params.program_fail_ppb)
		ready_ns = fail_programs(m, group, offset, ready_ns);
	to = spot_in(m, group, offset);
	return fb_array_program(m, to.die, to.ppn, page, ready_ns);
}

static bool in_data(const struct fb_log_tables *t, u32 page)
{
	u32 entry = t->map[page / t->pages_per_group];

	return fb_log_merged(t, page) ||
	       (entry && page % t->pages_per_group < t->groups[entry - FB_MAPPED_GROUP].programmed_pages);
}

static bool holds(const struct fb_log_tables *t, u32 page)
{
	return t->latest[page] || in_data(t, page);
}

bool fb_log_mapped(const struct fb_medium *m, u64 page)
{
	struct fb_log_tables t = fb_log_tables(m);

	return holds(&t, page);
}

/* Of a page that holds something */
static struct spot spot_of(const struct fb_medium *m, const struct fb_log_tables *t, u32 page)
{
	u32 slot;

	if (!t->latest[page] && fb_log_merged(t, page))
		return spot_in(m, t->free->merging_into, page % t->pages_per_group);
	if (!t->latest[page])
		return spot_in(m, t->map[page / t->pages_per_group] - FB_MAPPED_GROUP, page % t->pages_per_group);
	slot = t->latest[page] - FB_IN_LOG;
	return spot_in(m, t->logs[slot / t->pages_per_group].group, slot % t->pages_per_group);
}

void fb_log_power_on(struct fb_medium *m)
{
	struct fb_log_tables t = fb_log_tables(m);
	u32 i;

	for (i = 0; i < m->params.known_groups; i++)
		t.known[i] = 0;
}

/* Puts a logical group in front of those that are known; was it among them? */
static bool use_known(struct fb_medium *m, struct fb_log_tables *t, u32 logical_group)
{
	u32 last = m->params.known_groups - 1;
	u32 at = 0;
	bool found;

	while (at < last && t->known[at] != FB_KNOWN + logical_group)
		at++;
	found = t->known[at] == FB_KNOWN + logical_group;
	for (; at; at--)
		t->known[at] = t->known[at - 1];
	t->known[0] = FB_KNOWN + logical_group;
	return found;
}

/* The spare area of a group's page, which takes no time on the channel */
static u64 look_up(struct fb_medium *m, u32 group, u32 offset, u64 ready_ns)
{
	struct spot at = spot_in(m, group, offset);

	m->counters.map_read_pages++;
	return fb_array_read(m, at.die, at.ppn, ready_ns, 0);
}

u64 fb_log_know(struct fb_medium *m, struct fb_log_tables *t, u32 logical_group, u64 ready_ns)
{
	u32 data = t->map[logical_group];
	u64 known_ns = ready_ns;
	u32 log;

	if (!m->params.known_groups)
		return ready_ns;
	if (use_known(m, t, logical_group)) {
		m->counters.map_hits++;
		return ready_ns;
	}
	if (data)
		known_ns = look_up(m, data - FB_MAPPED_GROUP, 0, ready_ns);
	for (log = 0; log < t->log_count; log++) {
		const struct fb_log *l = &t->logs[log];

		if (l->group != FB_NO_GROUP && l->logical_group == logical_group)
			known_ns = fb_later(known_ns, look_up(m, l->group, t->groups[l->group].programmed_pages - 1,
							      ready_ns));
	}
	return known_ns;
}

u64 fb_log_read(struct fb_medium *m, u64 page, u64 bytes, u64 ready_ns)
{
	struct fb_log_tables t = fb_log_tables(m);
	struct spot from;

	ready_ns = fb_log_know(m, &t, page / t.pages_per_group, ready_ns);
	if (!holds(&t, page))
		return ready_ns;
	from = spot_of(m, &t, page);
	return fb_array_read(m, from.die, from.ppn, ready_ns, bytes);
}

bool fb_log_extends_data(const struct fb_log_tables *t, u32 page)
{
	u32 entry = t->map[page / t->pages_per_group];
	u32 offset = page % t->pages_per_group;

	if (t->latest[page] || t->free->merging == page / t->pages_per_group)
		return false;
	return offset == (entry ? t->groups[entry - FB_MAPPED_GROUP].programmed_pages : 0);
}

u64 fb_log_extend_data(struct fb_medium *m, struct fb_log_tables *t, u32 page, u64 ready_ns)
{
	u32 logical_group = page / t->pages_per_group;
	u32 *entry = &t->map[logical_group];

	if (!*entry)
		*entry = take_free(t, FB_GROUP_DATA + logical_group) + FB_MAPPED_GROUP;
	return program_next(m, t, *entry - FB_MAPPED_GROUP, page, ready_ns);
}

void fb_log_start(struct fb_log_tables *t, u32 log, u32 logical_group)
{
	t->logs[log].group = take_free(t, FB_GROUP_LOG + log);
	t->logs[log].logical_group = logical_group;
	t->logs[log].in_order = 1;
}

bool fb_log_full(const struct fb_log_tables *t, u32 log)
{
	return t->groups[t->logs[log].group].programmed_pages == t->pages_per_group;
}

static void put_in_log(struct fb_log_tables *t, u32 slot, u32 page)
{
	t->owner[slot] = page + FB_LOGGED;
	t->latest[page] = slot + FB_IN_LOG;
}

u64 fb_log_append(struct fb_medium *m, struct fb_log_tables *t, u32 log, u32 page, u64 ready_ns)
{
	struct fb_log *l = &t->logs[log];
	u32 offset = t->groups[l->group].programmed_pages;
	u32 slot = fb_log_slot(t, log, offset);

	if (offset != page % t->pages_per_group)
		l->in_order = 0;
	l->last_use = t->free->uses++;
	put_in_log(t, slot, page);
	return program_next(m, t, l->group, page, ready_ns);
}

/* If it fails, a spare block takes its place */
static u64 erase(struct fb_medium *m, u32 die, u32 layer_block, u64 ready_ns)
{
	u32 block = *block_at(m, die, layer_block);
	bool fails = m->params.erase_fail_ppb && fb_health_erase_fails(m, die, block);

	ready_ns = fb_array_erase(m, die, block, ready_ns);
	if (fails) {
		m->counters.erase_failures++;
		fb_health_retire(m, die, block);
		replace(m, die, layer_block, spare_block(m, die));
	}
	return ready_ns;
}

/* Erases the blocks of a group that have something on them; returns when all are erased */
static u64 release(struct fb_medium *m, struct fb_log_tables *t, u32 group, u64 ready_ns)
{
	u32 first = group * m->params.blocks_per_group;
	u64 done_ns = ready_ns;
	u32 die, i;

	for (die = 0; die < m->params.dies; die++)
		for (i = first; i < first + m->params.blocks_per_group; i++)
			if (fb_nand_block(m, die, *block_at(m, die, i))->programmed_pages)
				done_ns = fb_later(done_ns, erase(m, die, i, ready_ns));
	t->groups[group].programmed_pages = 0;
	put_free(t, group);
	return done_ns;
}

static void forget_owners(struct fb_log_tables *t, u32 log)
{
	u32 slot = fb_log_slot(t, log, 0);
	u32 end = slot + t->pages_per_group;

	for (; slot < end; slot++)
		t->owner[slot] = 0;
	t->logs[log].group = FB_NO_GROUP;
	if (t->free->closing == FB_CLOSING + log)
		t->free->closing = 0;
}

u64 fb_log_drop(struct fb_medium *m, struct fb_log_tables *t, u32 log, u64 ready_ns)
{
	u32 group = t->logs[log].group;

	forget_owners(t, log);
	return release(m, t, group, ready_ns);
}

/* Offset behind the last page of a logical group that holds something */
static u32 end_of(const struct fb_log_tables *t, u32 logical_group)
{
	u32 first = logical_group * t->pages_per_group;
	u32 end = t->pages_per_group;

	while (end && !holds(t, first + end - 1))
		end--;
	return end;
}

/* Whether the page goes to the plane that it comes from, so that it need not leave it */
static bool stays_in_plane(const struct fb_medium *m, const struct fb_log_tables *t, u32 page, u32 to_group)
{
	u32 planes = m->params.planes;
	struct spot from, to;

	if (!m->params.copy_back)
		return false;
	from = spot_of(m, t, page);
	to = spot_in(m, to_group, page % t->pages_per_group);
	return from.die == to.die && from.ppn % planes == to.ppn % planes;
}

/* The log that lies in a group */
static u32 log_in(const struct fb_log_tables *t, u32 group)
{
	u32 user = t->groups[group].user;

	return user >= FB_GROUP_DATA ? FB_NO_LOG : user - FB_GROUP_LOG;
}

/* Copies a few pages of a logical group to the end of a group that has all before them */
static u64 copy_some(struct fb_medium *m, struct fb_log_tables *t, u32 to_group, u32 page, u32 count, u64 ready_ns)
{
	u64 read_ns[COPY_PAGES];
	u64 stays[COPY_PAGES] = { 0 };
	u64 done_ns = ready_ns;
	u32 log = log_in(t, to_group);
	u32 i;

	fb_nand_begin_batch(m);
	for (i = 0; i < count; i++) {
		read_ns[i] = ready_ns;
		if (!holds(t, page + i))
			continue;
		m->flash.nand.read_failed = 0;
		stays[i] = stays_in_plane(m, t, page + i, to_group);
		read_ns[i] = fb_log_read(m, page + i, stays[i] ? 0 : m->params.page_bytes, ready_ns);
		if (m->flash.nand.read_failed)
			fb_power_lose(m, (u64)(page + i) * m->params.page_bytes, m->params.page_bytes);
		m->counters.collection_moved_pages++;
	}
	for (i = 0; i < count; i++) {
		m->flash.nand.has_page = stays[i];
		done_ns = fb_later(done_ns, program_next(m, t, to_group, holds(t, page + i) ? page + i : FB_NO_PAGE,
							 read_ns[i]));
		if (t->free->merging == page / t->pages_per_group)
			t->latest[page + i] = 0;
		if (log != FB_NO_LOG)
			put_in_log(t, fb_log_slot(t, log, (page + i) % t->pages_per_group), page + i);
	}
	m->flash.nand.has_page = 0;
	return done_ns;
}

static u64 copy(struct fb_medium *m, struct fb_log_tables *t, u32 logical_group, u32 to_group, u32 end, u64 ready_ns)
{
	u32 first = logical_group * t->pages_per_group;
	u32 offset = t->groups[to_group].programmed_pages;
	u64 done_ns = ready_ns;

	while (offset < end) {
		u32 count = fb_smaller(COPY_PAGES, end - offset);

		done_ns = fb_later(done_ns, copy_some(m, t, to_group, first + offset, count, ready_ns));
		offset += count;
	}
	return done_ns;
}

/* The group has the newest of all pages and becomes the data group; the old one is erased */
static u64 become_data(struct fb_medium *m, struct fb_log_tables *t, u32 logical_group, u32 group, u64 ready_ns)
{
	u32 old = t->map[logical_group];

	t->groups[group].user = FB_GROUP_DATA + logical_group;
	t->map[logical_group] = group + FB_MAPPED_GROUP;
	return old ? release(m, t, old - FB_MAPPED_GROUP, ready_ns) : ready_ns;
}

static void forget_logged(struct fb_log_tables *t, u32 logical_group)
{
	u32 page = logical_group * t->pages_per_group;
	u32 end = page + t->pages_per_group;

	for (; page < end; page++)
		t->latest[page] = 0;
}

static u64 held_up(struct fb_medium *m, u64 begin_ns, u64 end_ns)
{
	m->counters.collection_ns += end_ns - begin_ns;
	return end_ns;
}

u64 fb_log_merge_full(struct fb_medium *m, struct fb_log_tables *t, u32 logical_group, u64 ready_ns)
{
	u64 begin_ns = fb_log_end_merge(m, t, logical_group, ready_ns);
	u32 to_group = take_free(t, FB_GROUP_DATA + logical_group);
	u64 done_ns = copy(m, t, logical_group, to_group, end_of(t, logical_group), begin_ns);

	m->counters.full_merges++;
	forget_logged(t, logical_group);
	return held_up(m, begin_ns, become_data(m, t, logical_group, to_group, done_ns));
}

void fb_log_begin_merge(struct fb_log_tables *t, u32 logical_group)
{
	t->free->merging_into = take_free(t, FB_GROUP_DATA + logical_group);
	t->free->merging = logical_group;
}

u64 fb_log_go_on_merging(struct fb_medium *m, struct fb_log_tables *t, u32 *pages, u64 ready_ns)
{
	u32 logical_group = t->free->merging;
	u32 to_group = t->free->merging_into;
	u32 end = end_of(t, logical_group);
	u32 left = end - t->groups[to_group].programmed_pages;
	u32 copied = fb_smaller(*pages, left);
	u64 done_ns = copy(m, t, logical_group, to_group, end - left + copied, ready_ns);

	*pages -= copied;
	if (copied < left)
		return held_up(m, ready_ns, done_ns);
	m->counters.full_merges++;
	t->free->merging = FB_NO_GROUP;
	return held_up(m, ready_ns, become_data(m, t, logical_group, to_group, done_ns));
}

u64 fb_log_end_merge(struct fb_medium *m, struct fb_log_tables *t, u32 logical_group, u64 ready_ns)
{
	u32 all = t->pages_per_group;

	return t->free->merging == logical_group ? fb_log_go_on_merging(m, t, &all, ready_ns) : ready_ns;
}

/* The log's own pages are at their offsets, unless a newer one is in another log; the rest is copied behind them */
static u64 complete_log(struct fb_medium *m, struct fb_log_tables *t, u32 log, u64 ready_ns)
{
	u32 logical_group = t->logs[log].logical_group;
	u32 first = logical_group * t->pages_per_group;
	u32 group = t->logs[log].group;
	u32 logged = t->groups[group].programmed_pages;
	u32 end = end_of(t, logical_group);
	u32 offset;

	if (end > logged || t->free->closing == FB_CLOSING + log)
		m->counters.partial_merges++;
	else
		m->counters.switch_merges++;
	ready_ns = copy(m, t, logical_group, group, end, ready_ns);
	for (offset = 0; offset < t->pages_per_group; offset++) {
		u32 *latest = &t->latest[first + offset];

		if (offset >= logged || *latest == fb_log_slot(t, log, offset) + FB_IN_LOG)
			*latest = 0;
	}
	forget_owners(t, log);
	return become_data(m, t, logical_group, group, ready_ns);
}

bool fb_log_complete(const struct fb_log_tables *t, u32 log)
{
	return t->groups[t->logs[log].group].programmed_pages >= end_of(t, t->logs[log].logical_group);
}

u64 fb_log_close_some(struct fb_medium *m, struct fb_log_tables *t, u32 log, u32 *pages, u64 ready_ns)
{
	u32 logical_group = t->logs[log].logical_group;
	u32 group = t->logs[log].group;
	u32 logged = t->groups[group].programmed_pages;
	u32 end = fb_later(end_of(t, logical_group), logged);
	u32 copied = fb_smaller(*pages, end - logged);
	u64 done_ns = copy(m, t, logical_group, group, logged + copied, ready_ns);

	t->free->closing = FB_CLOSING + log;
	*pages -= copied;
	if (logged + copied == end)
		done_ns = complete_log(m, t, log, done_ns);
	return held_up(m, ready_ns, done_ns);
}

u64 fb_log_merge(struct fb_medium *m, struct fb_log_tables *t, u32 log, u64 ready_ns)
{
	if (t->logs[log].in_order)
		return held_up(m, ready_ns, complete_log(m, t, log, ready_ns));
	ready_ns = fb_log_merge_full(m, t, t->logs[log].logical_group, ready_ns);
	return held_up(m, ready_ns, fb_log_drop(m, t, log, ready_ns));
}

static void discard_group(struct fb_medium *m, struct fb_log_tables *t, u32 logical_group)
{
	u32 *entry = &t->map[logical_group];
	u32 log;

	forget_logged(t, logical_group);
	if (t->free->merging == logical_group) {
		t->free->merging = FB_NO_GROUP;
		release(m, t, t->free->merging_into, m->now_ns);
	}
	for (log = 0; log < t->log_count; log++)
		if (t->logs[log].group != FB_NO_GROUP && t->logs[log].logical_group == logical_group)
			fb_log_drop(m, t, log, m->now_ns);
	if (*entry)
		release(m, t, *entry - FB_MAPPED_GROUP, m->now_ns);
	*entry = 0;
}

void fb_log_discard(struct fb_medium *m, u64 first, u64 end)
{
	struct fb_log_tables t = fb_log_tables(m);
	u64 group = fb_divide_up(first, t.pages_per_group);

	for (; (group + 1) * t.pages_per_group <= end; group++)
		discard_group(m, &t, group);
}

u64 fb_log_page_at(const struct fb_medium *m, u32 die, u32 ppn)
{
	struct fb_log_tables t = fb_log_tables(m);
	u32 pages_of_die = t.pages_per_group / m->params.dies;
	u32 pages = m->flash.nand.layout.pages_per_block;
	u32 layer_block = *layer_block_of(m, die, ppn / pages);
	u32 layer_ppn = (layer_block - FB_IN_GROUP) * pages + ppn % pages;
	u32 group = layer_ppn / pages_of_die;
	u32 offset = layer_ppn % pages_of_die * m->params.dies + die;
	u32 user, logged, page;

	if (!layer_block || offset >= t.groups[group].programmed_pages)
		return FB_NO_PAGE;
	user = t.groups[group].user;
	if (user >= FB_GROUP_DATA) {
		page = (user - FB_GROUP_DATA) * t.pages_per_group + offset;
		if (fb_log_merged(&t, page) && group != t.free->merging_into)
			return FB_NO_PAGE;
		return t.latest[page] ? FB_NO_PAGE : page;
	}
	logged = fb_log_slot(&t, user - FB_GROUP_LOG, offset);
	page = t.owner[logged] - FB_LOGGED;
	return t.owner[logged] && t.latest[page] == logged + FB_IN_LOG ? page : FB_NO_PAGE;
}

/* The first page of each group says whose it is; of a log, the spare areas of all pages say what they are */
u64 fb_log_scan_pages(const struct fb_medium *m)
{
	struct fb_log_tables t = fb_log_tables(m);

	return t.group_count + fb_divide_up((u64)t.log_count * t.pages_per_group, m->params.dies);
}

static u32 first_page_in(const u32 *pages, u32 ppn, u32 end)
{
	while (ppn < end && !pages[ppn])
		ppn++;
	return ppn < end ? pages[ppn] - 1 : 0;
}

void fb_log_restore(struct fb_medium *m, const u32 *pages, const u32 *programmed)
{
	struct fb_log_tables t = fb_log_tables(m);
	u32 group;

	t.free->count = 0;
	for (group = 0; group < t.group_count; group++) {
		u32 ppn = group * t.pages_per_group;
		u32 logical_group;

		if (!programmed[group]) {
			put_free(&t, group);
			continue;
		}
		logical_group = first_page_in(pages, ppn, ppn + programmed[group]) / t.pages_per_group;
		t.map[logical_group] = group + FB_MAPPED_GROUP;
		t.groups[group].user = FB_GROUP_DATA + logical_group;
		t.groups[group].programmed_pages = programmed[group];
		fb_nand_block(m, 0, group)->programmed_pages = programmed[group];
	}
}
