/* SPDX-License-Identifier: GPL-2.0-only */
/* The flash below the file system. The core does not know MTD; the tests supply a flash in RAM. */
#ifndef Y2_FLASH_H
#define Y2_FLASH_H

#include "platform.h"

struct y2_geometry {
	u32 page_bytes;
	u32 oob_bytes;		/* spare bytes free for tags */
	u32 chunks_per_block;
	u32 blocks;
};

/* The result of a read; a read without data returns a negative errno */
enum y2_read {
	Y2_READ_CLEAN,
	Y2_READ_FIXED,	/* bits were corrected: the block wants a refresh */
	Y2_READ_UNFIXED,	/* the buffer holds uncorrectable data */
};

/* True if the buffer holds what was written; takes enum y2_read or a negative errno */
static inline bool y2_is_readable(int result)
{
	return result == Y2_READ_CLEAN || result == Y2_READ_FIXED;
}

struct y2_flash_ops {
	/* data or oob may be NULL. The spare area need not be under the data's ECC. */
	int (*read)(void *flash, u32 block, u32 page, u8 *data, u8 *oob);
	/*
	 * Pages of a block are written in order, each once between two erases. oob may be NULL.
	 * Without data, the call programs a mark on top of the spare area of a written page, once;
	 * only with pages of 512 bytes.
	 */
	int (*write)(void *flash, u32 block, u32 page, const u8 *data, const u8 *oob);
	int (*erase)(void *flash, u32 block);
	int (*mark_bad)(void *flash, u32 block);
	bool (*is_bad)(void *flash, u32 block);
};

#endif
