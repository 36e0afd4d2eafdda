// SPDX-License-Identifier: GPL-2.0-only
#include "scan.h"
#include "tag.h"

static void *room(const struct sftl_flash *flash, size_t count, size_t bytes)
{
	return flash->allocate(count * bytes);
}

static int begin(struct sftl_scan *s, const struct sftl_flash *flash, u32 pages)
{
	size_t places = (size_t)flash->blocks * flash->pages_per_block;

	*s = (struct sftl_scan) { .flash = flash, .pages = pages };
	s->found = room(flash, places, sizeof(*s->found));
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

static void drop(struct sftl_scan *s, u32 place)
{
	s->found[place].page = SFTL_MOST_PAGES;
	s->torn[place / s->flash->pages_per_block] = true;
}

/* 0, or -EBADMSG, or another error */
static int read_data(struct sftl_scan *s, u32 place)
{
	u32 pages = s->flash->pages_per_block;
	u8 spare[SFTL_SPARE_BYTES];

	return s->flash->read(s->flash->context, place / pages, place % pages, s->buffer, spare);
}

static int drop_if_unreadable(struct sftl_scan *s, u32 place)
{
	int err = read_data(s, place);

	if (err == -EBADMSG)
		drop(s, place);
	return err == -EBADMSG ? 0 : err;
}

/* True: the page is programmed. What its tag says is noted, if it says something that can be. */
static bool note(struct sftl_scan *s, u32 place, const u8 *spare, u64 *last_sequence)
{
	struct sftl_found *found = &s->found[place];
	struct sftl_tag tag;
	enum sftl_tag_kind kind = sftl_decode(spare, &tag);

	found->page = SFTL_MOST_PAGES;
	if (kind == SFTL_ERASED)
		return false;
	if (kind == SFTL_ILLEGIBLE || tag.page >= s->pages || tag.sequence <= *last_sequence) {
		drop(s, place);
		return true;
	}
	*last_sequence = tag.sequence;
	*found = (struct sftl_found) { tag.page, tag.copied, tag.sequence };
	return true;
}

static int check_last(struct sftl_scan *s, u32 block)
{
	u32 last = block * s->flash->pages_per_block + s->programmed[block] - 1;

	return s->programmed[block] ? drop_if_unreadable(s, last) : 0;
}

/* A page may be half programmed and its tag still look erased: the first behind the last that is programmed is read */
static int look_behind(struct sftl_scan *s, u32 block)
{
	u32 pages = s->flash->pages_per_block;
	const u8 *data = s->buffer;
	int err;
	u32 i;

	if (!s->programmed[block] || s->programmed[block] == pages)
		return 0;
	err = read_data(s, block * pages + s->programmed[block]);
	if (err && err != -EBADMSG)
		return err;
	for (i = 0; i < s->flash->page_bytes && data[i] == 0xff; i++)
		;
	if (err || i < s->flash->page_bytes)
		s->torn[block] = true;
	return 0;
}

static int check_all(struct sftl_scan *s, u32 block)
{
	u32 place = block * s->flash->pages_per_block;
	u32 end = place + s->programmed[block];
	int err = 0;

	for (; place < end && !err; place++)
		if (s->found[place].page != SFTL_MOST_PAGES)
			err = drop_if_unreadable(s, place);
	return err;
}

static int scan_block(struct sftl_scan *s, u32 block)
{
	u32 pages = s->flash->pages_per_block;
	u64 last_sequence = 0;
	u32 page;
	int err;

	for (page = 0; page < pages; page++) {
		u8 spare[SFTL_SPARE_BYTES];

		err = s->flash->read(s->flash->context, block, page, NULL, spare);
		if (err && err != -EBADMSG)
			return err;
		if (note(s, block * pages + page, spare, &last_sequence))
			s->programmed[block] = page + 1;
	}
	if (s->torn[block])
		return check_all(s, block);
	err = check_last(s, block);
	return err ? err : look_behind(s, block);
}

static void nothing_in(struct sftl_scan *s, u32 block)
{
	u32 place = block * s->flash->pages_per_block;
	u32 end = place + s->flash->pages_per_block;

	for (; place < end; place++)
		s->found[place] = (struct sftl_found) { .page = SFTL_MOST_PAGES };
}

void sftl_scan_forget_block(struct sftl_scan *s, u32 block)
{
	nothing_in(s, block);
	s->programmed[block] = 0;
	s->torn[block] = false;
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

static void find_highest_sequence(struct sftl_scan *s)
{
	u32 places = s->flash->blocks * s->flash->pages_per_block;
	u32 place;

	for (place = 0; place < places; place++)
		if (s->found[place].sequence > s->highest_sequence)
			s->highest_sequence = s->found[place].sequence;
}

/* Two copies of the same program: a block that failed was being copied. Either will do, if it can be read. */
static int settle(struct sftl_scan *s, u32 *newest, u32 place)
{
	int err = read_data(s, *newest);

	if (err == -EBADMSG) {
		drop(s, *newest);
		*newest = place;
		err = 0;
	}
	return err;
}

int sftl_scan_newest(struct sftl_scan *s)
{
	u32 places = s->flash->blocks * s->flash->pages_per_block;
	u32 place, page;
	int err = 0;

	for (page = 0; page < s->pages; page++)
		s->newest[page] = SFTL_NOWHERE;
	for (place = 0; place < places && !err; place++) {
		const struct sftl_found *found = &s->found[place];
		u32 *newest;

		if (found->page == SFTL_MOST_PAGES)
			continue;
		newest = &s->newest[found->page];
		if (*newest == SFTL_NOWHERE || s->found[*newest].sequence < found->sequence)
			*newest = place;
		else if (s->found[*newest].sequence == found->sequence)
			err = settle(s, newest, place);
	}
	for (page = 0; page < s->flash->blocks; page++)
		s->newest_pages[page] = 0;
	for (page = 0; page < s->pages; page++)
		if (s->newest[page] != SFTL_NOWHERE)
			s->newest_pages[s->newest[page] / s->flash->pages_per_block]++;
	return err;
}

int sftl_scan(struct sftl_scan *s, const struct sftl_flash *flash, u32 pages)
{
	int err = begin(s, flash, pages);

	if (!err)
		err = scan_blocks(s);
	find_highest_sequence(s);
	return err ? err : sftl_scan_newest(s);
}
