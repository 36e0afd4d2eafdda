/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The flash under the file system: what it must be able to do. The core knows no MTD, the tests
 * bring a flash of RAM.
 */
#ifndef Y2_FLASH_H
#define Y2_FLASH_H

#include "platform.h"

struct y2_geometry {
	u32 page_bytes;
	u32 oob_bytes;		/* of the spare area, what is free for tags */
	u32 chunks_per_block;
	u32 blocks;
};

/* What a read found out about the page; a read that got nothing at all returns a negative errno */
enum y2_read {
	Y2_READ_CLEAN,
	Y2_READ_FIXED,	/* bits were corrected: the block wants a refresh */
	Y2_READ_UNFIXED,	/* the buffer holds what was read, beyond correction */
};

/* Of a read's result, or a negative errno: the buffer holds what was written */
static inline bool y2_is_readable(int result)
{
	return result == Y2_READ_CLEAN || result == Y2_READ_FIXED;
}

struct y2_flash_ops {
	/* data or oob may be NULL. The spare area need not be under the data's ECC. */
	int (*read)(void *flash, u32 block, u32 page, u8 *data, u8 *oob);
	/*
	 * Pages of a block come in order, each once between two erases. oob may be NULL. Without
	 * data: a mark is programmed on top of the spare area of a page that is written, once; only
	 * where pages have 512 bytes.
	 */
	int (*write)(void *flash, u32 block, u32 page, const u8 *data, const u8 *oob);
	int (*erase)(void *flash, u32 block);
	int (*mark_bad)(void *flash, u32 block);
	bool (*is_bad)(void *flash, u32 block);
};

#endif
