/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What pages of a raw chip held before the programs and erases that may still be under way, so that a cut can tear them.
 * It lies in the bus's registers: a page for each plane that is loaded or read, then what each plane's last block to be
 * erased held, then what the pages of each plane's last two programs held.
 */
#ifndef FB_CHIP_BEFORE_H
#define FB_CHIP_BEFORE_H

#include "fb_chip_bus.h"

u32 fb_bus_plane(const struct fb_chip_bus *bus, u32 page);

/* What this page held before the erase of its block; the pages of the block follow each other */
u8 *fb_bus_erased(const struct fb_chip_bus *bus, u32 page);

/* Where to keep what the page holds, for its next program */
u8 *fb_bus_take_before(struct fb_chip_bus *bus, u32 page);

/* Of a page whose program is under way */
const u8 *fb_bus_before(const struct fb_chip_bus *bus, u32 page);

#endif
