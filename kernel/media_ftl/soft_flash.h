/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The flash below a software translation layer, as its driver presents it: erase blocks of pages,
 * with a few bytes beside each page that are programmed and read with it.
 *
 * Functions return 0 or a negative errno. -EBADMSG: the read was uncorrectable. -EUCLEAN: the read
 * is good, but needed about as many corrections as the code can do.
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
	u32 blocks;		/* including bad ones */
	u32 pages_per_block;
	u32 page_bytes;

	bool (*is_bad)(void *context, u32 block);
	void (*mark_bad)(void *context, u32 block);
	int (*erase)(void *context, u32 block);

	/* Each page once between erases, in order. Unwanted data is NULL. */
	int (*program)(void *context, u32 block, u32 page, const void *data,
		       const u8 spare[SFTL_SPARE_BYTES]);
	int (*read)(void *context, u32 block, u32 page, void *data, u8 spare[SFTL_SPARE_BYTES]);

	/* Zeroed memory, or NULL */
	void *(*allocate)(size_t bytes);
	void (*release)(void *memory);
};

/* A read in which a corrected page counts as good */
static inline int sftl_flash_read(const struct sftl_flash *flash, u32 block, u32 page, void *data,
				  u8 spare[SFTL_SPARE_BYTES])
{
	int err = flash->read(flash->context, block, page, data, spare);

	return err == -EUCLEAN ? 0 : err;
}

#endif
