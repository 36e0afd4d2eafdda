/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A fuzzer's bytes, taken as numbers one by one; zeros when they are used up */
#ifndef INPUT_H
#define INPUT_H

#include <stdlib.h>
#include <string.h>

#include "fb_medium.h"
#include "samples.h"

struct input {
	const u8 *next;
	size_t left;
};

static inline u64 input_number(struct input *input, size_t bytes)
{
	u64 number = 0;

	for (; bytes && input->left; bytes--, input->left--)
		number = number << 8 | *input->next++;
	return number;
}

/* A small medium of each kind, and of flash with each translation layer */
static inline struct fb_params input_sample(struct input *input)
{
	struct fb_params (*others[])(void) = { sample_disk, sample_null };
	u64 choice = input_number(input, 1) % (FB_FTL_COUNT + 2);
	struct fb_params params = sample_flash();

	if (choice >= FB_FTL_COUNT)
		return others[choice - FB_FTL_COUNT]();
	params.ftl = choice;
	if (choice == FB_FTL_DFTL) {
		params.page_bytes = 512;	/* 128 entries of the map */
		params.blocks_per_die = 128;
		params.capacity_bytes = 384 * 512;
		params.map_cache_bytes = 512;
	} else if (choice != FB_FTL_PAGE) {
		params.blocks_per_group = 1;
		params.log_blocks = 3;
	}
	return params;
}

/* Memory for a state: aligned and zero, as fb_init() wants it */
static inline void *new_memory(size_t bytes)
{
	size_t whole = (bytes + 63) / 64 * 64;
	void *memory = aligned_alloc(64, whole);

	if (!memory)
		abort();
	return memset(memory, 0, whole);
}

#endif
