/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flash in memory, for tests: keeps the chip's rules, fails by chance, and loses its power in the middle of an
 * operation: then some bits are programmed, or erased, and others not yet. Its ECC is as good as that of a chip with
 * small pages.
 */
#ifndef MEMORY_FLASH_H
#define MEMORY_FLASH_H

#include "soft_flash.h"

struct memory_page {
	u8 *stored;
	bool programmed;
};

struct memory_flash {
	struct sftl_flash flash;
	struct memory_page *pages;
	u8 *content;
	bool *bad;
	u64 random;

	/* Of 2^16 operations so many fail */
	u32 program_failures;
	u32 erase_failures;
	u32 wrong_bits;		/* of 2^16 programs so many make a bit of the page before them turn */

	struct memory_page *newest;

	u64 reads;
	u64 failing_read;	/* this one fails with -EIO; 0: none */
	u64 operations;		/* programs and erases so far */
	u64 cut_at;		/* the power goes during this one; 0: never */
	bool off;
	u64 violations;
};

void memory_flash_make(struct memory_flash *f, u32 blocks, u32 pages_per_block, u32 page_bytes, u64 seed);
void memory_flash_free(struct memory_flash *f);
u64 memory_flash_random(struct memory_flash *f);

/* Turns a bit of what is stored of the page that was programmed last but so many, of its data or of its spare area */
void memory_flash_turn_bit(struct memory_flash *f, u32 pages_before, bool spare);

/* Power is back */
void memory_flash_on(struct memory_flash *f);

#endif
