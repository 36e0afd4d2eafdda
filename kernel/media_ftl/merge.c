// SPDX-License-Identifier: GPL-2.0-only
/*
 * The start of log-block layers: undoes interrupted merges, and merges each logical group into one
 * block
 */
#include "merge.h"
#include "copy.h"

static u32 group_of(const struct sftl_scan *s, u32 page)
{
	return page / s->flash->pages_per_block;
}

/* Blocks that begin with copies, as lists by logical group */
struct copies {
	u32 *first;	/* of each logical group: 1 + block, or 0 */
	u32 *next;	/* of each block: 1 + block, or 0 */
	u64 *begin;	/* of each block: sequence of its first page */
	bool *cut_short;
};

static int copies_begin(const struct sftl_scan *s, struct copies *c)
{
	const struct sftl_flash *flash = s->flash;

	c->first = flash->allocate((s->pages / flash->pages_per_block + 1) * sizeof(*c->first));
	c->next = flash->allocate(flash->blocks * sizeof(*c->next));
	c->begin = flash->allocate(flash->blocks * sizeof(*c->begin));
	c->cut_short = flash->allocate(flash->blocks * sizeof(*c->cut_short));
	return c->first && c->next && c->begin && c->cut_short ? 0 : -ENOMEM;
}

static void copies_end(const struct sftl_scan *s, struct copies *c)
{
	void *parts[] = { c->first, c->next, c->begin, c->cut_short };
	u32 i;

	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i])
			s->flash->release(parts[i]);
}

static void list_copies(const struct sftl_scan *s, struct copies *c)
{
	u32 pages = s->flash->pages_per_block;
	u32 block;

	for (block = 0; block < s->flash->blocks; block++) {
		u32 ppn = block * pages;
		u32 group;

		while (ppn < block * pages + s->programmed[block] &&
		       s->found[ppn].page == SFTL_MAX_PAGES)
			ppn++;
		if (ppn == block * pages + s->programmed[block] || !s->found[ppn].copied)
			continue;
		group = group_of(s, s->found[ppn].page);
		c->begin[block] = s->found[ppn].sequence;
		c->next[block] = c->first[group];
		c->first[group] = block + 1;
	}
}

static void find_cut_short(const struct sftl_scan *s, struct copies *c)
{
	u32 pages = s->flash->pages_per_block;
	u32 ppns = s->flash->blocks * pages;
	u32 ppn, copy;

	for (ppn = 0; ppn < ppns; ppn++) {
		u32 page = s->found[ppn].page;

		if (page == SFTL_MAX_PAGES)
			continue;
		for (copy = c->first[group_of(s, page)]; copy; copy = c->next[copy - 1])
			if (s->found[ppn].sequence < c->begin[copy - 1] &&
			    s->found[(copy - 1) * pages + page % pages].page != page)
				c->cut_short[copy - 1] = true;
	}
}

int sftl_undo_merges(struct sftl_scan *s)
{
	struct copies copies;
	u32 block;
	int err = copies_begin(s, &copies);

	if (!err) {
		list_copies(s, &copies);
		find_cut_short(s, &copies);
		for (block = 0; block < s->flash->blocks; block++)
			if (copies.cut_short[block])
				sftl_scan_erase(s, block);
	}
	copies_end(s, &copies);
	return err ? err : sftl_scan_newest(s);
}

/* A block with any page of the group */
static u32 some_block(const struct sftl_scan *s, u32 group)
{
	u32 pages = s->flash->pages_per_block;
	u32 page = group * pages;
	u32 end = page + pages;

	while (page < end && s->newest[page] == SFTL_NOWHERE)
		page++;
	return page < end ? s->newest[page] / pages : SFTL_NOWHERE;
}

/*
 * True if the group's pages are in one block, each at its own offset, and the block has never held
 * anything else
 */
static bool in_order(const struct sftl_scan *s, u32 group)
{
	u32 pages = s->flash->pages_per_block;
	u32 block = some_block(s, group);
	u32 offset;

	if (block == SFTL_NOWHERE)
		return true;
	for (offset = 0; offset < pages; offset++) {
		u32 ppn = block * pages + offset;
		u32 page = group * pages + offset;

		if (s->newest[page] != SFTL_NOWHERE && s->newest[page] != ppn)
			return false;
		if (s->found[ppn].page != SFTL_MAX_PAGES && s->found[ppn].page != page)
			return false;
	}
	return !s->torn[block];
}

static int copy_group(struct sftl_scan *s, u32 group, u32 to_block)
{
	u32 pages = s->flash->pages_per_block;
	u32 offset;
	int err = 0;

	for (offset = 0; offset < pages && !err; offset++) {
		struct sftl_tag tag = { .page = group * pages + offset, .copied = true };

		if (s->newest[tag.page] == SFTL_NOWHERE)
			continue;
		tag.sequence = ++s->highest_sequence;
		err = sftl_copy_page(s, s->newest[tag.page], to_block * pages + offset, tag);
	}
	return err;
}

static void adopt(struct sftl_scan *s, u32 group, u32 block)
{
	u32 pages = s->flash->pages_per_block;
	u32 offset;

	for (offset = 0; offset < pages; offset++) {
		u32 *newest = &s->newest[group * pages + offset];

		if (*newest == SFTL_NOWHERE)
			continue;
		s->newest_pages[*newest / pages]--;
		*newest = block * pages + offset;
		s->found[*newest].page = group * pages + offset;
		s->newest_pages[block]++;
		s->programmed[block] = offset + 1;
	}
}

int sftl_merge_groups(struct sftl_scan *s, u64 *merged)
{
	u32 groups = s->pages / s->flash->pages_per_block;
	u32 group, block;
	int err = 0;

	for (group = 0; group < groups && !err; group++) {
		if (in_order(s, group))
			continue;
		err = sftl_copy_to_fresh_block(s, copy_group, group, &block);
		if (!err)
			adopt(s, group, block);
		++*merged;
	}
	return err;
}
