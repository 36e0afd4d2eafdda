/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The flash that a software translation layer runs on, as whoever drives it offers it: erase blocks
 * of pages, and beside each page a few bytes that are programmed and read with it.
 *
 * Functions return 0 or a negative errno. -EBADMSG is a read that could not be corrected, -EUCLEAN
 * a good one that took as many corrections as the code can do, or nearly.
 */
#ifndef SFTL_SOFT_FLASH_H
#define SFTL_SOFT_FLASH_H

#include "fb_types.h"

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/string.h>
#else
#include <errno.h>
#include <string.h>
#endif

#define SFTL_SPARE_BYTES 8

struct sftl_flash {
	void *context;
	u32 blocks;		/* bad ones too */
	u32 pages_per_block;
	u32 page_bytes;

	bool (*is_bad)(void *context, u32 block);
	void (*mark_bad)(void *context, u32 block);
	int (*erase)(void *context, u32 block);

	/* Each page once between erases, in order. Data that the layer does not want is NULL. */
	int (*program)(void *context, u32 block, u32 page, const void *data,
		       const u8 spare[SFTL_SPARE_BYTES]);
	int (*read)(void *context, u32 block, u32 page, void *data, u8 spare[SFTL_SPARE_BYTES]);

	/* Memory, zeroed; NULL if there is none */
	void *(*allocate)(size_t bytes);
	void (*release)(void *memory);
};

/* For those to whom a page that was corrected is a good page */
static inline int sftl_flash_read(const struct sftl_flash *flash, u32 block, u32 page, void *data,
				  u8 spare[SFTL_SPARE_BYTES])
{
	int err = flash->read(flash->context, block, page, data, spare);

	return err == -EUCLEAN ? 0 : err;
}

#endif
