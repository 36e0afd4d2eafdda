/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * NAND dies on their channels: how long an operation on the array takes, and the rules of the chip. Which page holds
 * what is the translation layer's business (ftl.h).
 *
 * A place is a page of a die, counted through its blocks. The chip wants the pages of a block programmed in order, and
 * each once between erases; what breaks that is remembered and reported by fb_nand_verify().
 *
 * Planes of a die hold blocks in step: a block here is the blocks of the same number in all planes, and its pages go
 * through the planes before they go on to the next row. Operations of one batch (a request, or a step of copying) on
 * pages of one row join: the array works on them at the same time.
 *
 * Without cache operations a die is occupied from the start of a transfer into it to the end of the program, and from the
 * start of a read to the end of the transfer out of it. With them, a second register is free again when its page has gone
 * on to the array, or out on the channel.
 *
 * Simplifications: the spare area takes no transfer time; lower, middle and upper pages follow each other in turn.
 */
#ifndef FB_NAND_H
#define FB_NAND_H

#include "fb_medium.h"
#include "timeline.h"

struct fb_nand_block {
	u32 erase_count;
	u16 programmed_pages;
	u16 unused;
};

enum fb_die_op { FB_DIE_IDLE, FB_DIE_READ, FB_DIE_PROGRAM };

struct fb_die {
	u64 array_free_ns;
	u64 register_free_ns;

	/* The operation that others of its batch can still join */
	u64 joint_batch;
	u64 joint_ns;		/* read: when it is sensed; program: when it is loaded */
	u64 array_was_free_ns;	/* before it */
	u32 joint_row;
	u16 joint_planes;	/* a bit each */
	u16 joint_op;		/* enum fb_die_op */
};

/* Where the tables lie, in bytes from the start of the state, and how large they are for each die */
struct fb_nand_layout {
	u64 dies_offset;
	u64 channels_offset;
	u64 blocks_offset;
	u64 blocks_per_die;
	u64 pages_per_block;
};

struct fb_nand {
	struct fb_nand_layout layout;
	u64 batch;
	u64 broken_rules;		/* pages programmed out of order, or twice */
};

/* Of all planes together */
static inline u64 fb_nand_blocks(const struct fb_params *p)
{
	return p->blocks_per_die / p->planes;
}

static inline u64 fb_nand_pages(const struct fb_params *p)
{
	return p->pages_per_block * p->planes;
}

struct fb_nand_layout fb_nand_layout(const struct fb_params *params, u64 *end_offset);
void fb_nand_power_on(struct fb_medium *m);

/* Operations from here on are asked for together */
void fb_nand_begin_batch(struct fb_medium *m);

/*
 * One operation on a die, not before ready_ns; they return when it is done. Data of a read is then in the controller. A
 * program that others join is done later than it was said to be, together with the last of them.
 */
u64 fb_nand_read(struct fb_medium *m, u32 die, u32 place, u64 ready_ns, u64 transfer_bytes);
u64 fb_nand_program(struct fb_medium *m, u32 die, u32 place, u64 ready_ns);
u64 fb_nand_erase(struct fb_medium *m, u32 die, u32 block, u64 ready_ns);

/* When the die has finished what it has been told so far */
u64 fb_nand_free_ns(const struct fb_medium *m, u32 die);

struct fb_wear fb_nand_wear(const struct fb_medium *m);

/* Whether the chip's rules were kept, and whether what it has on it adds up to what was counted */
const char *fb_nand_verify(const struct fb_medium *m);

#endif
