/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A NAND flash of RAM that holds its user to the rules: pages in order, each once between two erases, erase before
 * write; a breach ends the program. Faults by seed: bad blocks, failing programs and erases, wrong bits, a power cut
 * that tears the operation at hand. Data has an ECC of one bit in 256 bytes; it takes some of what is torn for sound,
 * as chips' does.
 */
#ifndef RAM_FLASH_H
#define RAM_FLASH_H

#include "../core/flash.h"

/* Whether the spare area was programmed a second time, and how that went */
enum ram_mark { RAM_UNMARKED, RAM_MARKED, RAM_MARK_FAILED, RAM_MARK_TORN };

enum ram_page { RAM_ERASED, RAM_WRITTEN, RAM_TORN };

#define RAM_NO_PAGE	((size_t)-1)

struct ram_flash {
	struct y2_geometry geometry;
	u8 *data, *oob, *ecc;
	u8 *page_state;		/* enum ram_page */
	u8 *marked;		/* enum ram_mark */
	u8 *bad;
	u32 *next_page;		/* of a block */
	u64 random;
	u64 operations;		/* programs and erases so far */
	u64 cut_at;		/* the operation during which the power fails; 0: never */
	bool off;
	bool lenient;		/* a write that breaks the rules only fails */
	u32 fail_program_per_million, fail_erase_per_million;
	bool fail_bad_marks;	/* a block cannot be marked bad */
	u32 flip_per_million;	/* programs that turn a bit of the page before; not of the last before a cut */
	size_t newest;		/* that page; RAM_NO_PAGE: none since power is on */
	u64 failures, marks;
	u64 marks_again;	/* third programs of a spare area, where nothing was left to tell of the second */
	bool torn_erase;	/* the cut came during an erase */
	size_t torn;		/* the page in whose program the cut came; RAM_NO_PAGE: in none since power is on */
	u8 *meant;		/* the data that was to be there */
};

extern const struct y2_flash_ops ram_flash_ops;

/* Who mounts next cannot know of them: for a mount that ends without a cut, and before what failed was dealt with */
void ram_flash_forget_failed_marks(struct ram_flash *flash);

struct ram_flash *ram_flash_new(const struct y2_geometry *geometry, u64 seed);
void ram_flash_free(struct ram_flash *flash);
void ram_flash_power_on(struct ram_flash *flash);

/* For content that was put past the flash: makes its ECC, or one that says that it cannot be read */
void ram_flash_seal(struct ram_flash *flash, u32 block, u32 page, bool readable);

struct ram_flash *ram_flash_copy(const struct ram_flash *flash);

u32 ram_random(u64 *state, u32 below);

#endif
