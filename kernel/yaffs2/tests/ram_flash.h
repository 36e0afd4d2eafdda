/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A NAND flash of RAM that holds its user to the rules: pages in order, each once between two erases, erase before write;
 * a breach ends the program. Faults by seed: bad blocks, failing programs and erases, flipped bits, a power cut that tears
 * the operation at hand.
 */
#ifndef RAM_FLASH_H
#define RAM_FLASH_H

#include "../core/flash.h"

/* Whether the spare area was programmed a second time, and how that went */
enum ram_mark { RAM_UNMARKED, RAM_MARKED, RAM_MARK_FAILED, RAM_MARK_TORN };

enum ram_page { RAM_ERASED, RAM_WRITTEN, RAM_TORN };

struct ram_flash {
	struct y2_geometry geometry;
	u8 *data, *oob;
	u8 *page_state;		/* enum ram_page */
	u8 *data_lost;		/* a page whose data is beyond correction */
	u8 *marked;		/* enum ram_mark */
	u8 *bad;
	u32 *next_page;		/* of a block */
	u64 random;
	u64 operations;		/* programs and erases so far */
	u64 cut_at;		/* the operation during which the power fails; 0: never */
	bool off;
	bool lenient;		/* a write that breaks the rules only fails */
	u32 fail_program_per_million, fail_erase_per_million, flip_per_million;
	u64 failures, marks;
	u64 marks_again;	/* third programs of a spare area, where nothing was left to tell of the second */
	bool torn_erase;	/* the cut came during an erase */
};

extern const struct y2_flash_ops ram_flash_ops;

struct ram_flash *ram_flash_new(const struct y2_geometry *geometry, u64 seed);
void ram_flash_free(struct ram_flash *flash);
void ram_flash_power_on(struct ram_flash *flash);
u32 ram_random(u64 *state, u32 below);

#endif
