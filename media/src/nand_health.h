/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The reaction of a device with a translation layer to NAND faults (nand_faults.h): it keeps a reserve of blocks,
 * retires bad ones, retries uncorrectable reads, and refuses writes when a die's reserve is used up, like the pre-EOL
 * and read-only states of eMMC and SD cards.
 *
 * Bad blocks and the reserve are counted in blocks of the layer, each of which is a block in every plane. The firmware
 * combines good blocks of the planes, so factory-bad blocks cost their number divided by the planes, rounded up. A
 * block that goes bad later takes its companions in the other planes along.
 *
 * Simplifications: the failure that uses up a die's reserve is the last on this medium, so that the firmware can finish
 * its work under way; a retried read is not transferred again.
 */
#ifndef FB_NAND_HEALTH_H
#define FB_NAND_HEALTH_H

#include "fb_medium.h"
#include "nand.h"

/* The layer's blocks of a die that are bad from the factory, and those in reserve */
u64 fb_health_bad_blocks(const struct fb_params *params);
u64 fb_health_spare_blocks(const struct fb_params *params);

/* The blocks that a layer can count on: neither bad nor in reserve */
u64 fb_health_good_blocks(const struct fb_params *params);

/* True if programs or erases can fail */
static inline bool fb_health_may_fail(const struct fb_params *params)
{
	return params->program_fail_ppb || params->erase_fail_ppb;
}

bool fb_health_check(const struct fb_params *params, struct fb_complaint *complaint);

/* Adds the table of reserves to the state; returns its offset */
u64 fb_health_layout(const struct fb_params *params, u64 *end_offset);

/* Marks the factory's bad blocks and fills the reserves */
void fb_health_init(struct fb_medium *m);

/* True if the next program of a page, or the next erase of a block, fails; call it before the operation */
bool fb_health_program_fails(const struct fb_medium *m, u32 die, u32 ppn);
bool fb_health_erase_fails(const struct fb_medium *m, u32 die, u32 block);

/* Retires a bad block; one of its die's reserve replaces it */
void fb_health_retire(struct fb_medium *m, u32 die, u32 block);

/*
 * Reads and corrects a page; returns the number of retries. Sets fb_nand.read_failed if it is uncorrectable. Only with
 * ecc_bits.
 */
u32 fb_health_read(struct fb_medium *m, u32 die, u32 ppn);

/* Records the time of a program to the block. Only with ecc_bits. */
void fb_health_date_block(struct fb_medium *m, u32 die, u32 ppn);

/* Resets the block's read count at its erase. Only with ecc_bits. */
void fb_health_forget_reads(struct fb_medium *m, u32 die, u32 block);

/* True if a die's reserve is used up, so that no write is accepted any more */
bool fb_health_read_only(const struct fb_medium *m);

const char *fb_health_verify(const struct fb_medium *m);

#endif
