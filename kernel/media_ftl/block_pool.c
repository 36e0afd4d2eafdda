// SPDX-License-Identifier: GPL-2.0-only
/* Good blocks for the core's blocks: a spare replaces a failing block, with its content */
#include "block_pool.h"
#include "tag.h"

static void retire(struct sftl *l, u32 physical)
{
	l->flash.mark_bad(l->flash.context, physical);
	l->statistics.bad_blocks++;
}

/* Takes an erased spare block; -EROFS if there is none */
static int take_spare(struct sftl *l, u32 *physical)
{
	while (l->spare_count) {
		*physical = l->spares[--l->spare_count];
		if (!l->flash.erase(l->flash.context, *physical)) {
			l->unclean[*physical] = 0;
			return 0;
		}
		retire(l, *physical);
	}
	l->broken = true;
	return -EROFS;
}

/*
 * A page that cannot be read is copied as lost, because its copy would look sound. An illegible tag
 * stays illegible.
 */
static int copy_page(struct sftl *l, u32 from, u32 to, u32 page)
{
	u8 spare[SFTL_SPARE_BYTES];
	struct sftl_tag tag;
	int err = sftl_flash_read(&l->flash, from, page, l->rescue, spare);
	enum sftl_tag_kind kind = sftl_decode(spare, &tag);

	if (kind == SFTL_ERASED)
		return 0;
	if (kind == SFTL_TAGGED && err) {
		tag.lost = true;
		sftl_encode(&tag, spare);
		l->statistics.lost_pages++;
	}
	return l->flash.program(l->flash.context, to, page, l->rescue, spare);
}

static int copy_pages(struct sftl *l, u32 from, u32 to, u32 pages)
{
	u32 page;
	int err = 0;

	for (page = 0; page < pages && !err; page++)
		err = copy_page(l, from, to, page);
	return err;
}

/* Moves the first pages of a block of the core to a spare */
static int replace(struct sftl *l, u32 block, u32 pages)
{
	u32 failed = l->physical[block];
	u32 spare;
	int err;

	for (;;) {
		err = take_spare(l, &spare);
		if (err)
			return err;
		if (!copy_pages(l, failed, spare, pages))
			break;
		retire(l, spare);
	}
	l->physical[block] = spare;
	retire(l, failed);
	return 0;
}

int sftl_pool_erase(struct sftl *l, u32 block)
{
	l->unclean[l->physical[block]] = 0;
	if (!l->flash.erase(l->flash.context, l->physical[block]))
		return 0;
	return replace(l, block, 0);
}

int sftl_pool_program(struct sftl *l, u32 block, u32 page, const void *data,
		      const u8 spare[SFTL_SPARE_BYTES])
{
	int err = 0;

	if (l->unclean[l->physical[block]])
		err = sftl_pool_erase(l, block);
	while (!err && l->flash.program(l->flash.context, l->physical[block], page, data, spare))
		err = replace(l, block, page);
	return err;
}

int sftl_pool_read(struct sftl *l, u32 block, u32 page, void *data, u8 spare[SFTL_SPARE_BYTES])
{
	return sftl_flash_read(&l->flash, l->physical[block], page, data, spare);
}
