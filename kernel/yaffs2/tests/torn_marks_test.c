// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of 512 bytes, all of which were deleted when the power failed in their erase. Some tags have become others by
 * it, which look right. Nothing in the block counts; but a block in which a page lives stays.
 */
#include "raw.h"

#define FILE_ID		0x101u
#define STALE_ID	0x178u

enum data { CLEAN, FIXED, LOST };

struct bed {
	struct ram_flash *flash;
	struct raw_cursor at;
	struct y2_options options;
	struct y2_fs *fs;
};

static u8 *oob_of(struct bed *bed, u32 block, u32 page)
{
	return bed->flash->oob + (block * bed->flash->geometry.chunks_per_block + page) *
				 bed->flash->geometry.oob_bytes;
}

static void damage(struct bed *bed, u32 block, u32 page, enum data data)
{
	const struct y2_geometry *geometry = &bed->flash->geometry;

	if (data == FIXED)
		bed->flash->data[(block * geometry->chunks_per_block + page) * geometry->page_bytes + 100] ^= 1;
	else if (data == LOST)
		ram_flash_seal(bed->flash, block, page, false);
}

/* What tells that a page is ours: the unused bit, number 64 to the ECC */
static void make_ours(struct bed *bed, u32 block, u32 page)
{
	oob_of(bed, block, page)[7] ^= 0x81;
}

static struct bed bed_with_a_file(void)
{
	struct bed bed = { .flash = ram_flash_new(&tiny_geometry, 1), .options = { .no_checkpoint = true } };
	const struct raw_header header = { .type = RAW_FILE, .parent = 1, .mode = S_IFREG | 0644, .size = 512,
					   .name = "f" };

	bed.at.raw = raw_of(bed.flash, false);
	raw_put_header(&bed.at, FILE_ID, &header);
	raw_put_data(&bed.at, FILE_ID, 1, 512, 'x');
	raw_next_block(&bed.at);
	return bed;
}

static void put_deleted(struct bed *bed, enum data data)
{
	u32 block = bed->at.block, page = bed->at.page;

	raw_put_data(&bed->at, STALE_ID, 1 + page, 512, 'd');
	CHECK_EQUAL(0, (u64)raw_mark(&bed->at.raw, block, page));
	damage(bed, block, page, data);
}

/* Neither deleted nor readable: the first bits of its tags are wrong */
static void put_nonsense(struct bed *bed)
{
	u32 block = bed->at.block, page = bed->at.page;

	raw_put_data(&bed->at, STALE_ID, 1 + page, 512, 'n');
	oob_of(bed, block, page)[6] ^= 0xf0;
	damage(bed, block, page, LOST);
}

static void put_stale(struct bed *bed, u32 chunk, bool ours, bool tags_fixed, enum data data)
{
	u32 block = bed->at.block, page = bed->at.page;

	raw_put_data(&bed->at, STALE_ID, chunk, 44, 'g');
	if (ours)
		make_ours(bed, block, page);
	if (tags_fixed)
		oob_of(bed, block, page)[0] ^= 1;
	damage(bed, block, page, data);
}

static void mount(struct bed *bed)
{
	u8 data = 0;

	bed->fs = must_mount(bed->flash, &bed->options);
	CHECK_EQUAL(0, (u64)y2_verify(bed->fs));
	CHECK_EQUAL(1, (u64)y2_read(bed->fs, must_find(bed->fs, bed->fs->root, "f"), 0, &data, 1));
	CHECK_EQUAL('x', data);
}

static void end(struct bed *bed)
{
	y2_abandon(bed->fs);
	ram_flash_free(bed->flash);
}

static void tags_that_came_of_a_torn_erase_are_no_page(void)
{
	const struct {
		bool ours;
		enum data data;
	} stale[] = { { false, LOST }, { false, FIXED }, { true, LOST }, { true, FIXED } };

	for (u32 i = 0; i < 4; i++) {
		struct bed bed = bed_with_a_file();

		put_nonsense(&bed);
		for (u32 page = 0; page < 6; page++)
			put_deleted(&bed, page % 3 ? LOST : FIXED);
		put_stale(&bed, 549448, stale[i].ours, false, stale[i].data);
		/* Tags that look corrected, of a page that looks corrected: no sign of life */
		put_stale(&bed, 131814, true, true, FIXED);
		put_nonsense(&bed);
		put_deleted(&bed, LOST);
		mount(&bed);
		CHECK(!y2_object_find(bed.fs, STALE_ID));
		end(&bed);
	}
}

/* Before it a deleted one with a wrong bit, and behind it one that was torn: most of the block is wrong */
static void a_page_that_lives_tells_that_no_erase_was_torn(void)
{
	for (enum data data = CLEAN; data <= FIXED; data++) {
		for (u32 ours = 0; ours < 2; ours++) {
			struct bed bed = bed_with_a_file();
			u32 block = bed.at.block;

			put_deleted(&bed, FIXED);
			raw_put_data(&bed.at, FILE_ID, 2, 512, 'y');
			make_ours(&bed, block, 1);
			damage(&bed, block, 1, data);
			if (ours)
				put_nonsense(&bed);
			else
				put_stale(&bed, 3, false, false, LOST);
			mount(&bed);
			CHECK_EQUAL(1024, y2_object_find(bed.fs, FILE_ID)->size);
			end(&bed);
		}
	}
}

/* Whatever lies around it, for a torn erase leaves no data right */
static void right_data_tells_that_no_erase_was_torn(void)
{
	struct bed bed = bed_with_a_file();
	u32 block = bed.at.block;

	put_deleted(&bed, FIXED);
	raw_put_data(&bed.at, FILE_ID, 2, 512, 'y');
	make_ours(&bed, block, 1);
	for (u32 page = 2; page < 6; page++)
		put_nonsense(&bed);
	mount(&bed);
	CHECK_EQUAL(1024, y2_object_find(bed.fs, FILE_ID)->size);
	end(&bed);
}

/* There, data is wrong in most pages and lost in some, but tags are right: what can be read still counts */
static void worn_blocks_with_marks_stay(void)
{
	for (u32 ours = 0; ours < 2; ours++) {
		struct bed bed = bed_with_a_file();
		u32 block = bed.at.block;

		if (ours)
			put_nonsense(&bed);
		for (u32 k = 2; k < 10; k++) {
			put_deleted(&bed, FIXED);
			raw_put_data(&bed.at, FILE_ID, k, 512, 'y');
			if (ours)
				make_ours(&bed, block, bed.at.page - 1);
			damage(&bed, block, bed.at.page - 1, k % 2 || !ours ? FIXED : LOST);
		}
		put_deleted(&bed, LOST);
		mount(&bed);
		CHECK_EQUAL(9 * 512, y2_object_find(bed.fs, FILE_ID)->size);
		end(&bed);
	}
}

const struct test torn_marks_tests[] = {
	TEST(tags_that_came_of_a_torn_erase_are_no_page), TEST(a_page_that_lives_tells_that_no_erase_was_torn),
	TEST(right_data_tells_that_no_erase_was_torn), TEST(worn_blocks_with_marks_stay), END_OF_TESTS,
};
