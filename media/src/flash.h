/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A flash device: cuts requests into pages and sends them over the host link to the translation layer (ftl.h), which
 * maps them to flash pages on the dies (nand.h). Without a write buffer, a write is done when its last page is
 * programmed.
 */
#ifndef FB_FLASH_H
#define FB_FLASH_H

#include "fb_medium.h"
#include "ftl.h"
#include "nand.h"
#include "read_ahead.h"
#include "write_buffer.h"

#define FB_MAX_LANES 64

struct fb_flash {
	struct fb_nand nand;
	struct fb_ftl_layout ftl;
	struct fb_write_buffer buffer;
	struct fb_read_ahead ahead;
	u64 write_bytes;		/* of the current write */
	u64 unlogged;			/* 1: something was written since the last journal write */
	u64 log_die;			/* the die of the journal's next unit */
	u64 lane_free_ns[FB_MAX_LANES];
	u64 write_lane_free_ns[FB_MAX_LANES];
};

#endif
