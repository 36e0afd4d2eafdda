/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a device with a translation layer does when its NAND fails (nand_faults.h): it keeps a reserve of blocks,
 * retires bad ones, reads again what it could not correct, and refuses writes when a die's reserve is used up, as
 * the pre-EOL and read-only states of eMMC and SD cards do.
 *
 * Bad blocks and the reserve are counted in blocks of the layer, each of which is a block in every plane. The firmware
 * binds good blocks of the planes together, so bad blocks from the factory take as many as divide them by the planes,
 * rounded up; a block that goes bad later takes those that are bound to it along.
 *
 * Simplifications: the failure that uses up the last of a die's reserve is the last on this medium, so that the
 * firmware can finish what it has under way; what a retry reads is not transferred again.
 */
#ifndef FB_NAND_HEALTH_H
#define FB_NAND_HEALTH_H

#include "fb_medium.h"
#include "nand.h"

/* Blocks of a die's layer that are bad from the factory, and those that stand in for blocks that go bad */
u64 fb_health_bad_blocks(const struct fb_params *params);
u64 fb_health_spare_blocks(const struct fb_params *params);

/* Those that a layer can count on: neither of these */
u64 fb_health_good_blocks(const struct fb_params *params);

/* Whether programs or erases can fail */
static inline bool fb_health_may_fail(const struct fb_params *params)
{
	return params->program_fail_ppb || params->erase_fail_ppb;
}

bool fb_health_check(const struct fb_params *params, struct fb_complaint *complaint);

/* Adds the table of reserves to the state; returns its offset */
u64 fb_health_layout(const struct fb_params *params, u64 *end_offset);

/* Marks the factory's bad blocks and fills the reserves */
void fb_health_init(struct fb_medium *m);

/* Whether the next program of a page, or the next erase of a block, will fail: asked before it is carried out */
bool fb_health_program_fails(const struct fb_medium *m, u32 die, u32 ppn);
bool fb_health_erase_fails(const struct fb_medium *m, u32 die, u32 block);

/* The block is bad from now on; one of its die's reserve stands in for it */
void fb_health_retire(struct fb_medium *m, u32 die, u32 block);

/*
 * A page is read and corrected: returns how many retries that takes. If it cannot be corrected,
 * fb_nand.read_failed is set. Only with ecc_bits.
 */
u32 fb_health_read(struct fb_medium *m, u32 die, u32 ppn);

/* A page of the block is being programmed. Only with ecc_bits. */
void fb_health_date_block(struct fb_medium *m, u32 die, u32 ppn);

/* The block is being erased. Only with ecc_bits. */
void fb_health_forget_reads(struct fb_medium *m, u32 die, u32 block);

/* A die's reserve is used up: no write is accepted any more */
bool fb_health_read_only(const struct fb_medium *m);

const char *fb_health_verify(const struct fb_medium *m);

#endif
