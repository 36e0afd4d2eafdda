// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "samples.h"

struct fb_params sample_flash(void)
{
	return (struct fb_params) {
		.kind = FB_FLASH,
		.capacity_bytes = 32 * 2048,
		.sector_bytes = 512,
		.queue_depth = 1,
		.queues = 1,
		.command_ns = 1000,
		.link_ps_per_byte = 10000,
		.page_bytes = 2048,
		.pages_per_block = 4,
		.blocks_per_die = 16,
		.dies = 1,
		.channels = 1,
		.read_ns = 25000,
		.program_ns = 200000,
		.erase_ns = 1500000,
		.bus_ps_per_byte = 25000,
		.gc_reserve_blocks = 2,
		.ftl = FB_FTL_PAGE,
		.blocks_per_group = 1,
		.gc_choices = 2,
		.open_blocks = 2,
		.planes = 1,
		.controller_lanes = 1,
		.bits_per_cell = 1,
		.ecc_codeword_bytes = 1024,
	};
}

struct fb_params sample_slc_flash(void)
{
	struct fb_params p = sample_flash();

	p.blocks_per_die = 24;
	p.gc_reserve_blocks = 2;
	p.bits_per_cell = 2;
	p.read_upper_ns = 35000;
	p.program_upper_ns = 600000;
	p.slc_cache_bytes = 3 * 2 * 2048;
	p.slc_read_ns = 15000;
	p.slc_program_ns = 100000;
	return p;
}

struct fb_params sample_disk(void)
{
	return (struct fb_params) {
		.kind = FB_DISK,
		.capacity_bytes = 4800 * 512,
		.sector_bytes = 512,
		.queue_depth = 1,
		.queues = 1,
		.command_ns = 0,
		.link_ps_per_byte = 0,
		.rpm = 6000,
		.cylinders = 64,
		.heads = 1,
		.zones = 2,
		.outer_sectors_per_track = 100,
		.inner_sectors_per_track = 50,
		.seek_track_ns = 1000000,
		.seek_average_ns = 3992593,
		.seek_full_ns = 8000000,
		.head_switch_ns = 500000,
		.write_settle_ns = 200000,
		.segments = 1,
		.segment_bytes = 0,
		.readahead_bytes = 0,
		.reorder_depth = 1,
	};
}

struct fb_params sample_null(void)
{
	return (struct fb_params) {
		.kind = FB_NULL,
		.capacity_bytes = 1 << 20,
		.sector_bytes = 512,
		.queue_depth = 8,
		.queues = 1,
	};
}
