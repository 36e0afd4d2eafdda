// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The common part of the log-block layers: their tables, reads, writes to a data group or a log, and discards. Groups,
 * merges, shared logs, verification, BAST and FAST have files of their own.
 */
#include "ftl_log_group.h"
#include "nand_health.h"

static u64 pages_per_group(const struct fb_params *p)
{
	return p->dies * p->blocks_per_group * fb_nand_pages(p);
}

static u64 groups(const struct fb_params *p)
{
	return fb_health_good_blocks(p) / p->blocks_per_group;
}

/* The groups kept free for merge targets: one for merges at once, one for merges in steps */
static u64 free_groups(const struct fb_params *p)
{
	return p->merge_step_pages ? 2 : 1;
}

static bool check_shared(const struct fb_params *p, struct fb_complaint *complaint)
{
	u64 max_shared = p->ftl == FB_FTL_BAST ? p->log_blocks - 1 : 0;
	u64 shared = p->log_blocks - fb_log_first_shared(p);

	return fb_check_range(complaint, p, FB_PARAM_shared_logs, 0, max_shared,
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
			      "log_blocks + 2 groups of good blocks fit into a plane, "
			      "with merge_step_pages one more") &&
	       fb_check_range(complaint, p, FB_PARAM_dies, 1,
			      0x3fffffff / (p->blocks_per_die * p->pages_per_block),
			      "a log-block layer has fewer than 2^30 pages") &&
	       fb_check_range(complaint, p, FB_PARAM_capacity_bytes, 4096,
			      (groups(p) - p->log_blocks - free_groups(p)) * pages_per_group(p) * p->page_bytes,
			      "no more than (blocks_per_die - bad and spare ones) / planes / blocks_per_group - "
			      "log_blocks - 1 groups, with merge_step_pages one less");
}

struct fb_ftl_layout fb_log_layout(const struct fb_params *p, u64 *end_offset)
{
	struct fb_ftl_layout layout = { 0 };

	layout.groups = groups(p);
	layout.pages_per_group = pages_per_group(p);
	layout.logical_groups = fb_div_round_up(p->capacity_bytes, layout.pages_per_group * p->page_bytes);

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

void fb_log_init(struct fb_medium *m)
{
	struct fb_log_tables t = fb_log_tables(m);
	u32 i;

	for (i = 0; i < m->params.dies; i++)
		fb_log_put_blocks(m, i);
	for (i = 0; i < t.group_count; i++)
		fb_log_put_free(&t, i);
	for (i = 0; i < t.log_count; i++)
		t.logs[i].group = FB_NO_GROUP;
	t.free->newest_log = FB_NO_LOG;
	t.free->emptying_log = FB_NO_LOG;
	t.free->merging = FB_NO_GROUP;
}

bool fb_log_mapped(const struct fb_medium *m, u64 page)
{
	struct fb_log_tables t = fb_log_tables(m);

	return fb_log_holds(&t, page);
}

void fb_log_power_on(struct fb_medium *m)
{
	struct fb_log_tables t = fb_log_tables(m);
	u32 i;

	for (i = 0; i < m->params.known_groups; i++)
		t.known[i] = 0;
}

/* Makes a logical group the most recently used of the known ones; true if it was known */
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

/* Reads the spare area of a group's page, which takes no channel time */
static u64 look_up(struct fb_medium *m, u32 group, u32 offset, u64 ready_ns)
{
	struct fb_log_spot at = fb_log_spot_in(m, group, offset);

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
			known_ns = fb_max(known_ns, look_up(m, l->group, t->groups[l->group].programmed_pages - 1,
							    ready_ns));
	}
	return known_ns;
}

u64 fb_log_read(struct fb_medium *m, u64 page, u64 bytes, u64 ready_ns)
{
	struct fb_log_tables t = fb_log_tables(m);
	struct fb_log_spot from;

	ready_ns = fb_log_know(m, &t, page / t.pages_per_group, ready_ns);
	if (!fb_log_holds(&t, page))
		return ready_ns;
	from = fb_log_spot_of(m, &t, page);
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
		*entry = fb_log_take_free(t, FB_GROUP_DATA + logical_group) + FB_MAPPED_GROUP;
	return fb_log_program_next(m, t, *entry - FB_MAPPED_GROUP, page, ready_ns);
}

void fb_log_start(struct fb_log_tables *t, u32 log, u32 logical_group)
{
	t->logs[log].group = fb_log_take_free(t, FB_GROUP_LOG + log);
	t->logs[log].logical_group = logical_group;
	t->logs[log].in_order = 1;
}

bool fb_log_full(const struct fb_log_tables *t, u32 log)
{
	return t->groups[t->logs[log].group].programmed_pages == t->pages_per_group;
}

u64 fb_log_append(struct fb_medium *m, struct fb_log_tables *t, u32 log, u32 page, u64 ready_ns)
{
	struct fb_log *l = &t->logs[log];
	u32 offset = t->groups[l->group].programmed_pages;
	u32 slot = fb_log_slot(t, log, offset);

	if (offset != page % t->pages_per_group)
		l->in_order = 0;
	l->last_use = t->free->uses++;
	fb_log_put_in_log(t, slot, page);
	return fb_log_program_next(m, t, l->group, page, ready_ns);
}

static void discard_group(struct fb_medium *m, struct fb_log_tables *t, u32 logical_group)
{
	u32 *entry = &t->map[logical_group];
	u32 log;

	fb_log_forget_pages(t, logical_group);
	if (t->free->merging == logical_group) {
		t->free->merging = FB_NO_GROUP;
		fb_log_release(m, t, t->free->merging_into, m->now_ns);
	}
	for (log = 0; log < t->log_count; log++)
		if (t->logs[log].group != FB_NO_GROUP && t->logs[log].logical_group == logical_group)
			fb_log_drop(m, t, log, m->now_ns);
	if (*entry)
		fb_log_release(m, t, *entry - FB_MAPPED_GROUP, m->now_ns);
	*entry = 0;
}

void fb_log_discard(struct fb_medium *m, u64 first, u64 end)
{
	struct fb_log_tables t = fb_log_tables(m);
	u64 group = fb_div_round_up(first, t.pages_per_group);

	for (; (group + 1) * t.pages_per_group <= end; group++)
		discard_group(m, &t, group);
}

/* The first page of each group tells its owner; the spare areas of a log's pages tell what each holds */
u64 fb_log_scan_pages(const struct fb_medium *m)
{
	struct fb_log_tables t = fb_log_tables(m);

	return t.group_count + fb_div_round_up((u64)t.log_count * t.pages_per_group, m->params.dies);
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
			fb_log_put_free(&t, group);
			continue;
		}
		logical_group = first_page_in(pages, ppn, ppn + programmed[group]) / t.pages_per_group;
		t.map[logical_group] = group + FB_MAPPED_GROUP;
		t.groups[group].user = FB_GROUP_DATA + logical_group;
		t.groups[group].programmed_pages = programmed[group];
		fb_nand_block(&m->flash.nand, 0, group)->programmed_pages = programmed[group];
	}
}
