// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * FAST, fully-associative sector translation: one log takes a write that begins at the start of a logical group and those
 * that follow it in order; all others go to random logs, which take the pages of any group and are filled one after
 * another. When no random log is left, every logical group that has a valid page in the oldest is merged.
 */
#include "ftl_log.h"

#define SEQUENTIAL_LOG 0u

static bool check(const struct fb_params *p, struct fb_complaint *complaint)
{
	return fb_log_check(p, 2, complaint);
}

static bool in_use(const struct fb_log_tables *t, u32 log)
{
	return t->logs[log].group != FB_NO_GROUP;
}

static bool follows(const struct fb_log_tables *t, u32 page)
{
	const struct fb_log *log = &t->logs[SEQUENTIAL_LOG];

	return in_use(t, SEQUENTIAL_LOG) && log->logical_group == page / t->pages_per_group &&
	       t->groups[log->group].programmed_pages == page % t->pages_per_group;
}

static u64 begin_sequential(struct fb_medium *m, struct fb_log_tables *t, u32 page, u64 ready_ns)
{
	if (in_use(t, SEQUENTIAL_LOG))
		ready_ns = fb_log_merge(m, t, SEQUENTIAL_LOG, ready_ns);
	fb_log_start(t, SEQUENTIAL_LOG, page / t->pages_per_group);
	return ready_ns;
}

/* A full merge leaves nothing valid in the sequential log of the same group */
static u64 merge_group(struct fb_medium *m, struct fb_log_tables *t, u32 logical_group, u64 ready_ns)
{
	ready_ns = fb_log_merge_full(m, t, logical_group, ready_ns);
	if (in_use(t, SEQUENTIAL_LOG) && t->logs[SEQUENTIAL_LOG].logical_group == logical_group)
		ready_ns = fb_log_drop(m, t, SEQUENTIAL_LOG, ready_ns);
	return ready_ns;
}

static u64 empty_random_log(struct fb_medium *m, struct fb_log_tables *t, u32 log, u64 ready_ns)
{
	u32 place = fb_log_place(t, log, 0);
	u32 end = place + t->pages_per_group;

	for (; place < end; place++) {
		u32 page = t->owner[place] - FB_LOGGED;

		if (t->owner[place] && t->latest[page] == place + FB_IN_LOG)
			ready_ns = merge_group(m, t, page / t->pages_per_group, ready_ns);
	}
	return fb_log_drop(m, t, log, ready_ns);
}

/* Makes sure that the newest random log has room; the logs behind the sequential one take turns */
static u64 random_log(struct fb_medium *m, struct fb_log_tables *t, u64 ready_ns)
{
	u32 *log = &t->free->newest_log;

	if (*log != FB_NO_LOG && !fb_log_full(t, *log))
		return ready_ns;
	*log = *log == FB_NO_LOG || *log + 1 == t->log_count ? SEQUENTIAL_LOG + 1 : *log + 1;
	if (in_use(t, *log))
		ready_ns = empty_random_log(m, t, *log, ready_ns);
	fb_log_start(t, *log, FB_NO_GROUP);
	return ready_ns;
}

static u64 write(struct fb_medium *m, u64 page, u64 ready_ns)
{
	struct fb_log_tables t = fb_log_tables(m);

	ready_ns = fb_log_know(m, &t, page / t.pages_per_group, ready_ns);
	if (fb_log_extends_data(&t, page))
		return fb_log_extend_data(m, &t, page, ready_ns);
	if (page % t.pages_per_group == 0)
		ready_ns = begin_sequential(m, &t, page, ready_ns);
	if (follows(&t, page))
		return fb_log_append(m, &t, SEQUENTIAL_LOG, page, ready_ns);
	ready_ns = random_log(m, &t, ready_ns);
	return fb_log_append(m, &t, t.free->newest_log, page, ready_ns);
}

const struct fb_ftl fb_ftl_fast = {
	.check = check,
	.layout = fb_log_layout,
	.init = fb_log_init,
	.power_on = fb_log_power_on,
	.mapped = fb_log_mapped,
	.read = fb_log_read,
	.write = write,
	.discard = fb_log_discard,
	.page_at = fb_log_page_at,
	.scan_pages = fb_log_scan_pages,
	.restore = fb_log_restore,
	.verify = fb_log_verify,
};
