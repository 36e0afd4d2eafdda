// SPDX-License-Identifier: GPL-2.0-only
/* Reads the tags of all pages, and separates current pages from the traces of a power cut */
#include "scan.h"
#include "tag.h"

static void *room(const struct sftl_flash *flash, size_t count, size_t bytes)
{
	return flash->allocate(count * bytes);
}

static int begin(struct sftl_scan *s, const struct sftl_flash *flash, u32 pages, bool in_order)
{
	size_t ppns = (size_t)flash->blocks * flash->pages_per_block;

	*s = (struct sftl_scan) {
		.flash = flash, .pages = pages, .in_order = in_order, .maybe_torn = SFTL_NOWHERE,
	};
	s->found = room(flash, ppns, sizeof(*s->found));
	s->programmed = room(flash, flash->blocks, sizeof(*s->programmed));
	s->torn = room(flash, flash->blocks, sizeof(*s->torn));
	s->newest = room(flash, pages, sizeof(*s->newest));
	s->newest_pages = room(flash, flash->blocks, sizeof(*s->newest_pages));
	s->buffer = room(flash, 1, flash->page_bytes);
	if (!s->found || !s->programmed || !s->torn || !s->newest || !s->newest_pages || !s->buffer)
		return -ENOMEM;
	return 0;
}

void sftl_scan_end(struct sftl_scan *s)
{
	void *parts[] = { s->found, s->programmed, s->torn, s->newest, s->newest_pages, s->buffer };
	u32 i;

	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i])
			s->flash->release(parts[i]);
}

static void drop(struct sftl_scan *s, u32 ppn)
{
	s->found[ppn].page = SFTL_MAX_PAGES;
	s->torn[ppn / s->flash->pages_per_block] = true;
}

/* Any other error is the flash's */
static bool is_of_page(int err)
{
	return !err || err == -EBADMSG || err == -EUCLEAN;
}

static int read_data(struct sftl_scan *s, u32 ppn)
{
	u32 pages = s->flash->pages_per_block;
	u8 spare[SFTL_SPARE_BYTES];

	return s->flash->read(s->flash->context, ppn / pages, ppn % pages, s->buffer, spare);
}

/* Records the tag if it is plausible; else it counts as illegible */
static enum sftl_tag_kind note(struct sftl_scan *s, u32 ppn, const u8 *spare, u64 *last_sequence)
{
	struct sftl_tag tag;
	enum sftl_tag_kind kind = sftl_decode(spare, &tag);

	if (kind == SFTL_ERASED)
		return kind;
	if (kind == SFTL_ILLEGIBLE || tag.page >= s->pages || tag.sequence <= *last_sequence) {
		drop(s, ppn);
		return SFTL_ILLEGIBLE;
	}
	*last_sequence = tag.sequence;
	s->found[ppn] = (struct sftl_found){
		.page = tag.page,
		.copied = tag.copied,
		.corrected = tag.corrected,
		.sequence = tag.sequence,
	};
	return kind;
}

static void note_maybe_torn(struct sftl_scan *s, u32 ppn)
{
	if (s->maybe_torn == SFTL_NOWHERE ||
	    s->found[s->maybe_torn].sequence < s->found[ppn].sequence)
		s->maybe_torn = ppn;
}

static int check_last(struct sftl_scan *s, u32 block)
{
	u32 last = block * s->flash->pages_per_block + s->programmed[block] - 1;
	int err;

	if (!s->programmed[block] || s->found[last].page == SFTL_MAX_PAGES)
		return 0;
	err = read_data(s, last);
	if (!err || !is_of_page(err))
		return err;
	note_maybe_torn(s, last);
	if (err == -EBADMSG)
		drop(s, last);
	return 0;
}

static bool erased(const u8 *bytes, u32 count)
{
	while (count && *bytes == 0xff) {
		bytes++;
		count--;
	}
	return !count;
}

/*
 * A page may be half programmed although its tag looks erased: reads the first page behind the last
 * programmed one
 */
static int look_behind(struct sftl_scan *s, u32 block)
{
	const struct sftl_flash *flash = s->flash;
	u8 spare[SFTL_SPARE_BYTES];
	int err;

	if (!s->programmed[block] || s->programmed[block] == flash->pages_per_block)
		return 0;
	err = flash->read(flash->context, block, s->programmed[block], s->buffer, spare);
	if (!is_of_page(err))
		return err;
	if (err || !erased(s->buffer, flash->page_bytes) || !erased(spare, SFTL_SPARE_BYTES))
		s->torn[block] = true;
	return 0;
}

static int drop_unless_clean(struct sftl_scan *s, u32 ppn)
{
	int err = read_data(s, ppn);

	if (!is_of_page(err))
		return err;
	if (err)
		drop(s, ppn);
	return 0;
}

static int check_all(struct sftl_scan *s, u32 block)
{
	u32 ppn = block * s->flash->pages_per_block;
	u32 end = ppn + s->programmed[block];
	int err = 0;

	for (; ppn < end && !err; ppn++)
		if (s->found[ppn].page != SFTL_MAX_PAGES)
			err = drop_unless_clean(s, ppn);
	return err;
}

/* Statistics of a block's tags */
struct impression {
	u32 illegible;		/* the first illegible one, or the number of pages */
	u32 corrected;		/* the last corrected one */
	u32 corrections;
};

static int read_tags(struct sftl_scan *s, u32 block, struct impression *impression)
{
	u32 pages = s->flash->pages_per_block;
	u64 last_sequence = 0;
	u32 page;

	*impression = (struct impression) { .illegible = pages };
	for (page = 0; page < pages; page++) {
		u8 spare[SFTL_SPARE_BYTES];
		enum sftl_tag_kind kind;
		int err = sftl_flash_read(s->flash, block, page, NULL, spare);

		if (err && err != -EBADMSG)
			return err;
		kind = note(s, block * pages + page, spare, &last_sequence);
		if (kind != SFTL_ERASED)
			s->programmed[block] = page + 1;
		else if (s->in_order && !page)
			return 0; /* a torn erase may have left something, but nothing of use */
		if (kind == SFTL_ILLEGIBLE && impression->illegible == pages)
			impression->illegible = page;
		if (kind == SFTL_TAGGED && s->found[block * pages + page].corrected) {
			impression->corrected = page;
			impression->corrections++;
		}
	}
	return 0;
}

static int scan_block(struct sftl_scan *s, u32 block)
{
	u32 pages = s->flash->pages_per_block;
	struct impression seen;
	int err = read_tags(s, block, &seen);
	bool legible = seen.illegible == pages;

	if (err)
		return err;
	if (seen.illegible + 1 < s->programmed[block] || seen.corrections > 1 ||
	    (seen.corrections && !legible))
		return check_all(s, block);
	if (seen.corrections)
		err = drop_unless_clean(s, block * pages + seen.corrected);
	if (!err)
		err = check_last(s, block);
	return err ? err : look_behind(s, block);
}

static void nothing_in(struct sftl_scan *s, u32 block)
{
	u32 ppn = block * s->flash->pages_per_block;
	u32 end = ppn + s->flash->pages_per_block;

	for (; ppn < end; ppn++)
		s->found[ppn] = (struct sftl_found) { .page = SFTL_MAX_PAGES };
}

void sftl_scan_erase(struct sftl_scan *s, u32 block)
{
	if (s->flash->erase(s->flash->context, block))
		s->flash->mark_bad(s->flash->context, block);
	nothing_in(s, block);
	s->programmed[block] = 0;
	s->torn[block] = false;
}

int sftl_scan_fresh_block(struct sftl_scan *s, u32 *block)
{
	for (*block = 0; *block < s->flash->blocks; ++*block) {
		if (s->newest_pages[*block] || s->flash->is_bad(s->flash->context, *block))
			continue;
		sftl_scan_erase(s, *block);
		if (!s->flash->is_bad(s->flash->context, *block))
			return 0;
	}
	return -ENOSPC;
}

static int scan_blocks(struct sftl_scan *s)
{
	u32 block;
	int err = 0;

	for (block = 0; block < s->flash->blocks && !err; block++) {
		nothing_in(s, block);
		if (!s->flash->is_bad(s->flash->context, block))
			err = scan_block(s, block);
	}
	return err;
}

/*
 * A torn page's number may be anything, except that of the interrupted program, which is the next
 * one
 */
static void find_highest_sequence(struct sftl_scan *s)
{
	u32 ppns = s->flash->blocks * s->flash->pages_per_block;
	u64 highest = 0;
	u32 ppn;

	for (ppn = 0; ppn < ppns; ppn++)
		if (s->found[ppn].page != SFTL_MAX_PAGES && s->found[ppn].sequence > highest)
			highest = s->found[ppn].sequence;
	if (s->maybe_torn != SFTL_NOWHERE && s->found[s->maybe_torn].sequence >= highest)
		drop(s, s->maybe_torn);
	else
		s->maybe_torn = SFTL_NOWHERE;
	s->highest_sequence = highest + 1;
}

static bool is_last(const struct sftl_scan *s, u32 ppn)
{
	u32 pages = s->flash->pages_per_block;

	return ppn % pages + 1 == s->programmed[ppn / pages];
}

/*
 * Two copies of the same program: a block was being copied. A clean copy will do. A corrected one
 * may be a truncated copy if it is the last of its block.
 */
static int settle(struct sftl_scan *s, u32 *newest, u32 ppn)
{
	int first = read_data(s, *newest), second;

	if (!first || !is_of_page(first))
		return first;
	second = read_data(s, ppn);
	if (!is_of_page(second))
		return second;
	if (first == -EBADMSG)
		drop(s, *newest);
	if (first == -EBADMSG || !second || (second == -EUCLEAN && is_last(s, *newest)))
		*newest = ppn;
	return 0;
}

int sftl_scan_newest(struct sftl_scan *s)
{
	u32 ppns = s->flash->blocks * s->flash->pages_per_block;
	u32 ppn, page;
	int err = 0;

	for (page = 0; page < s->pages; page++)
		s->newest[page] = SFTL_NOWHERE;
	for (ppn = 0; ppn < ppns && !err; ppn++) {
		const struct sftl_found *found = &s->found[ppn];
		u32 *newest;

		if (found->page == SFTL_MAX_PAGES)
			continue;
		newest = &s->newest[found->page];
		if (*newest == SFTL_NOWHERE || s->found[*newest].sequence < found->sequence)
			*newest = ppn;
		else if (s->found[*newest].sequence == found->sequence)
			err = settle(s, newest, ppn);
	}
	for (page = 0; page < s->flash->blocks; page++)
		s->newest_pages[page] = 0;
	for (page = 0; page < s->pages; page++)
		if (s->newest[page] != SFTL_NOWHERE)
			s->newest_pages[s->newest[page] / s->flash->pages_per_block]++;
	return err;
}

int sftl_scan(struct sftl_scan *s, const struct sftl_flash *flash, u32 pages, bool in_order)
{
	int err = begin(s, flash, pages, in_order);

	if (!err)
		err = scan_blocks(s);
	if (err)
		return err;
	find_highest_sequence(s);
	return sftl_scan_newest(s);
}
