// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * FAST, fully-associative sector translation. One sequential log takes a write at the start of a logical group and
 * those that follow it in order. All others go to random logs, which take pages of any group and are filled one after
 * another. If no random log is free, every logical group with a valid page in the oldest one is merged. With
 * merge_step_pages the sequential log is completed step by step along with writes; meanwhile writes that would begin a
 * new one go to a random log.
 */
#include "ftl_log.h"

#define SEQUENTIAL_LOG 0u

static bool check(const struct fb_params *p, struct fb_complaint *complaint)
{
	return fb_log_check(p, 2, complaint);
}

static bool follows(const struct fb_log_tables *t, u32 page)
{
	const struct fb_log *log = &t->logs[SEQUENTIAL_LOG];

	return fb_log_in_use(t, SEQUENTIAL_LOG) && log->logical_group == page / t->pages_per_group &&
	       t->groups[log->group].programmed_pages == page % t->pages_per_group;
}

/* In steps, the write does not wait for an unfinished log or group: it goes to a random log */
static bool may_begin(const struct fb_medium *m, const struct fb_log_tables *t, u32 logical_group)
{
	return !m->params.merge_step_pages ||
	       (t->free->merging != logical_group &&
		(!fb_log_in_use(t, SEQUENTIAL_LOG) || fb_log_complete(t, SEQUENTIAL_LOG)));
}

static u64 begin_sequential(struct fb_medium *m, struct fb_log_tables *t, u32 page, u64 ready_ns)
{
	if (!may_begin(m, t, page / t->pages_per_group)) {
		if (fb_log_in_use(t, SEQUENTIAL_LOG))
			t->free->closing = FB_CLOSING + SEQUENTIAL_LOG;
		return ready_ns;
	}
	if (fb_log_in_use(t, SEQUENTIAL_LOG))
		ready_ns = fb_log_merge(m, t, SEQUENTIAL_LOG, ready_ns);
	fb_log_start(t, SEQUENTIAL_LOG, page / t->pages_per_group);
	return ready_ns;
}

static u64 write(struct fb_medium *m, u64 page, u64 ready_ns)
{
	struct fb_log_tables t = fb_log_tables(m);
	u32 step = m->params.merge_step_pages;

	ready_ns = fb_log_know(m, &t, page / t.pages_per_group, ready_ns);
	if (fb_log_extends_data(&t, page))
		return fb_log_extend_data(m, &t, page, ready_ns);
	if (page % t.pages_per_group == 0)
		ready_ns = begin_sequential(m, &t, page, ready_ns);
	if (follows(&t, page))
		return fb_log_append(m, &t, SEQUENTIAL_LOG, page, ready_ns);
	if (t.free->closing)
		ready_ns = fb_log_close_some(m, &t, SEQUENTIAL_LOG, &step, ready_ns);
	return fb_log_write_shared(m, &t, page, ready_ns);
}

const struct fb_ftl fb_ftl_fast = {
	.check = check,
	.write = write,
	FB_LOG_OPERATIONS,
};
