// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Shared logs: they take pages of any group, one log after another; merges empty the one that was filled first */
#include "ftl_log.h"

/* A full merge leaves no valid page in the group's own log */
static u64 merge_group(struct fb_medium *m, struct fb_log_tables *t, u32 logical_group, u64 ready_ns)
{
	u32 log;

	ready_ns = fb_log_merge_full(m, t, logical_group, ready_ns);
	for (log = 0; log < fb_log_first_shared(&m->params); log++)
		if (fb_log_in_use(t, log) && t->logs[log].logical_group == logical_group)
			ready_ns = fb_log_drop(m, t, log, ready_ns);
	return ready_ns;
}

static bool has_own_log(const struct fb_medium *m, const struct fb_log_tables *t, u32 logical_group)
{
	u32 log;

	for (log = 0; log < fb_log_first_shared(&m->params); log++)
		if (fb_log_in_use(t, log) && t->logs[log].logical_group == logical_group)
			return true;
	return false;
}

/* The next group of which a log holds a valid page, searching from *offset; updates *offset */
static u32 next_group(const struct fb_log_tables *t, u32 log, u32 *offset)
{
	for (; *offset < t->pages_per_group; ++*offset) {
		u32 slot = fb_log_slot(t, log, *offset);
		u32 page = t->owner[slot] - FB_LOGGED;

		if (t->owner[slot] && t->latest[page] == slot + FB_IN_LOG)
			return page / t->pages_per_group;
	}
	return FB_NO_GROUP;
}

static u64 empty_at_once(struct fb_medium *m, struct fb_log_tables *t, u32 log, u64 ready_ns)
{
	u32 offset = 0;
	u32 group;

	while ((group = next_group(t, log, &offset)) != FB_NO_GROUP)
		ready_ns = merge_group(m, t, group, ready_ns);
	return fb_log_drop(m, t, log, ready_ns);
}

static u32 groups_in(struct fb_log_tables *t, u32 log)
{
	u32 number = ++t->free->counted_logs;
	u32 count = 0;
	u32 offset = 0;
	u32 group;

	for (; (group = next_group(t, log, &offset)) != FB_NO_GROUP; offset++) {
		count += t->counted[group] != number;
		t->counted[group] = number;
	}
	return count;
}

/* Copies up to `pages` pages, and drops the log once nothing is left to merge */
static u64 empty_some(struct fb_medium *m, struct fb_log_tables *t, u32 pages, u64 ready_ns)
{
	struct fb_free_groups *f = t->free;

	for (;;) {
		u32 group = f->merging;

		if (group == FB_NO_GROUP) {
			group = next_group(t, f->emptying_log, &f->emptying_offset);
			if (group == FB_NO_GROUP)
				break;
		}
		if (!pages)
			return ready_ns;
		if (m->params.ftl == FB_FTL_FAST && has_own_log(m, t, group)) {
			ready_ns = fb_log_close_some(m, t, 0, &pages, ready_ns);
			continue;
		}
		if (has_own_log(m, t, group)) {
			ready_ns = merge_group(m, t, group, ready_ns);
			pages -= fb_min(pages, t->pages_per_group);
		} else {
			if (f->merging == FB_NO_GROUP)
				fb_log_begin_merge(t, group);
			ready_ns = fb_log_go_on_merging(m, t, &pages, ready_ns);
		}
		if (f->merging == FB_NO_GROUP && f->groups_left)
			f->groups_left--;
	}
	ready_ns = fb_log_drop(m, t, f->emptying_log, ready_ns);
	f->emptying_log = FB_NO_LOG;
	return ready_ns;
}

/* Empties the old log at an even pace, so that it is done when the newest log takes its last page */
static u64 empty_along(struct fb_medium *m, struct fb_log_tables *t, u64 ready_ns)
{
	const struct fb_free_groups *f = t->free;
	u32 room = t->pages_per_group - t->groups[t->logs[f->newest_log].group].programmed_pages;
	u64 work = (u64)f->groups_left * t->pages_per_group;

	if (f->emptying_log == FB_NO_LOG)
		return ready_ns;
	if (f->merging != FB_NO_GROUP)
		work -= fb_min(work, t->groups[f->merging_into].programmed_pages);
	return empty_some(m, t, fb_max(m->params.merge_step_pages, fb_div_round_up(work, room)), ready_ns);
}

static u32 log_behind(const struct fb_medium *m, const struct fb_log_tables *t, u32 log)
{
	return log == FB_NO_LOG || log + 1 == t->log_count ? fb_log_first_shared(&m->params) : log + 1;
}

static void begin_emptying(const struct fb_medium *m, struct fb_log_tables *t)
{
	u32 oldest = log_behind(m, t, t->free->newest_log);

	if (!m->params.merge_step_pages || !fb_log_in_use(t, oldest))
		return;
	t->free->emptying_log = oldest;
	t->free->emptying_offset = 0;
	t->free->groups_left = groups_in(t, oldest);
}

/* Makes room in the newest shared log */
static u64 make_room(struct fb_medium *m, struct fb_log_tables *t, u64 ready_ns)
{
	u32 *newest = &t->free->newest_log;

	if (*newest != FB_NO_LOG && !fb_log_full(t, *newest))
		return ready_ns;
	while (t->free->emptying_log != FB_NO_LOG)
		ready_ns = empty_some(m, t, ~(u32)0, ready_ns);
	*newest = log_behind(m, t, *newest);
	if (fb_log_in_use(t, *newest))
		ready_ns = empty_at_once(m, t, *newest, ready_ns);
	fb_log_start(t, *newest, FB_NO_GROUP);
	begin_emptying(m, t);
	return ready_ns;
}

u64 fb_log_write_shared(struct fb_medium *m, struct fb_log_tables *t, u32 page, u64 ready_ns)
{
	ready_ns = make_room(m, t, ready_ns);
	if (m->params.merge_step_pages)
		ready_ns = empty_along(m, t, ready_ns);
	return fb_log_append(m, t, t->free->newest_log, page, ready_ns);
}
