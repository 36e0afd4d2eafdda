// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Names, ranges and rules of the parameters */
#include "disk_seek.h"
#include "samples.h"
#include "test.h"

static void refused_for(const struct fb_params *params, enum fb_param param)
{
	struct fb_complaint complaint;

	CHECK(!fb_check_params(params, &complaint));
	CHECK_EQUAL(param, complaint.param);
	CHECK_EQUAL(params->by_index[param], complaint.value);
	CHECK_EQUAL(0, fb_state_bytes(params));
}

static void each_range_is_checked_and_named(void)
{
	struct fb_params sound[] = { sample_flash(), sample_disk(), sample_null(), sample_chip() };
	u32 kind, i;

	for (kind = 0; kind < FB_KIND_COUNT; kind++) {
		struct fb_complaint complaint;

		CHECK(fb_check_params(&sound[kind], &complaint));
		for (i = FB_PARAM_kind + 1; i < FB_PARAM_COUNT; i++) {
			const struct fb_param_rule *rule = fb_param_rule(i);
			struct fb_params params = sound[kind];

			params.by_index[i] = rule->max + 1;
			if (!(rule->kinds & 1u << kind)) {
				CHECK(fb_check_params(&params, &complaint));
				continue;
			}
			refused_for(&params, i);
			params.by_index[i] = rule->min - 1;
			if (rule->min)
				refused_for(&params, i);
		}
	}
}

static void unknown_kind_is_refused(void)
{
	struct fb_params params = sample_null();

	params.kind = FB_KIND_COUNT;
	refused_for(&params, FB_PARAM_kind);
}

static void rules_between_parameters_of_all_kinds(void)
{
	struct fb_params p = sample_null();

	p.sector_bytes = 768;
	refused_for(&p, FB_PARAM_sector_bytes);
	p = sample_null();
	p.capacity_bytes += 1;
	refused_for(&p, FB_PARAM_capacity_bytes);
	p = sample_null();
	p.used_bytes = 100;
	refused_for(&p, FB_PARAM_used_bytes);
	p.used_bytes = p.capacity_bytes + 512;
	refused_for(&p, FB_PARAM_used_bytes);
}

static void rules_between_flash_parameters(void)
{
	struct fb_params p = sample_flash();
	struct fb_complaint complaint;

	p.page_bytes = 3072;
	refused_for(&p, FB_PARAM_page_bytes);
	p = sample_flash();
	p.page_bytes = 512;
	p.sector_bytes = 4096;
	refused_for(&p, FB_PARAM_page_bytes);
	p = sample_flash();
	p.channels = 2;
	refused_for(&p, FB_PARAM_channels);
	p = sample_flash();
	p.pages_per_block = 4096;
	p.blocks_per_die = 1 << 20;
	refused_for(&p, FB_PARAM_blocks_per_die);
	p = sample_flash();
	p.planes = 3;
	refused_for(&p, FB_PARAM_blocks_per_die);
	p.planes = 8;
	refused_for(&p, FB_PARAM_planes);
	p.pages_per_block = 8192;
	p.planes = 8;
	p.blocks_per_die = 64;
	refused_for(&p, FB_PARAM_planes);
	p = sample_flash();
	p.open_blocks = 1;
	p.gc_step_pages = 1;
	refused_for(&p, FB_PARAM_open_blocks);
	p = sample_flash();
	p.gc_reserve_blocks = 14;
	refused_for(&p, FB_PARAM_gc_reserve_blocks);

	/* 16 blocks - 2 in reserve - 2 open = 12 blocks of 8 KiB */
	p = sample_flash();
	p.capacity_bytes = 12 * 8192;
	CHECK(fb_check_params(&p, &complaint));
	p.capacity_bytes += 512;
	refused_for(&p, FB_PARAM_capacity_bytes);
}

static void rules_between_log_block_parameters(void)
{
	struct fb_params p = sample_flash();
	struct fb_complaint complaint;

	p.ftl = FB_FTL_FAST;
	p.log_blocks = 1;
	refused_for(&p, FB_PARAM_log_blocks);
	p.log_blocks = 2;
	p.blocks_per_group = 5;
	refused_for(&p, FB_PARAM_blocks_per_group);

	/* 8 groups of 2 blocks - 2 logs - 1 for merges = 5 groups of 16 KiB */
	p.blocks_per_group = 2;
	p.capacity_bytes = 5 * 16384;
	CHECK(fb_check_params(&p, &complaint));
	p.capacity_bytes += 512;
	refused_for(&p, FB_PARAM_capacity_bytes);
}

static void rules_between_disk_parameters(void)
{
	struct fb_params p = sample_disk();
	struct fb_complaint complaint;

	p.zones = 64;
	p.cylinders = 63;
	refused_for(&p, FB_PARAM_zones);
	p = sample_disk();
	p.inner_sectors_per_track = 101;
	refused_for(&p, FB_PARAM_inner_sectors_per_track);
	p = sample_disk();
	p.seek_average_ns = p.seek_track_ns - 1;
	refused_for(&p, FB_PARAM_seek_average_ns);
	p = sample_disk();
	p.seek_full_ns = p.seek_average_ns;
	refused_for(&p, FB_PARAM_seek_average_ns);
	p.seek_full_ns = p.seek_track_ns - 1;
	refused_for(&p, FB_PARAM_seek_full_ns);
	p = sample_disk();
	p.write_seek_average_ns = p.seek_average_ns + p.write_settle_ns - 1;
	refused_for(&p, FB_PARAM_write_seek_average_ns);
	p.write_seek_average_ns = fb_most_write_average_ns(&p);
	CHECK(fb_check_params(&p, &complaint));
	p.write_seek_average_ns++;
	refused_for(&p, FB_PARAM_write_seek_average_ns);
	p = sample_disk();
	p.readahead_bytes = p.segment_bytes + 512;
	refused_for(&p, FB_PARAM_readahead_bytes);

	/* 32 cylinders of 100 sectors and 32 of 50 */
	p = sample_disk();
	p.capacity_bytes = 4800 * 512;
	CHECK(fb_check_params(&p, &complaint));
	p.capacity_bytes += 512;
	refused_for(&p, FB_PARAM_capacity_bytes);
}

const struct test params_tests[] = {
	TEST(each_range_is_checked_and_named),
	TEST(unknown_kind_is_refused),
	TEST(rules_between_parameters_of_all_kinds),
	TEST(rules_between_flash_parameters),
	TEST(rules_between_log_block_parameters),
	TEST(rules_between_disk_parameters),
	END_OF_TESTS,
};
