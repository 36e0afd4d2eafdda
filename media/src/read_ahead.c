// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The read buffer of a flash device: prefetched pages */
#include "arith.h"
#include "state.h"

void fb_read_ahead_lay_out(const struct fb_params *p, struct fb_read_ahead *ahead, u64 *end_offset)
{
	ahead->pages = p->read_ahead_bytes / p->page_bytes;
	ahead->offset = fb_add_table(end_offset, ahead->pages * sizeof(struct fb_fetched));
	ahead->begin_ns = FB_NEVER;
}

static struct fb_fetched *entry(const struct fb_medium *m, u64 page)
{
	const struct fb_read_ahead *ahead = &m->flash.ahead;

	return (struct fb_fetched *)fb_table(m, ahead->offset) + page % ahead->pages;
}

void fb_read_ahead_power_on(struct fb_medium *m)
{
	u64 i;

	for (i = 0; i < m->flash.ahead.pages; i++)
		*entry(m, i) = (struct fb_fetched) { 0 };
	m->flash.ahead.end_bytes = 0;
	m->flash.ahead.begin_ns = FB_NEVER;
}

const struct fb_fetched *fb_read_ahead_find(const struct fb_medium *m, u64 page)
{
	const struct fb_fetched *found;

	if (!m->flash.ahead.pages)
		return NULL;
	found = entry(m, page);
	return found->page == page + 1 ? found : NULL;
}

/* One stream is prefetched at a time, so a long discard finds few pages here */
void fb_read_ahead_forget(struct fb_medium *m, u64 first, u64 end)
{
	u64 i;

	if (end - first > m->flash.ahead.pages) {
		for (i = 0; i < m->flash.ahead.pages; i++)
			if (entry(m, i)->page > first && entry(m, i)->page <= end)
				entry(m, i)->page = 0;
		return;
	}
	for (; first < end; first++)
		if (fb_read_ahead_find(m, first))
			entry(m, first)->page = 0;
}

static void fetch(struct fb_medium *m, u64 page, u64 begin_ns)
{
	struct fb_fetched *fetched = entry(m, page);

	m->flash.nand.read_failed = 0;
	fetched->there_ns = fb_ftl(&m->params)->read(m, page, m->params.page_bytes, begin_ns);
	fetched->page = page + 1;
	fetched->failed = m->flash.nand.read_failed;
	m->counters.read_ahead_pages++;
}

/* All layers stripe pages over the dies */
static bool begins_before(const struct fb_medium *m, u64 page, u64 begin_ns, u64 now_ns)
{
	return fb_max(begin_ns, fb_nand_free_ns(m, page % m->params.dies)) < now_ns;
}

/* The dies see the time at which the pages were prefetched, not that of the current request */
void fb_read_ahead_catch_up(struct fb_medium *m, const struct fb_request *request)
{
	struct fb_read_ahead *ahead = &m->flash.ahead;
	u64 begin_ns = ahead->begin_ns;
	u64 now_ns = m->now_ns;
	u64 page = ahead->end_bytes / m->params.page_bytes;
	u64 end = fb_min(page + ahead->pages, fb_div_round_up(m->params.capacity_bytes, m->params.page_bytes));
	bool goes_on = request->op == FB_READ && request->offset_bytes == ahead->end_bytes;

	ahead->begin_ns = FB_NEVER;
	if (begin_ns > now_ns)
		return;
	m->now_ns = begin_ns;
	fb_nand_begin_batch(m);
	for (; page < end; page++)
		if (!fb_read_ahead_find(m, page) && !fb_buffer_holds(m, page) &&
		    (goes_on || begins_before(m, page, begin_ns, now_ns)))
			fetch(m, page, begin_ns);
	m->now_ns = now_ns;
}

void fb_read_ahead_note(struct fb_medium *m, const struct fb_request *request, u64 done_ns)
{
	struct fb_read_ahead *ahead = &m->flash.ahead;

	if (ahead->end_bytes && request->offset_bytes == ahead->end_bytes)
		ahead->begin_ns = done_ns;
	ahead->end_bytes = request->offset_bytes + request->length_bytes;
}

const char *fb_read_ahead_verify(const struct fb_medium *m)
{
	u64 pages = fb_div_round_up(m->params.capacity_bytes, m->params.page_bytes);
	u64 i;

	for (i = 0; i < m->flash.ahead.pages; i++) {
		u64 page = entry(m, i)->page;

		if (page > pages)
			return "a page beyond the medium's end was fetched ahead";
		if (page && (page - 1) % m->flash.ahead.pages != i)
			return "a page that was fetched ahead lies in another's place";
	}
	return NULL;
}
