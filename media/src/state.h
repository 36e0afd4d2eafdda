/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The state block of a medium, for the rooms of the core; nobody else looks inside. Change FB_STATE_VERSION with it. */
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

	u64 now_ns;			/* when the request at hand came */
	u64 age_ns;			/* how old the medium was when its clock was last set to zero */
	u64 outcome;			/* enum fb_outcome of the request at hand */
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

/* Like memchr(), takes const and gives what the caller may write if he may write the medium */
static inline void *fb_table(const struct fb_medium *m, u64 offset)
{
	return (u8 *)m + offset;
}

/* A table of the NAND: its offset counts from the start of the medium, too */
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

/* The block that a flash page lies in */
static inline struct fb_nand_block *fb_nand_block_of(const struct fb_nand *nand, u32 die, u32 ppn)
{
	return fb_nand_block(nand, die, fb_quotient(&nand->layout.by_pages_per_block, ppn));
}

/* Gives a table its place behind those before it; returns its offset */
static inline u64 fb_add_table(u64 *end_offset, u64 bytes)
{
	u64 offset = *end_offset;

	*end_offset = fb_div_round_up(offset + bytes, FB_STATE_ALIGN) * FB_STATE_ALIGN;
	return offset;
}

/* The part of the state that every medium has, and filling it in; but the magic, which comes last */
u64 fb_common_bytes(const struct fb_params *params);
void fb_begin_state(struct fb_medium *m, const struct fb_params *params, size_t state_bytes);

/* Sends bytes over the host link, not before ready_ns; returns when they are over */
u64 fb_link_take(struct fb_medium *m, u64 ready_ns, u64 bytes);

#endif
