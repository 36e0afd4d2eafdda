/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The content of a raw chip's pages before the programs and erases that may still be under way, so that a cut can tear
 * them. It lies in the bus's registers: first one page for each plane that is loaded or read, then the old content of
 * each plane's last erased block, then the old content of the pages of each plane's last two programs.
 */
#ifndef FB_CHIP_BEFORE_H
#define FB_CHIP_BEFORE_H

#include "fb_chip_bus.h"

u32 fb_bus_plane(const struct fb_chip_bus *bus, u32 page);

/* The page's content before its block was erased; the block's other pages follow */
u8 *fb_bus_erased(const struct fb_chip_bus *bus, u32 page);

/* Returns the place for the page's content before its next program */
u8 *fb_bus_take_before(struct fb_chip_bus *bus, u32 page);

/* The old content of a page whose program is under way */
const u8 *fb_bus_before(const struct fb_chip_bus *bus, u32 page);

#endif
