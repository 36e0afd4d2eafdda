/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A raw chip on a bus of its own, with content; cycles, and pages of bytes that are known */
#ifndef CHIP_BED_H
#define CHIP_BED_H

#include "fb_chip_bus.h"
#include "samples.h"
#include "test.h"

struct chip_bed {
	struct fb_params params;
	struct fb_medium *chip;
	u8 *content;
	u8 *registers;
	u64 now_ns;
	struct fb_chip_bus bus;
};

void bed_set_up(struct chip_bed *b, struct fb_params params);
void bed_tear_down(struct chip_bed *b);

/* Cycles, all at the bed's now_ns: a command, so many of an address, a byte that is read */
void command(struct chip_bed *b, u8 command);
void addresses(struct chip_bed *b, u32 count, u64 value);
u8 next_byte(struct chip_bed *b);

/* Two cycles of column and three of row are the most; these chips have two of row */
void page_address(struct chip_bed *b, u32 page, u32 column);

/* Waits until the chip is ready; returns how long that took */
u64 wait_ready(struct chip_bed *b);

/* A whole page of bytes that follow from its number */
void expected_page(const struct chip_bed *b, u32 page, u8 *bytes);

/* Has them in the chip's register, with all but the command that programs them */
void load_page(struct chip_bed *b, u32 page);

/* They are what the bus reads next */
void check_page(struct chip_bed *b, u32 page);

#endif
