// SPDX-License-Identifier: GPL-2.0-only
/* Turns the result of a scan into the core's tables */
#include "restart.h"
#include "torn.h"
#include "merge.h"
#include "scan.h"
#include "soft_nand.h"

/*
 * Blocks with current pages become the core's; then others, as many as it has; the rest are spares
 */
static int share_out(struct sftl *l, const struct sftl_scan *s)
{
	u32 block, used = 0;

	for (block = 0; block < l->flash.blocks; block++) {
		if (!s->newest_pages[block])
			continue;
		if (used == l->block_count)
			return -ENOSPC;
		l->physical[used++] = block;
	}
	for (block = 0; block < l->flash.blocks; block++) {
		if (s->newest_pages[block] || l->flash.is_bad(l->flash.context, block))
			continue;
		l->unclean[block] = 1;
		if (used < l->block_count)
			l->physical[used++] = block;
		else
			l->spares[l->spare_count++] = block;
	}
	return used == l->block_count ? 0 : -ENOSPC;
}

/* Translates the current pages to the core's block numbers: 1 + page for each flash page */
static void translate(const struct sftl *l, const struct sftl_scan *s, u32 *pages, u32 *programmed)
{
	const struct fb_params *p = &l->medium->params;
	u32 per_block = l->flash.pages_per_block;
	u32 open = 0;
	u32 block, i;

	for (block = 0; block < l->block_count; block++) {
		u32 first = l->physical[block] * per_block;

		if (!s->newest_pages[l->physical[block]])
			continue;
		programmed[block] = s->torn[l->physical[block]] ? per_block :
								  s->programmed[l->physical[block]];
		/*
		 * Blocks that were left as torn are not full either; the page-mapped layer
		 * continues some only
		 */
		if (p->ftl == FB_FTL_PAGE && programmed[block] < per_block &&
		    ++open > p->open_blocks)
			programmed[block] = per_block;
		for (i = 0; i < per_block; i++) {
			u32 page = s->found[first + i].page;

			if (page != SFTL_MAX_PAGES && s->newest[page] == first + i)
				pages[block * per_block + i] = page + 1;
		}
	}
}

static int restore(struct sftl *l, const struct sftl_scan *s)
{
	u32 *pages =
		l->flash.allocate((size_t)l->block_count * l->flash.pages_per_block * sizeof(u32));
	u32 *programmed = l->flash.allocate(l->block_count * sizeof(u32));
	int err = pages && programmed ? 0 : -ENOMEM;

	if (!err) {
		translate(l, s, pages, programmed);
		fb_ftl(&l->medium->params)->restore(l->medium, pages, programmed);
	}
	if (pages)
		l->flash.release(pages);
	if (programmed)
		l->flash.release(programmed);
	return err;
}

int sftl_restart(struct sftl *l)
{
	const struct fb_params *p = &l->medium->params;
	bool in_order = p->ftl == FB_FTL_PAGE;
	struct sftl_scan scan;
	int err = sftl_scan(&scan, &l->flash, p->capacity_bytes / p->page_bytes, in_order);

	if (!err && !in_order)
		err = sftl_undo_merges(&scan);
	if (!err)
		err = sftl_leave_torn_block(&scan);
	if (!err && !in_order)
		err = sftl_merge_groups(&scan, &l->statistics.merged_at_start);
	l->sequence = scan.highest_sequence + 1;
	if (!err)
		err = share_out(l, &scan);
	if (!err)
		err = restore(l, &scan);
	sftl_scan_end(&scan);
	return err;
}
