/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A fuzzer's bytes, taken as numbers one by one; zeros when they are used up */
#ifndef INPUT_H
#define INPUT_H

#include <string.h>

#include "fb_medium.h"
#include "harness.h"
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

/* Wears out at once, forgets within days, suspends for reads, and reads ahead */
static inline void make_unreliable(struct fb_params *params)
{
	params->blocks_per_die = 24;
	params->gc_reserve_blocks = 4;
	params->endurance_erases = 4;
	params->factory_bad_blocks = 3;
	params->spare_blocks = 3;
	params->program_fail_ppb = 20000000;
	params->erase_fail_ppb = 50000000;
	params->ecc_bits = 2;
	params->bit_error_ppt = 50000000;
	params->worn_bit_error_ppt = 50000000;
	params->read_bit_error_ppt = 1000000000;
	params->read_retries = 2;
	params->retry_bit_error_percent = 50;
	params->cache_operations = 1;
	params->suspend_ns = 20000;
	params->resume_ns = 5000;
	params->read_ahead_bytes = 4 * params->page_bytes;
}

/* With an SLC cache: mapped page by page, with all work in steps and while idle, and with the map on flash */
enum { CACHED_SAMPLES = 6 };

static inline struct fb_params cached_sample(u64 number)
{
	struct fb_params params = sample_slc_flash();

	if (number == 1) {
		params.slc_step_pages = 2;
		params.slc_idle_fold = 1;
		params.slc_idle_ns = 500000;
		params.gc_step_pages = 3;
		params.gc_idle_blocks = 4;
		params.paired_page_loss = 1;
		params.write_buffer_bytes = 8 * params.page_bytes;
	} else if (number == 2) {
		params.ftl = FB_FTL_DFTL;
		params.map_cache_bytes = params.page_bytes;
	} else if (number == 3) {
		params.ftl = FB_FTL_DFTL;
		params.map_cache_bytes = params.page_bytes;
		params.map_update_bytes = 3 * 8;
		params.one_shot = 1;
	} else if (number > 3) {
		params = sample_flash();
		params.ftl = number == 4 ? FB_FTL_FAST : FB_FTL_BAST;
		params.log_blocks = 4;
		params.capacity_bytes = 8 * params.pages_per_block * params.page_bytes;
		params.merge_step_pages = 1;
		params.shared_logs = number == 4 ? 0 : 2;
		params.short_write_bytes = number == 4 ? 0 : 2 * params.page_bytes;
	}
	return params;
}

/* A small medium of each kind, and of flash with each translation layer, sound or not */
static inline struct fb_params input_sample(struct input *input)
{
	u64 number = input_number(input, 1) % (2 * FB_FTL_COUNT + 2 + CACHED_SAMPLES);
	bool unreliable = number >= FB_FTL_COUNT + 2;
	u64 choice = unreliable ? number - FB_FTL_COUNT - 2 : number;
	struct fb_params params = sample_flash();

	if (number >= 2 * FB_FTL_COUNT + 2)
		return cached_sample(number - 2 * FB_FTL_COUNT - 2);
	if (choice == FB_FTL_COUNT)
		return sample_disk();
	if (choice > FB_FTL_COUNT)
		return sample_null();
	params.ftl = choice;
	params.log_blocks = choice == FB_FTL_BAST || choice == FB_FTL_FAST ? 3 : 0;
	params.known_groups = params.log_blocks;
	params.map_cache_bytes = choice == FB_FTL_DFTL ? params.page_bytes : 0;
	if (unreliable)
		make_unreliable(&params);
	return params;
}

/* Memory for a state: aligned and zero, as fb_init() wants it */
static inline void *new_memory(size_t bytes)
{
	size_t whole = (bytes + 63) / 64 * 64;
	void *memory = aligned_alloc(64, whole);

	CHECK(memory);
	return memset(memory, 0, whole);
}

#endif
