// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Names, ranges and rules of the parameters */
#include "disk_seek.h"
#include "samples.h"
#include "test.h"

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
			check_refused(&params, i);
			params.by_index[i] = rule->min - 1;
			if (rule->min)
				check_refused(&params, i);
		}
	}
}

static void unknown_kind_is_refused(void)
{
	struct fb_params params = sample_null();

	params.kind = FB_KIND_COUNT;
	check_refused(&params, FB_PARAM_kind);
}

enum { MAX_CHANGES = 3 };

/* What breaks a rule between parameters, and the one that is blamed; no change is of the kind, which is 0 */
struct breach {
	enum fb_param blamed;
	struct {
		enum fb_param param;
		u64 value;
	} changes[MAX_CHANGES];
};

static void check_breaches(const struct fb_params *sound, const struct breach *breaches, size_t count)
{
	size_t i, j;

	for (i = 0; i < count; i++) {
		struct fb_params params = *sound;

		for (j = 0; j < MAX_CHANGES && breaches[i].changes[j].param; j++)
			params.by_index[breaches[i].changes[j].param] = breaches[i].changes[j].value;
		check_refused(&params, breaches[i].blamed);
	}
}

#define CHECK_BREACHES(sound, breaches) check_breaches(sound, breaches, sizeof(breaches) / sizeof(*(breaches)))

/* So many bytes fit, and no sector more */
static void check_room(struct fb_params params, u64 capacity_bytes)
{
	struct fb_complaint complaint;

	params.capacity_bytes = capacity_bytes;
	CHECK(fb_check_params(&params, &complaint));
	params.capacity_bytes += 512;
	check_refused(&params, FB_PARAM_capacity_bytes);
}

static void rules_between_parameters_of_all_kinds(void)
{
	struct fb_params p = sample_null();
	const struct breach breaches[] = {
		{ FB_PARAM_sector_bytes, { { FB_PARAM_sector_bytes, 768 } } },
		{ FB_PARAM_capacity_bytes, { { FB_PARAM_capacity_bytes, p.capacity_bytes + 1 } } },
		{ FB_PARAM_used_bytes, { { FB_PARAM_used_bytes, 100 } } },
		{ FB_PARAM_used_bytes, { { FB_PARAM_used_bytes, p.capacity_bytes + 512 } } },
	};

	CHECK_BREACHES(&p, breaches);
}

static void rules_between_flash_parameters(void)
{
	static const struct breach breaches[] = {
		{ FB_PARAM_page_bytes, { { FB_PARAM_page_bytes, 3072 } } },
		{ FB_PARAM_page_bytes, { { FB_PARAM_page_bytes, 512 }, { FB_PARAM_sector_bytes, 4096 } } },
		{ FB_PARAM_channels, { { FB_PARAM_channels, 2 } } },
		{ FB_PARAM_blocks_per_die, { { FB_PARAM_pages_per_block, 4096 },
					     { FB_PARAM_blocks_per_die, 1 << 20 } } },
		{ FB_PARAM_blocks_per_die, { { FB_PARAM_planes, 3 } } },
		{ FB_PARAM_planes, { { FB_PARAM_planes, 8 } } },
		{ FB_PARAM_planes, { { FB_PARAM_planes, 8 }, { FB_PARAM_pages_per_block, 8192 },
				     { FB_PARAM_blocks_per_die, 64 } } },
		{ FB_PARAM_open_blocks, { { FB_PARAM_open_blocks, 1 }, { FB_PARAM_gc_step_pages, 1 } } },
		{ FB_PARAM_gc_reserve_blocks, { { FB_PARAM_gc_reserve_blocks, 14 } } },
	};
	struct fb_params p = sample_flash();

	CHECK_BREACHES(&p, breaches);
	/* 16 blocks - 2 in reserve - 2 open = 12 blocks of 8 KiB */
	check_room(p, 12 * 8192);
}

static void rules_between_log_block_parameters(void)
{
	static const struct breach breaches[] = {
		{ FB_PARAM_log_blocks, { { FB_PARAM_log_blocks, 1 } } },
		{ FB_PARAM_blocks_per_group, { { FB_PARAM_log_blocks, 2 }, { FB_PARAM_blocks_per_group, 5 } } },
	};
	struct fb_params p = sample_flash();

	p.ftl = FB_FTL_FAST;
	CHECK_BREACHES(&p, breaches);
	/* 8 groups of 2 blocks - 2 logs - 1 for merges = 5 groups of 16 KiB */
	p.log_blocks = 2;
	p.blocks_per_group = 2;
	check_room(p, 5 * 16384);
}

static void rules_between_disk_parameters(void)
{
	struct fb_params p = sample_disk();
	u64 max_write_ns = fb_max_write_average_ns(&p);
	const struct breach breaches[] = {
		{ FB_PARAM_zones, { { FB_PARAM_zones, 64 }, { FB_PARAM_cylinders, 63 } } },
		{ FB_PARAM_inner_sectors_per_track, { { FB_PARAM_inner_sectors_per_track, 7 } } },
		{ FB_PARAM_inner_sectors_per_track, { { FB_PARAM_inner_sectors_per_track, 101 } } },
		{ FB_PARAM_seek_average_ns, { { FB_PARAM_seek_average_ns, p.seek_track_ns - 1 } } },
		{ FB_PARAM_seek_average_ns, { { FB_PARAM_seek_full_ns, p.seek_average_ns } } },
		{ FB_PARAM_seek_full_ns, { { FB_PARAM_seek_full_ns, p.seek_track_ns - 1 } } },
		{ FB_PARAM_write_seek_average_ns,
		  { { FB_PARAM_write_seek_average_ns, p.seek_average_ns + p.write_settle_ns - 1 } } },
		{ FB_PARAM_write_seek_average_ns, { { FB_PARAM_write_seek_average_ns, max_write_ns + 1 } } },
		{ FB_PARAM_readahead_bytes, { { FB_PARAM_readahead_bytes, p.segment_bytes + 512 } } },
	};
	struct fb_complaint complaint;

	CHECK_BREACHES(&p, breaches);
	/* 32 cylinders of 100 sectors and 32 of 50 */
	check_room(p, 4800 * 512);
	p.write_seek_average_ns = max_write_ns;
	CHECK(fb_check_params(&p, &complaint));
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
