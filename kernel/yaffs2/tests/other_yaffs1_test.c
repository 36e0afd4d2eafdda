// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of 512 bytes as drivers of YAFFS1 leave them, and what those make of ours.
 * Each test holds a fact about other drivers; the table in docs/yaffs2.md names them.
 */
#include "other_bed.h"

static void headers_of_image_makers_count(void)
{
	struct bed bed = bed_of(&tiny_geometry, false);

	put_file(&bed, FILE_ID, "f", 512);	/* n_bytes of its tags is 1023 */
	raw_put_data(&bed.at, FILE_ID, 1, 512, 'x');
	bed_mount(&bed);
	CHECK(list_empty(&bed.fs->lost_and_found->children));
	CHECK_EQUAL('x', byte_at(&bed, "f", 511));
	bed_end(&bed);
}

static void blocks_of_deleted_pages_are_ordinary(void)
{
	struct bed bed = bed_of(&tiny_geometry, false);

	for (u32 i = 0; i < 3 * 32 + 5; i++) {
		raw_put_data(&bed.at, FILE_ID, i + 1, 512, 'x');
		CHECK_EQUAL(0, (u64)raw_mark(&bed.at.raw, i / 32, i % 32));
	}
	bed_mount(&bed);
	must_create(bed.fs, bed.fs->root, "f", S_IFREG | 0644);
	bed_mount(&bed);
	must_find(bed.fs, bed.fs->root, "f");
	CHECK(list_empty(&bed.fs->lost_and_found->children));
	bed_end(&bed);
}

/* Also on pages of ours: the mark of others clears one bit only */
static void what_others_mark_deleted_is(void)
{
	struct bed bed = bed_of(&tiny_geometry, false);
	struct y2_object *obj;
	u32 chunk;

	bed_mount(&bed);
	must_create(bed.fs, bed.fs->root, "f", S_IFREG | 0644);
	must_create(bed.fs, bed.fs->root, "g", S_IFREG | 0644);
	chunk = must_find(bed.fs, bed.fs->root, "f")->header;
	CHECK_EQUAL(0, (u64)y2_sync(bed.fs, false));
	CHECK_EQUAL(0, (u64)raw_mark(&bed.at.raw, chunk / 32, chunk % 32));
	bed_mount(&bed);
	CHECK_EQUAL((u64)-ENOENT, (u64)y2_lookup(bed.fs, bed.fs->root, "f", 1, &obj));
	must_find(bed.fs, bed.fs->root, "g");
	bed_end(&bed);
}

/* All that we write, and all that we mark, of ours and of others */
static void the_ecc_is_right_on_deleted_pages(void)
{
	struct bed bed = bed_of(&tiny_geometry, false);
	struct y2_object *file;
	u32 marked = 0, live = 0;

	put_file(&bed, FILE_ID, "theirs", 512);
	raw_put_data(&bed.at, FILE_ID, 1, 512, 'x');
	bed_mount(&bed);
	CHECK_EQUAL(0, (u64)y2_unlink(bed.fs, must_find(bed.fs, bed.fs->root, "theirs")));
	file = must_create(bed.fs, bed.fs->root, "ours", S_IFREG | 0644);
	for (u32 i = 0; i < 300; i++) {
		CHECK_EQUAL(1, (u64)y2_write(bed.fs, file, i % 7 * 1000, (const u8 *)"x", 1));
		CHECK_EQUAL(0, (u64)y2_sync(bed.fs, false));
	}
	for (u32 i = 0; i < 256 * 32; i++) {
		struct raw_tags tags;

		if (raw_is_blank(&bed.at.raw, i / 32, i % 32))
			continue;
		CHECK(raw_read(&bed.at.raw, i / 32, i % 32, NULL, &tags));
		CHECK(!tags.wrong_ecc);
		marked += tags.deleted;
		live += !tags.deleted;
	}
	CHECK(marked > 10 && live > 3);
	bed_end(&bed);
}

static void a_file_that_ends_in_a_hole_has_its_end_in_its_header(void)
{
	struct bed bed = bed_of(&tiny_geometry, false);
	struct other *other;

	raw_put_data(&bed.at, FILE_ID, 1, 512, 'x');
	put_file(&bed, FILE_ID, "f", 5000);
	bed_mount(&bed);
	CHECK_EQUAL(5000, must_find(bed.fs, bed.fs->root, "f")->size);
	CHECK_EQUAL(0, byte_at(&bed, "f", 4999));
	CHECK_EQUAL(0, (u64)y2_resize(bed.fs, must_find(bed.fs, bed.fs->root, "f"), 7000));
	other = other_mount(bed.flash, false, OTHER_JUNE_2010);
	CHECK_EQUAL(7000, other_size(other, FILE_ID));
	other_unmount(other);
	bed_end(&bed);
}

/* Where the last chunk ends that is not deleted: the end of the file for drivers that do not look into its header */
static u64 end_of_chunks(struct bed *bed, u32 id)
{
	u64 end = 0;

	for (u32 i = 0; i < 256 * 32; i++) {
		struct raw_tags tags;

		if (raw_is_blank(&bed->at.raw, i / 32, i % 32) || !raw_read(&bed->at.raw, i / 32, i % 32, NULL, &tags) ||
		    tags.object != id || tags.deleted || !tags.chunk)
			continue;
		end = max(end, (u64)(tags.chunk - 1) * 512 + tags.bytes);
	}
	return end;
}

/* From a file with data at 1,000 and at 9,000 */
static void the_last_chunk_of_ours_tells_the_end_also_in_a_hole(void)
{
	static const u64 sizes[] = { 20000, 20480, 9100, 9216, 6000, 5632, 1001, 1024, 1025, 300, 0 };

	for (u32 i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct bed bed = bed_of(&tiny_geometry, false);
		struct y2_object *file;

		bed_mount(&bed);
		file = must_create(bed.fs, bed.fs->root, "f", S_IFREG | 0644);
		CHECK_EQUAL(1, (u64)y2_write(bed.fs, file, 1000, (const u8 *)"x", 1));
		CHECK_EQUAL(1, (u64)y2_write(bed.fs, file, 9000, (const u8 *)"y", 1));
		for (u32 turn = 0; turn < 2; turn++) {
			CHECK_EQUAL(0, (u64)y2_resize(bed.fs, file, sizes[turn ? i : (i + 5) % 11]));
			CHECK_EQUAL(sizes[turn ? i : (i + 5) % 11], end_of_chunks(&bed, file->id));
		}
		bed_mount(&bed);
		CHECK_EQUAL(sizes[i], must_find(bed.fs, bed.fs->root, "f")->size);
		for (u64 at = 0; at < sizes[i]; at++)
			if (at != 1000 && at != 9000)
				CHECK_EQUAL(0, byte_at(&bed, "f", at));
		bed_end(&bed);
	}
}

/*
 * Two chunks of one place, of which the shorter is the newer: it tells where the file ends, in whatever order they
 * are met
 */
static void the_newer_of_two_last_chunks_tells_the_end(void)
{
	for (u32 first = 0; first < 2; first++) {
		struct bed bed = bed_of(&tiny_geometry, false);
		u8 data[512];

		memset(data, 'x', sizeof(data));
		raw_put(&bed.at, (struct raw_tags) { .object = FILE_ID, .bytes = 1023 }, data);
		for (u32 i = 0; i < 2; i++) {
			bool newer = i == first;

			raw_put(&bed.at, (struct raw_tags) { .object = FILE_ID, .chunk = 3, .serial = newer,
							     .bytes = newer ? 100 : 512 }, data);
		}
		bed_mount(&bed);
		CHECK_EQUAL(1124, y2_object_find(bed.fs, FILE_ID)->size);
		bed_end(&bed);
	}
}

/* ---- headers ---- */

const struct test other_yaffs1_tests[] = {
	TEST(headers_of_image_makers_count),
	TEST(blocks_of_deleted_pages_are_ordinary),
	TEST(what_others_mark_deleted_is),
	TEST(the_ecc_is_right_on_deleted_pages),
	TEST(a_file_that_ends_in_a_hole_has_its_end_in_its_header),
	TEST(the_last_chunk_of_ours_tells_the_end_also_in_a_hole),
	TEST(the_newer_of_two_last_chunks_tells_the_end),
	END_OF_TESTS,
};
