// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * BAST, block-associative sector translation: each log takes the pages of one logical group. If no log is free, the
 * least recently used one is merged, even if it is nearly empty. Some cards also gather short writes in shared logs: on
 * them, random writes of 4 KiB are some ten times faster than those of 16 KiB.
 */
#include "ftl_log.h"

static bool check(const struct fb_params *p, struct fb_complaint *complaint)
{
	return fb_log_check(p, 1, complaint);
}

static u32 log_of(const struct fb_medium *m, const struct fb_log_tables *t, u32 logical_group)
{
	u32 log;

	for (log = 0; log < fb_log_first_shared(&m->params); log++)
		if (fb_log_in_use(t, log) && t->logs[log].logical_group == logical_group)
			return log;
	return FB_NO_LOG;
}

/* Returns a free log, else the least recently used one */
static u32 next_log(const struct fb_medium *m, const struct fb_log_tables *t)
{
	u32 log, oldest = 0;

	for (log = 0; log < fb_log_first_shared(&m->params); log++) {
		if (!fb_log_in_use(t, log))
			return log;
		if (t->free->uses - t->logs[log].last_use > t->free->uses - t->logs[oldest].last_use)
			oldest = log;
	}
	return oldest;
}

static u64 write(struct fb_medium *m, u64 page, u64 ready_ns)
{
	struct fb_log_tables t = fb_log_tables(m);
	u32 logical_group = page / t.pages_per_group;
	u32 log = log_of(m, &t, logical_group);
	bool is_short = m->flash.write_bytes < m->params.short_write_bytes;

	ready_ns = fb_log_know(m, &t, logical_group, ready_ns);
	if (log != FB_NO_LOG && !fb_log_full(&t, log))
		return fb_log_append(m, &t, log, page, ready_ns);
	if (log == FB_NO_LOG && fb_log_extends_data(&t, page))
		return fb_log_extend_data(m, &t, page, ready_ns);
	if (log == FB_NO_LOG && is_short)
		return fb_log_write_shared(m, &t, page, ready_ns);
	if (log == FB_NO_LOG)
		log = next_log(m, &t);
	if (fb_log_in_use(&t, log))
		ready_ns = fb_log_merge(m, &t, log, ready_ns);
	ready_ns = fb_log_end_merge(m, &t, logical_group, ready_ns);
	if (fb_log_extends_data(&t, page))
		return fb_log_extend_data(m, &t, page, ready_ns);
	fb_log_start(&t, log, logical_group);
	return fb_log_append(m, &t, log, page, ready_ns);
}

const struct fb_ftl fb_ftl_bast = {
	.check = check,
	.write = write,
	FB_LOG_OPERATIONS,
};
