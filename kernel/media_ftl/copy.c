// SPDX-License-Identifier: GPL-2.0-only
/* Copies pages to a fresh block during a scan */
#include "copy.h"

#define MAX_TRIES 4

int sftl_copy_page(struct sftl_scan *s, u32 from, u32 to, struct sftl_tag tag)
{
	u32 pages = s->flash->pages_per_block;
	struct sftl_tag old = { 0 };
	u8 spare[SFTL_SPARE_BYTES];
	int err = sftl_flash_read(s->flash, from / pages, from % pages, s->buffer, spare);

	if (err && err != -EBADMSG)
		return err;
	sftl_decode(spare, &old);
	tag.lost = old.lost || err;
	sftl_encode(&tag, spare);
	return s->flash->program(s->flash->context, to / pages, to % pages, s->buffer, spare);
}

int sftl_copy_to_fresh_block(struct sftl_scan *s, int (*fill)(struct sftl_scan *, u32, u32),
			     u32 what, u32 *block)
{
	u32 tries;
	int err = -EIO;

	for (tries = 0; tries < MAX_TRIES && err; tries++) {
		err = sftl_scan_fresh_block(s, block);
		if (err)
			return err;
		err = fill(s, what, *block);
		if (err)
			s->flash->mark_bad(s->flash->context, *block);
	}
	return err;
}
