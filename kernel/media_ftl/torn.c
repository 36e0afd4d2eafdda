// SPDX-License-Identifier: GPL-2.0-only
/* Moves away from the block whose last page may be torn */
#include "torn.h"
#include "copy.h"

/* The page's offset in the copy, behind `copied` pages: without gaps if the layer allows none */
static u32 offset_in_copy(const struct sftl_scan *s, u32 offset, u32 copied)
{
	return s->in_order ? copied : offset;
}

static int copy_pages(struct sftl_scan *s, u32 from, u32 to)
{
	u32 pages = s->flash->pages_per_block;
	u32 page, copied = 0;
	int err = 0;

	for (page = 0; page < s->programmed[from] && !err; page++) {
		const struct sftl_found *found = &s->found[from * pages + page];
		struct sftl_tag tag = { .page = found->page,
					.copied = found->copied,
					.sequence = found->sequence };

		if (found->page == SFTL_MAX_PAGES)
			continue;
		err = sftl_copy_page(s, from * pages + page,
				     to * pages + offset_in_copy(s, page, copied), tag);
		copied++;
	}
	return err;
}

static void adopt(struct sftl_scan *s, u32 from, u32 to)
{
	u32 pages = s->flash->pages_per_block;
	u32 page, copied = 0;

	for (page = 0; page < s->programmed[from]; page++) {
		u32 offset = offset_in_copy(s, page, copied);

		if (s->found[from * pages + page].page == SFTL_MAX_PAGES)
			continue;
		s->found[to * pages + offset] = s->found[from * pages + page];
		s->programmed[to] = offset + 1;
		copied++;
	}
}

int sftl_leave_torn_block(struct sftl_scan *s)
{
	u32 block, fresh;

	if (s->maybe_torn == SFTL_NOWHERE)
		return 0;
	block = s->maybe_torn / s->flash->pages_per_block;
	if (s->newest_pages[block]) {
		int err = sftl_copy_to_fresh_block(s, copy_pages, block, &fresh);

		if (err)
			return err;
		adopt(s, block, fresh);
	}
	sftl_scan_erase(s, block);
	return sftl_scan_newest(s);
}
