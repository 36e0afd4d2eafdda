// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Parameters of small media, for tests and fuzzers */
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
		.discard = 1,
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

struct fb_params sample_chip(void)
{
	return (struct fb_params) {
		.kind = FB_NAND, .capacity_bytes = 512 * 32 * 8,
		.page_bytes = 512, .spare_bytes = 16, .pages_per_block = 32, .blocks_per_die = 8, .planes = 1,
		.read_ns = 15000, .program_ns = 200000, .erase_ns = 2000000, .bus_ps_per_byte = 50000, .bus_bits = 8,
		.bits_per_cell = 1, .partial_programs = 1, .spare_partial_programs = 2, .reset_ns = 5000,
		.endurance_erases = 100000, .ecc_codeword_bytes = 256, .seed = 1,
		.manufacturer_id = 0xec, .device_id = 0x76,
	};
}

struct fb_params sample_large_chip(void)
{
	struct fb_params p = sample_chip();

	p.capacity_bytes = 2048 * 64 * 8;
	p.page_bytes = 2048;
	p.spare_bytes = 64;
	p.pages_per_block = 64;
	p.read_ns = 25000;
	p.program_ns = 300000;
	p.bus_ps_per_byte = 30000;
	p.cache_operations = 1;
	p.cache_busy_ns = 3000;
	p.partial_programs = 8;
	p.spare_partial_programs = 0;
	p.in_order_pages = 1;
	return p;
}

struct fb_params sample_mlc_chip(void)
{
	struct fb_params p = sample_large_chip();

	p.capacity_bytes = 8192ull * 256 * 8;
	p.page_bytes = 8192;
	p.spare_bytes = 448;
	p.pages_per_block = 256;
	p.planes = 2;
	p.read_ns = 50000;
	p.program_ns = 1300000;
	p.erase_ns = 3000000;
	p.plane_busy_ns = 1000;
	p.bits_per_cell = 2;
	p.partial_programs = 1;
	p.paired_page_loss = 1;
	return p;
}
