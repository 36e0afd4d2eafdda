// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What the log-block layers' tests share: small media, and requests that come when all is idle */
#include "log_support.h"

enum { STEP_NS = 1000000000 };	/* between requests: all is idle again */

static u64 now_ns;

struct fb_params log_params(u64 ftl, u64 log_blocks)
{
	struct fb_params p = sample_flash();

	p.ftl = ftl;
	p.log_blocks = log_blocks;
	p.blocks_per_group = 1;
	p.capacity_bytes = 8 * GROUP * PAGE;
	return p;
}

struct fb_medium *new_log_medium(const struct fb_params *params)
{
	now_ns = 0;
	return new_medium(params);
}

struct fb_medium *log_medium(u64 ftl, u64 log_blocks)
{
	struct fb_params p = log_params(ftl, log_blocks);

	return new_log_medium(&p);
}

u64 idle_request(struct fb_medium *m, enum fb_op op, u64 offset_bytes, u64 length_bytes)
{
	u64 begin_ns = now_ns + STEP_NS;

	now_ns = submit(m, op, offset_bytes, length_bytes, begin_ns);
	return now_ns - begin_ns;
}

u64 write_page(struct fb_medium *m, u64 page)
{
	return idle_request(m, FB_WRITE, page * PAGE, PAGE);
}

void write_pages(struct fb_medium *m, u64 first, u64 end)
{
	for (; first < end; first++)
		CHECK_EQUAL(WRITE_NS, write_page(m, first));
}

void write_second_pages(struct fb_medium *m, u64 groups)
{
	u64 group;

	for (group = 0; group < groups; group++)
		write_pages(m, group * GROUP + 1, group * GROUP + 2);
}

void check_merges(const struct fb_medium *m, u64 switches, u64 partials, u64 fulls)
{
	const struct fb_counters *c = fb_medium_counters(m);

	CHECK_EQUAL(switches, c->switch_merges);
	CHECK_EQUAL(partials, c->partial_merges);
	CHECK_EQUAL(fulls, c->full_merges);
	CHECK(!fb_verify(m));
}
