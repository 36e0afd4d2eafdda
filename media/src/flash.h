/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A flash device: cuts requests into pages and sends them over the host link to the translation layer (ftl.h), which
 * finds them places on the dies (nand.h).
 *
 * Simplification: no volatile cache, so a write is done when its last page is programmed.
 */
#ifndef FB_FLASH_H
#define FB_FLASH_H

#include "fb_medium.h"
#include "ftl.h"
#include "nand.h"

/* Follows from the parameters */
struct fb_flash {
	struct fb_nand nand;
	struct fb_ftl_layout ftl;
};

bool fb_flash_check(const struct fb_params *params, struct fb_complaint *complaint);
u64 fb_flash_state_bytes(const struct fb_params *params);
void fb_flash_init(struct fb_medium *m);
bool fb_flash_undamaged(const struct fb_medium *m);
void fb_flash_power_on(struct fb_medium *m);
u64 fb_flash_submit(struct fb_medium *m, const struct fb_request *request, u64 command_done_ns);
const char *fb_flash_verify(const struct fb_medium *m);

#endif
