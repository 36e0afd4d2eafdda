// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The translation layer under random requests: what is mapped, and whether its tables stay sound */
#include "ftl_page.h"
#include "samples.h"
#include "test.h"

/*
 * Geometries that differ in what could go wrong: dies, tight space, blocks of few and many pages, part pages at the end
 */
static struct fb_params shape(u64 dies, u64 channels, u64 blocks, u64 pages, u64 reserve, u64 capacity_sectors)
{
	struct fb_params p = sample_flash();

	p.dies = dies;
	p.channels = channels;
	p.blocks_per_die = blocks;
	p.pages_per_block = pages;
	p.gc_reserve_blocks = reserve;
	p.capacity_bytes = capacity_sectors * 512;
	return p;
}

static struct fb_params on_planes(struct fb_params p, u64 planes)
{
	p.planes = planes;
	p.cache_operations = 1;
	p.bits_per_cell = 2;
	return p;
}

static void check_mapping(const struct fb_medium *m, const u8 *written, u64 pages)
{
	u64 page;

	for (page = 0; page < pages; page++)
		CHECK_EQUAL(written[page], fb_ftl_page.mapped(m, page));
}

static void note(u8 *written, const struct fb_request *request, u64 page_bytes)
{
	u64 end = request->offset_bytes + request->length_bytes;
	u64 page;

	if (request->op == FB_WRITE)
		for (page = request->offset_bytes / page_bytes; page * page_bytes < end; page++)
			written[page] = 1;
	if (request->op == FB_DISCARD)
		for (page = fb_div_round_up(request->offset_bytes, page_bytes); page < end / page_bytes; page++)
			written[page] = 0;
}

static void exercise(const struct fb_params *params, u64 seed, int requests)
{
	struct fb_medium *m = new_medium(params);
	u64 sectors = params->capacity_bytes / 512;
	u64 pages = fb_div_round_up(params->capacity_bytes, params->page_bytes);
	u8 *written = calloc(1, pages);
	u64 now_ns = 0;
	int i;

	for (i = 0; i < requests; i++) {
		struct fb_request request = { .op = next_random(&seed) % 8 ? FB_WRITE : FB_DISCARD };
		u64 first = next_random(&seed) % sectors;
		u64 count = 1 + next_random(&seed) % 40;
		u64 done_ns;

		if (count > sectors - first)
			count = sectors - first;
		request.offset_bytes = first * 512;
		request.length_bytes = count * 512;
		done_ns = fb_submit(m, &request, now_ns);
		CHECK(done_ns >= now_ns && done_ns != FB_NEVER);
		note(written, &request, params->page_bytes);
		if (i % 64 == 0) {
			const char *fault = fb_verify(m);

			CHECKF(!fault, "step %d: %s", (int)i, fault);
			check_mapping(m, written, pages);
		}
		now_ns = done_ns - (next_random(&seed) % 3 ? 0 : (done_ns - now_ns) / 2);
	}
	CHECK(!fb_verify(m));
	CHECK(fb_medium_counters(m)->collections > 0);
	CHECK(fb_medium_counters(m)->flash_erased_blocks <= fb_medium_counters(m)->collections * params->planes);
	CHECK(fb_medium_counters(m)->flash_erased_blocks + params->dies * params->planes >=
	      fb_medium_counters(m)->collections * params->planes);
	free(written);
	free(m);
}

static void random_requests_leave_the_tables_sound(void)
{
	struct fb_params shapes[] = {
		shape(1, 1, 6, 4, 1, 12 * 4),		/* as full as it may be */
		shape(1, 1, 64, 8, 3, 59 * 8 * 4),
		shape(1, 1, 40, 64, 4, 30 * 64 * 4),
		shape(2, 1, 24, 16, 2, 2 * 18 * 16 * 4),
		shape(4, 2, 24, 16, 1, 4 * 12 * 16 * 4 - 5),
		shape(3, 3, 16, 2, 1, 3 * 13 * 2 * 4 - 7),
		shape(8, 4, 12, 32, 5, 8 * 5 * 32 * 4),
		on_planes(shape(2, 1, 48, 16, 2, 2 * 36 * 16 * 4), 2),
		on_planes(shape(1, 1, 96, 5, 1, 60 * 5 * 4), 3),
	};
	u64 i;

	for (i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		exercise(&shapes[i], i + 1, 4000);
	for (i = 0; i < FB_GC_POLICY_COUNT; i++) {
		struct fb_params p = on_planes(shape(2, 2, 64, 16, 2, 2 * 40 * 16 * 4), 2);

		p.gc_policy = i;
		p.gc_step_pages = i % 2 * 3;
		p.gc_idle_blocks = i / 2 * 5;
		p.open_blocks = i ? 2 + i % 2 : 1;
		p.wear_threshold = i % 2 * 4;
		exercise(&p, i + 1, 6000);
	}
}

/* Free blocks are taken in turn, so writing all over the medium wears all blocks about alike */
static void random_writes_wear_evenly(void)
{
	struct fb_params p = shape(1, 1, 64, 16, 2, 48 * 16 * 4);
	struct fb_medium *m = new_medium(&p);
	struct fb_wear wear;
	u64 seed = 9;
	int i;

	for (i = 0; i < 60000; i++)
		submit(m, FB_WRITE, next_random(&seed) % (48 * 16) * 2048, 2048, 0);
	wear = fb_medium_wear(m);
	CHECK_EQUAL(64, wear.blocks);
	CHECK(wear.erase_count_max * wear.blocks < 2 * wear.erase_count_sum);
	free(m);
}

/* Ten bytes a page at most, from 800 MiB on with 28 % of over-provisioning, from 240 MiB on with 7 % */
static void tables_are_small(void)
{
	struct fb_params media[] = {
		shape(4, 4, 4096, 64, 8, 4 * 3840ull * 64 * 4), shape(4, 4, 1024, 64, 8, 4 * 800ull * 64 * 4),
		shape(4, 4, 256, 64, 8, 4 * 240ull * 64 * 4),
	};
	u32 i;

	for (i = 0; i < 3; i++) {
		media[i].page_bytes = 4096;
		media[i].capacity_bytes *= 2;
		CHECK(fb_state_bytes(&media[i]) <= 10 * (media[i].capacity_bytes / 4096));
	}
}

/* Each breaks one thing in the tables of a sound medium */
enum breakage {
	A_PAGE_AT_ANOTHERS_PLACE, A_PAGE_BEYOND_THE_DIE, A_PLACE_WITH_A_WRONG_OWNER, A_COUNT_OF_VALID_PAGES,
	A_TORN_LIST,
	A_COUNT_OF_FREE_BLOCKS, A_WRONG_FEWEST, AN_OPEN_BLOCK_TOO_FAR, AN_ERASE_TOO_MANY, A_PROGRAM_TOO_MANY, BREAKAGES
};

static void break_it(struct fb_medium *m, enum breakage breakage)
{
	struct fb_die_tables t = fb_die_tables(m, 0);

	switch (breakage) {
	case A_PAGE_AT_ANOTHERS_PLACE:
		t.map[3] = t.map[4];
		break;
	case A_PAGE_BEYOND_THE_DIE:
		t.map[3] = ~0u;
		break;
	case A_PLACE_WITH_A_WRONG_OWNER:
		t.owner[63] = FB_OWNED;
		break;
	case A_COUNT_OF_VALID_PAGES:
		t.blocks[2].valid_pages++;
		break;
	case A_TORN_LIST:
		t.blocks[fb_free_list(&t)].next = 2;
		break;
	case A_COUNT_OF_FREE_BLOCKS:
		t.die->free_blocks--;
		break;
	case A_WRONG_FEWEST:
		t.die->fewest_valid = t.pages_per_block;
		break;
	case AN_OPEN_BLOCK_TOO_FAR:
		t.die->open[FB_OPEN_FOR_HOST] = 99;
		break;
	case AN_ERASE_TOO_MANY:
		fb_nand_block(&m->flash.nand, 0, 0)->erase_count++;
		break;
	case A_PROGRAM_TOO_MANY:
		m->counters.flash_programmed_pages++;
		break;
	case BREAKAGES:
		break;
	}
}

static void verify_finds_what_is_broken(void)
{
	struct fb_params p = shape(1, 1, 16, 4, 1, 40 * 4);
	int breakage, i;

	for (breakage = 0; breakage < BREAKAGES; breakage++) {
		struct fb_medium *m = new_medium(&p);

		for (i = 0; i < 50; i++)
			submit(m, FB_WRITE, i % 40 * 2048, 2048, 0);
		CHECK(!fb_verify(m));
		break_it(m, breakage);
		CHECK(fb_verify(m));
		free(m);
	}
}

const struct test ftl_tests[] = {
	TEST(random_requests_leave_the_tables_sound),
	TEST(random_writes_wear_evenly),
	TEST(tables_are_small),
	TEST(verify_finds_what_is_broken),
	END_OF_TESTS,
};
