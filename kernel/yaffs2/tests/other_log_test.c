// SPDX-License-Identifier: GPL-2.0-only
/*
 * The log as other drivers leave it: summaries, numbers of chunks, worn and torn pages, the order of bytes.
 * Each test holds a fact about other drivers; the table in docs/yaffs2.md names them.
 */
#include "other_bed.h"

/* A full block: a header, data of 'x', and a summary with entries for the pages from first on */
static struct bed with_summary(u32 first, u32 number)
{
	struct bed bed = bed_of(&large_geometry, false);
	const struct raw_header header = file_header("f", 62 * 2048, false);
	struct raw_tags tags = raw_header_tags(FILE_ID, &header);
	u8 page[2048] = { 1 };
	u32 sum = 0;

	put_file(&bed, FILE_ID, "f", 62 * 2048);
	for (u32 k = 1; k <= 62; k++)
		raw_put_data(&bed.at, FILE_ID, k, 2048, 'x');
	for (u32 i = first; i < 63; i++) {
		put_word(page + 16 + 12 * i, i ? FILE_ID : tags.object);
		put_word(page + 20 + 12 * i, i ? i : tags.chunk);
		put_word(page + 24 + 12 * i, i ? 2048 : tags.bytes);
	}
	for (u32 i = 16; i < 16 + 12 * 63; i++)
		sum += page[i];
	put_word(page + 4, number);
	put_word(page + 8, 0x1000);
	put_word(page + 12, sum);
	raw_put(&bed.at, (struct raw_tags) { .object = RAW_SUMMARY_ID, .chunk = 1, .bytes = 16 + 12 * 63 }, page);
	return bed;
}

static void gaps_in_a_summary_are_filled_from_the_pages(void)
{
	struct bed bed = with_summary(40, 1);

	bed_mount(&bed);
	CHECK_EQUAL(1, bed.fs->stats.summaries_used);
	CHECK_EQUAL(62 * 2048, must_find(bed.fs, bed.fs->root, "f")->size);
	for (u32 k = 0; k < 62; k++)
		CHECK_EQUAL('x', byte_at(&bed, "f", k * 2048));
	bed_end(&bed);
}

/* Where the first block is 0, others number from 1; elsewhere as we used to */
static void summaries_number_blocks_from_one(void)
{
	for (u32 number = 0; number < 3; number++) {
		struct bed bed = with_summary(0, number);

		bed_mount(&bed);
		CHECK_EQUAL(number < 2, bed.fs->stats.summaries_used);
		CHECK_EQUAL('x', byte_at(&bed, "f", 0));
		bed_end(&bed);
	}
}

static void our_summaries_number_blocks_from_one(void)
{
	struct bed bed = bed_of(&large_geometry, false);
	struct raw_tags tags;
	u8 data[2048];
	u32 block;

	bed_mount(&bed);
	for (u32 i = 0; i < 70; i++) {
		snprintf((char *)data, 16, "f%u", i);
		must_create(bed.fs, bed.fs->root, (char *)data, S_IFREG | 0644);
	}
	block = must_find(bed.fs, bed.fs->root, "f0")->header / 64;
	CHECK(raw_read(&bed.at.raw, block, 63, data, &tags));
	CHECK_EQUAL(RAW_SUMMARY_ID, tags.object);
	CHECK_EQUAL(1, tags.chunk);
	CHECK_EQUAL(block + 1, data[4] | data[5] << 8);
	bed_end(&bed);
}

/* Work that collects blocks with shrink headers, which leaves notes, and a checkpoint at its end */
static struct bed after_hard_work(void)
{
	struct y2_geometry geometry = large_geometry;
	struct bed bed;
	u64 random = 7;

	geometry.chunks_per_block = 16;
	geometry.blocks = 64;
	bed = bed_of(&geometry, false);
	bed.options.no_checkpoint = false;
	bed_mount(&bed);
	for (u32 i = 0; i < 4000; i++) {
		static u8 data[8192];
		char name[8];
		struct y2_object *file;

		snprintf(name, sizeof(name), "f%u", ram_random(&random, 20));
		if (y2_lookup(bed.fs, bed.fs->root, name, (u32)strlen(name), &file))
			file = must_create(bed.fs, bed.fs->root, name, S_IFREG | 0644);
		if (!ram_random(&random, 8))
			CHECK_EQUAL(0, (u64)y2_unlink(bed.fs, file));
		else if (ram_random(&random, 2))
			CHECK_EQUAL(0, (u64)y2_resize(bed.fs, file, ram_random(&random, 20000)));
		else
			CHECK_EQUAL(5000, (u64)y2_write(bed.fs, file, ram_random(&random, 20000), data, 5000));
	}
	CHECK(bed.fs->stats.erase_intents > 100);
	CHECK_EQUAL(0, (u64)y2_unmount(bed.fs));
	bed.fs = NULL;
	return bed;
}

/*
 * Chunk ids from 0x02000000 on, notes among them, made drivers of before July 2010 refuse the mount. A note is a file
 * of theirs that is gone, under the number of summaries, which later ones pass over.
 */
static void no_page_of_ours_makes_older_drivers_refuse_the_mount(void)
{
	struct bed bed = after_hard_work();
	u32 notes = 0, others = 0;

	for (u32 i = 0; i < 64 * 16; i++) {
		struct raw_tags tags;

		if (!raw_read(&bed.at.raw, i / 16, i % 16, NULL, &tags))
			continue;
		others++;
		CHECK(tags.chunk >> 31 || tags.chunk < 0x02000000);
		CHECK(tags.chunk >> 31 || tags.bytes <= 2048);
		if ((tags.object & 0x0fffffff) != RAW_SUMMARY_ID || !(tags.chunk >> 31))
			continue;
		notes++;
		CHECK_EQUAL(RAW_SUMMARY_ID | (u32)RAW_FILE << 28, tags.object);
		CHECK_EQUAL(RAW_PARENT_DELETED, tags.chunk & 0x0fffffff);
		CHECK_EQUAL(0, tags.bytes);
	}
	CHECK(notes && others > 100);
	other_unmount(other_mount(bed.flash, false, OTHER_JUNE_2010));	/* checks each page that it meets */
	bed_end(&bed);
}

static void files_end_before_the_chunks_that_older_drivers_refuse(void)
{
	struct bed bed = bed_of(&large_geometry, false);

	bed_mount(&bed);
	CHECK_EQUAL(0x01ffffffull * 2048, y2_file_max(bed.fs));
	bed_end(&bed);
}

/* ---- YAFFS1 ---- */

/* In-band tags are under the chip's code: a corrected bit anywhere in each page is wear, not an erase that was torn */
static void worn_blocks_with_inband_tags_stay(void)
{
	struct bed bed = bed_of(&large_geometry, true);

	put_file(&bed, FILE_ID, "f", 40 * 2032);
	for (u32 k = 1; k <= 40; k++)
		raw_put_data(&bed.at, FILE_ID, k, 2032, 'x');
	raw_next_block(&bed.at);
	put_file(&bed, 0x102, "g", 0);
	for (u32 page = 0; page < 40; page++)
		bed.flash->data[page * 2048 + 700] ^= 1;
	bed_mount(&bed);
	CHECK_EQUAL(40 * 2032, must_find(bed.fs, bed.fs->root, "f")->size);
	for (u32 k = 0; k < 40; k++)
		CHECK_EQUAL('x', byte_at(&bed, "f", k * 2032));
	bed_end(&bed);
}

/* A page, a block, three; data, a header, a checkpoint; whatever the tags are like */
static void check_big_endian_is_refused(bool by_option)
{
	const struct y2_geometry *geometries[] = { &large_geometry, &large_geometry, &large_geometry, &tiny_geometry };

	for (u32 i = 0; i < 4 * 4; i++) {
		bool inband = i % 4 == 1, no_ecc = i % 4 == 2;
		struct bed bed = bed_of(geometries[i % 4], inband);
		u64 operations;

		bed.at.raw.big_endian = true;
		bed.at.raw.by_option = by_option;
		bed.options.no_tags_ecc = no_ecc;
		/* Of YAFFS1 only headers tell */
		if (i / 4 == 0 || (by_option && i % 4 == 3))
			put_file(&bed, 0x200, "f", 0);
		else if (i / 4 == 1)
			raw_put_data(&bed.at, FILE_ID, 1, 256, 'x');
		else if (i / 4 == 2 && i % 4 < 3)
			raw_put(&bed.at, (struct raw_tags) {
				.seq = RAW_SEQ_CHECKPOINT, .object = 0x20, .chunk = 1, .bytes = 2000,
			}, (const u8[2048]) { 0 });
		for (u32 k = 1; i / 4 == 3 && k < 150; k++)
			raw_put_data(&bed.at, FILE_ID, k, 512, 'x');
		if (!bed.at.page && !bed.at.block)
			raw_put_data(&bed.at, 0x102, 7, 512, 'x');
		operations = bed.flash->operations;
		CHECK_EQUAL((u64)-EUCLEAN,
			    (u64)y2_mount(&bed.fs, &bed.flash->geometry, &ram_flash_ops, bed.flash, &bed.options,
							 test_now));
		CHECK_EQUAL(operations, bed.flash->operations);
		bed.fs = NULL;
		bed_end(&bed);
	}
}

static void big_endian_flash_is_refused(void)
{
	check_big_endian_is_refused(false);
}

static void flash_that_is_big_endian_by_an_option_is_refused(void)
{
	check_big_endian_is_refused(true);
}

/* The newest block is half written and its last page torn: another driver would go on behind it */
static void nobody_goes_on_behind_a_torn_page(void)
{
	const struct y2_geometry *geometries[] = { &large_geometry, &tiny_geometry };

	for (u32 i = 0; i < 2; i++) {
		u32 size = geometries[i]->page_bytes;
		struct bed bed = bed_of(geometries[i], false);

		put_file(&bed, FILE_ID, "f", size);
		raw_put_data(&bed.at, FILE_ID, 1, size, 'x');
		raw_put(&bed.at, (struct raw_tags) { .object = FILE_ID, .chunk = 1, .bytes = size, .serial = 1 },
			(const u8[2048]) { 'y' });
		bed.flash->data[2 * size + 100] ^= 7;	/* looks as if one bit had been corrected */
		bed_mount(&bed);
		CHECK_EQUAL('x', byte_at(&bed, "f", 0));
		if (i) {
			struct raw_tags tags;

			CHECK(raw_read(&bed.at.raw, 0, 2, NULL, &tags) && tags.deleted);
		} else {
			CHECK(bed.fs->alloc_block != Y2_NO_BLOCK && bed.fs->seq > 0x1000);
		}
		bed_end(&bed);
	}
}

const struct test other_log_tests[] = {
	TEST(gaps_in_a_summary_are_filled_from_the_pages),
	TEST(summaries_number_blocks_from_one),
	TEST(our_summaries_number_blocks_from_one),
	TEST(no_page_of_ours_makes_older_drivers_refuse_the_mount),
	TEST(files_end_before_the_chunks_that_older_drivers_refuse),
	TEST(worn_blocks_with_inband_tags_stay),
	TEST(big_endian_flash_is_refused),
	TEST(flash_that_is_big_endian_by_an_option_is_refused),
	TEST(nobody_goes_on_behind_a_torn_page),
	END_OF_TESTS,
};
