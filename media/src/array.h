/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The flash array below a translation layer: pages that are read, programmed and erased. It is either the model
 * (nand.h) or one that the creator of the medium supplies; media_ftl supplies real flash. A medium on another array
 * cannot lie in a file, because its state holds a pointer. It takes no requests: its layer is called directly.
 *
 * Nearly all media use the model, which is called directly. Another array is a table of functions.
 */
#ifndef FB_ARRAY_H
#define FB_ARRAY_H

#include "state.h"

struct fb_array {
	/* Adds its tables to the state, at least the blocks. `other` and `special` need not be filled in. */
	struct fb_nand_layout (*layout)(const struct fb_params *params, u64 *end_offset);

	/* The contracts are those of fb_nand_read() and the like in nand.h */
	u64 (*read)(struct fb_medium *m, u32 die, u32 ppn, u64 ready_ns, u64 transfer_bytes);
	u64 (*program)(struct fb_medium *m, u32 die, u32 ppn, u64 page, u64 ready_ns);
	u64 (*erase)(struct fb_medium *m, u32 die, u32 block, u64 ready_ns);
	u64 (*free_ns)(const struct fb_medium *m, u32 die);
};

/* NULL: the model */
static inline const struct fb_array *fb_other_array(const struct fb_nand_layout *layout)
{
	return layout->special & FB_OTHER_ARRAY ? layout->other : NULL;
}

/* fb_state_bytes() and fb_init() for a flash medium on another array */
size_t fb_array_state_bytes(const struct fb_params *params, const struct fb_array *array);
enum fb_error fb_array_init(void *memory, size_t bytes, const struct fb_params *params, const struct fb_array *array);

static inline u64 fb_array_read(struct fb_medium *m, u32 die, u32 ppn, u64 ready_ns, u64 transfer_bytes)
{
	const struct fb_array *other = fb_other_array(&m->flash.nand.layout);

	return other ? other->read(m, die, ppn, ready_ns, transfer_bytes) :
		       fb_nand_read(m, die, ppn, ready_ns, transfer_bytes);
}

static inline u64 fb_array_program(struct fb_medium *m, u32 die, u32 ppn, u64 page, u64 ready_ns)
{
	const struct fb_array *other = fb_other_array(&m->flash.nand.layout);

	return other ? other->program(m, die, ppn, page, ready_ns) : fb_nand_program(m, die, ppn, page, ready_ns);
}

static inline u64 fb_array_erase(struct fb_medium *m, u32 die, u32 block, u64 ready_ns)
{
	const struct fb_array *other = fb_other_array(&m->flash.nand.layout);

	return other ? other->erase(m, die, block, ready_ns) : fb_nand_erase(m, die, block, ready_ns);
}

/* The time at which the die has finished everything issued to it so far */
static inline u64 fb_array_free_ns(const struct fb_medium *m, u32 die)
{
	const struct fb_array *other = fb_other_array(&m->flash.nand.layout);

	return other ? other->free_ns(m, die) : fb_nand_free_ns(m, die);
}

#endif
