/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A raw NAND chip within the state block (fb_chip.h); blocks are those of nand.h */
#ifndef CHIP_H
#define CHIP_H

#include "fb_chip.h"
#include "nand.h"

#define FB_CHIP_NO_PAGE 0xffffffffu

/* An operation of the array, with all its planes */
struct fb_chip_work {
	u64 begin_ns;
	u64 end_ns;
	u32 op;				/* enum fb_chip_op */
	u32 planes;
	struct fb_chip_span span[FB_CHIP_PLANES];
};

struct fb_chip {
	u64 blocks_offset;		/* struct fb_nand_block */
	u64 pasts_offset;		/* struct fb_nand_past, of each block */
	u64 pages_offset;		/* a byte each: the page's program count; its spare area's in the upper half */
	u64 array_free_ns;
	u64 ready_ns;			/* R/B# goes high */
	u64 breach;			/* enum fb_chip_breach */
	u64 failed;			/* bit 0: the last program or erase; bit 1: the one before */
	u64 loaded;			/* 1 + page in the data register of plane 0, for a cached read; 0: none */
	struct fb_chip_work queued;
	struct fb_chip_work work[2];	/* the last operation, and the one before, which the array may still execute */
};

/* For the other files of the chip */
struct fb_nand_block *fb_chip_block(const struct fb_medium *m, u32 block);
struct fb_nand_past *fb_chip_past(const struct fb_medium *m, u32 block);
u8 *fb_chip_programs(const struct fb_medium *m, u32 page);

/* 0: lower page; 1: middle or upper, ... */
u32 fb_chip_page_kind(const struct fb_params *params, u32 page);

#endif
