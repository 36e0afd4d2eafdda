/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A flash device: controller, host link, channels and dies, and the time that operations on them take. Which page holds
 * what is the translation layer's business (ftl.h).
 *
 * Simplifications: no volatile cache, so a write is done when its last page is programmed; a die has one page register,
 * so it is occupied from the start of a transfer into it to the end of the program, and from the start of a read to the
 * end of the transfer out of it; the spare area takes no transfer time; every page of a block takes the same time.
 */
#ifndef FB_FLASH_H
#define FB_FLASH_H

#include "fb_medium.h"
#include "ftl.h"
#include "timeline.h"

struct fb_die {
	u64 free_ns;
	struct fb_ftl_die ftl;
};

/*
 * Where the tables lie, in bytes from the start of the state, and how large they are for each die. Follows from the
 * parameters.
 */
struct fb_flash_layout {
	u64 dies_offset;
	u64 channels_offset;
	u64 blocks_offset;
	u64 map_offset;
	u64 owner_offset;
	u64 end_offset;
	u64 block_records_per_die;	/* blocks and list heads */
	u64 logical_pages_per_die;
	u64 physical_pages_per_die;
};

struct fb_flash {
	struct fb_flash_layout layout;
};

bool fb_flash_check(const struct fb_params *params, struct fb_complaint *complaint);
struct fb_flash_layout fb_flash_layout(const struct fb_params *params);
void fb_flash_init(struct fb_medium *m);
bool fb_flash_undamaged(const struct fb_medium *m);
void fb_flash_power_on(struct fb_medium *m);
u64 fb_flash_submit(struct fb_medium *m, const struct fb_request *request, u64 command_done_ns);

/*
 * One operation on a die, not before ready_ns; they return when it is done. Data of a read is then in the controller.
 */
u64 fb_flash_read(struct fb_medium *m, u32 die, u64 ready_ns, u64 transfer_bytes);
u64 fb_flash_program(struct fb_medium *m, u32 die, u64 ready_ns);
u64 fb_flash_erase(struct fb_medium *m, u32 die, u64 ready_ns);

#endif
