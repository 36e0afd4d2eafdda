/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The state block of a medium, private to the core. If it changes, change FB_STATE_VERSION. */
#ifndef FB_STATE_H
#define FB_STATE_H

#include "arith.h"
#include "chip.h"
#include "disk.h"
#include "fb_medium.h"
#include "flash.h"
#include "power.h"
#include "timeline.h"

#define FB_STATE_MAGIC		0x6465626873616c66ull	/* the file begins with "flashbed" */
#define FB_STATE_VERSION	13u
#define FB_STATE_ALIGN		64u

struct fb_medium {
	u64 magic;
	u32 version;
	u32 param_count;
	u32 counter_count;
	u32 unused;
	u64 state_bytes;
	struct fb_params params;
	struct fb_counters counters;

	u64 now_ns;			/* arrival of the current request */
	u64 age_ns;			/* the medium's age when its clock was last zeroed */
	u64 outcome;			/* enum fb_outcome of the current request */
	u64 controller_free_ns;
	u64 busy_until_ns;		/* when all requests so far are done */
	u64 durable_ns;			/* when all writes so far are on the medium */
	struct fb_timeline link;
	struct fb_power power;
	union {
		struct fb_flash flash;
		struct fb_disk disk;
		struct fb_chip chip;
	};
};

/* Like memchr(), takes a const medium and returns a pointer that a caller with a writable medium may write to */
static inline void *fb_table(const struct fb_medium *m, u64 offset)
{
	return (u8 *)m + offset;
}

/* A table of the NAND; its offset counts from the start of the medium */
static inline void *fb_nand_table(const struct fb_nand *nand, u64 offset)
{
	return (u8 *)nand - offsetof(struct fb_medium, flash.nand) + offset;
}

static inline struct fb_nand_block *fb_nand_block(const struct fb_nand *nand, u32 die, u64 block)
{
	const struct fb_nand_layout *layout = &nand->layout;

	return (struct fb_nand_block *)fb_nand_table(nand, layout->blocks_offset) + die * layout->blocks_per_die +
	       block;
}

static inline struct fb_nand_past *fb_nand_past(const struct fb_nand *nand, u32 die, u64 block)
{
	const struct fb_nand_layout *layout = &nand->layout;

	return (struct fb_nand_past *)fb_nand_table(nand, layout->pasts_offset) + die * layout->blocks_per_die + block;
}

/* The block of a flash page */
static inline struct fb_nand_block *fb_nand_block_of(const struct fb_nand *nand, u32 die, u32 ppn)
{
	return fb_nand_block(nand, die, fb_quotient(&nand->layout.by_pages_per_block, ppn));
}

/* Places a table behind those before it; returns its offset */
static inline u64 fb_add_table(u64 *end_offset, u64 bytes)
{
	u64 offset = *end_offset;

	*end_offset = fb_div_round_up(offset + bytes, FB_STATE_ALIGN) * FB_STATE_ALIGN;
	return offset;
}

/*
 * The part of the state that every medium has: its size, and its initialization except for the magic, which comes last
 */
u64 fb_common_bytes(const struct fb_params *params);
void fb_begin_state(struct fb_medium *m, const struct fb_params *params, size_t state_bytes);

/* Transfers bytes over the host link, not before ready_ns; returns the end */
u64 fb_link_take(struct fb_medium *m, u64 ready_ns, u64 bytes);

#endif
