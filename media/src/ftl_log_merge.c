// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Merges of the log-block layers: switch, partial and full ones, at once and in steps */
#include "ftl_log_group.h"

/* Copies read this many pages before they program them, so that several dies work at the same time */
#define COPY_PAGES 16

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
	return fb_log_release(m, t, group, ready_ns);
}

/* The offset behind the last page of a logical group that holds data */
static u32 end_of(const struct fb_log_tables *t, u32 logical_group)
{
	u32 first = logical_group * t->pages_per_group;
	u32 end = t->pages_per_group;

	while (end && !fb_log_holds(t, first + end - 1))
		end--;
	return end;
}

/* True if the page stays in its plane, so that copy-back can move it */
static bool stays_in_plane(const struct fb_medium *m, const struct fb_log_tables *t, u32 page, u32 to_group)
{
	u32 planes = m->params.planes;
	struct fb_log_spot from, to;

	if (!m->params.copy_back)
		return false;
	from = fb_log_spot_of(m, t, page);
	to = fb_log_spot_in(m, to_group, page % t->pages_per_group);
	return from.die == to.die && from.ppn % planes == to.ppn % planes;
}

/* The log that occupies a group */
static u32 log_in(const struct fb_log_tables *t, u32 group)
{
	u32 user = t->groups[group].user;

	return user >= FB_GROUP_DATA ? FB_NO_LOG : user - FB_GROUP_LOG;
}

/* Appends up to `count` pages of a logical group to a group that has all pages before them */
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
		if (!fb_log_holds(t, page + i))
			continue;
		m->flash.nand.read_failed = 0;
		stays[i] = stays_in_plane(m, t, page + i, to_group);
		read_ns[i] = fb_log_read(m, page + i, stays[i] ? 0 : m->params.page_bytes, ready_ns);
		if (m->flash.nand.read_failed)
			fb_power_lose(m, (u64)(page + i) * m->params.page_bytes, m->params.page_bytes);
		m->counters.collection_moved_pages++;
	}
	for (i = 0; i < count; i++) {
		u64 content = fb_log_holds(t, page + i) ? page + i : FB_NO_PAGE;

		m->flash.nand.has_page = stays[i];
		done_ns = fb_max(done_ns, fb_log_program_next(m, t, to_group, content, read_ns[i]));
		if (t->free->merging == page / t->pages_per_group)
			t->latest[page + i] = 0;
		if (log != FB_NO_LOG)
			fb_log_put_in_log(t, fb_log_slot(t, log, (page + i) % t->pages_per_group), page + i);
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
		u32 count = fb_min(COPY_PAGES, end - offset);

		done_ns = fb_max(done_ns, copy_some(m, t, to_group, first + offset, count, ready_ns));
		offset += count;
	}
	return done_ns;
}

/* The group holds the newest version of all pages and becomes the data group; the old one is erased */
static u64 become_data(struct fb_medium *m, struct fb_log_tables *t, u32 logical_group, u32 group, u64 ready_ns)
{
	u32 old = t->map[logical_group];

	t->groups[group].user = FB_GROUP_DATA + logical_group;
	t->map[logical_group] = group + FB_MAPPED_GROUP;
	return old ? fb_log_release(m, t, old - FB_MAPPED_GROUP, ready_ns) : ready_ns;
}

void fb_log_forget_pages(struct fb_log_tables *t, u32 logical_group)
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
	u32 to_group = fb_log_take_free(t, FB_GROUP_DATA + logical_group);
	u64 done_ns = copy(m, t, logical_group, to_group, end_of(t, logical_group), begin_ns);

	m->counters.full_merges++;
	fb_log_forget_pages(t, logical_group);
	return held_up(m, begin_ns, become_data(m, t, logical_group, to_group, done_ns));
}

void fb_log_begin_merge(struct fb_log_tables *t, u32 logical_group)
{
	t->free->merging_into = fb_log_take_free(t, FB_GROUP_DATA + logical_group);
	t->free->merging = logical_group;
}

u64 fb_log_go_on_merging(struct fb_medium *m, struct fb_log_tables *t, u32 *pages, u64 ready_ns)
{
	u32 logical_group = t->free->merging;
	u32 to_group = t->free->merging_into;
	u32 end = end_of(t, logical_group);
	u32 left = end - t->groups[to_group].programmed_pages;
	u32 copied = fb_min(*pages, left);
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

/* The log's own pages are at their offsets, unless another log has a newer one; the rest is copied behind them */
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
	u32 end = fb_max(end_of(t, logical_group), logged);
	u32 copied = fb_min(*pages, end - logged);
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
