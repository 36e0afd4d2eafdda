/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A flash device: cuts requests into pages and sends them over the host link to the translation layer (ftl.h), which
 * finds them places on the dies (nand.h). Without a write buffer a write is done when its last page is programmed.
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
	u64 write_bytes;		/* of the write at hand */
	u64 lane_free_ns[FB_MAX_LANES];
	u64 write_lane_free_ns[FB_MAX_LANES];
};

bool fb_flash_check(const struct fb_params *params, struct fb_complaint *complaint);
u64 fb_flash_state_bytes(const struct fb_params *params);
void fb_flash_init(struct fb_medium *m);
bool fb_flash_undamaged(const struct fb_medium *m);
void fb_flash_power_on(struct fb_medium *m);

/* After a power cut the layer scans the dies, and half-erased blocks are erased again; returns how long that takes */
u64 fb_flash_restart(struct fb_medium *m);

/* The controller takes up a request, not before ready_ns, in the lane that is free first; returns when it is through */
u64 fb_flash_take_lane(struct fb_medium *m, enum fb_op op, u64 ready_ns);
void fb_flash_expect(const struct fb_medium *m, const struct fb_request *request, u32 step);
u64 fb_flash_submit(struct fb_medium *m, const struct fb_request *request, u64 command_done_ns);
const char *fb_flash_verify(const struct fb_medium *m);

#endif
