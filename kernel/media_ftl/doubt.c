// SPDX-License-Identifier: GPL-2.0-only
#include "doubt.h"
#include "tag.h"

#define MOST_TRIES 4

static int copy_page(struct sftl_scan *s, u32 from, u32 to)
{
	u32 pages = s->flash->pages_per_block;
	struct sftl_tag tag = { 0 };
	u8 spare[SFTL_SPARE_BYTES];
	int err = sftl_flash_read(s->flash, from / pages, from % pages, s->buffer, spare);

	if (err && err != -EBADMSG)
		return err;
	sftl_decode(spare, &tag);
	tag.lost = tag.lost || err;
	sftl_encode(&tag, spare);
	return s->flash->program(s->flash->context, to / pages, to % pages, s->buffer, spare);
}

static int copy_pages(struct sftl_scan *s, u32 from, u32 to)
{
	u32 pages = s->flash->pages_per_block;
	u32 page;
	int err = 0;

	for (page = 0; page < s->programmed[from] && !err; page++) {
		u32 place = from * pages + page;

		if (s->found[place].page != SFTL_MOST_PAGES)
			err = copy_page(s, place, to * pages + page);
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

static int move(struct sftl_scan *s, u32 from)
{
	u32 tries, to;
	int err = -EIO;

	for (tries = 0; tries < MOST_TRIES && err; tries++) {
		err = sftl_scan_fresh_block(s, &to);
		if (err)
			return err;
		err = copy_pages(s, from, to);
		if (err)
			s->flash->mark_bad(s->flash->context, to);
	}
	if (!err)
		adopt(s, from, to);
	return err;
}

int sftl_leave_doubtful_block(struct sftl_scan *s)
{
	u32 block;
	int err;

	if (s->doubtful == SFTL_NOWHERE)
		return 0;
	block = s->doubtful / s->flash->pages_per_block;
	err = s->newest_pages[block] ? move(s, block) : 0;
	if (err)
		return err;
	sftl_scan_erase(s, block);
	return sftl_scan_newest(s);
}
