// SPDX-License-Identifier: GPL-2.0-only
#include "doubt.h"
#include "copy.h"

static int copy_pages(struct sftl_scan *s, u32 from, u32 to)
{
	u32 pages = s->flash->pages_per_block;
	u32 page;
	int err = 0;

	for (page = 0; page < s->programmed[from] && !err; page++) {
		const struct sftl_found *found = &s->found[from * pages + page];
		struct sftl_tag tag = { .page = found->page, .copied = found->copied, .sequence = found->sequence };

		if (found->page != SFTL_MOST_PAGES)
			err = sftl_copy_page(s, from * pages + page, to * pages + page, tag);
	}
	return err;
}

static void adopt(struct sftl_scan *s, u32 from, u32 to)
{
	u32 pages = s->flash->pages_per_block;
	u32 page;

	for (page = 0; page < s->programmed[from]; page++) {
		if (s->found[from * pages + page].page == SFTL_MOST_PAGES)
			continue;
		s->found[to * pages + page] = s->found[from * pages + page];
		s->programmed[to] = page + 1;
	}
}

int sftl_leave_doubtful_block(struct sftl_scan *s)
{
	u32 block, fresh;

	if (s->doubtful == SFTL_NOWHERE)
		return 0;
	block = s->doubtful / s->flash->pages_per_block;
	if (s->newest_pages[block]) {
		int err = sftl_copy_to_fresh_block(s, copy_pages, block, &fresh);

		if (err)
			return err;
		adopt(s, block, fresh);
	}
	sftl_scan_erase(s, block);
	return sftl_scan_newest(s);
}
