// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files, names and headers as other drivers leave them, and what they make of ours.
 * Each test holds a fact about other drivers; the table in docs/yaffs2.md names them.
 */
#include "other_bed.h"

/* Five chunks, of which another driver has cut off all but 100 bytes, with a header that has no flag */
static struct bed cut_off_elsewhere(void)
{
	struct bed bed = bed_of(&large_geometry, false);

	put_file(&bed, 0x102, "keeps the block", 0);
	put_file(&bed, FILE_ID, "f", 0);
	for (u32 k = 1; k <= 5; k++)
		raw_put_data(&bed.at, FILE_ID, k, 2048, 'x');
	put_file(&bed, FILE_ID, "f", 5 * 2048);
	raw_put_data(&bed.at, FILE_ID, 1, 100, 'x');
	put_file(&bed, FILE_ID, "f", 100);
	return bed;
}

/* Two ways to grow: a write far behind, and another size */
static void what_another_has_cut_off_is_hidden_when_we_let_grow(void)
{
	for (u32 way = 0; way < 2; way++) {
		struct bed bed = cut_off_elsewhere();
		struct y2_object *file;
		struct other *other;

		bed_mount(&bed);
		file = must_find(bed.fs, bed.fs->root, "f");
		CHECK_EQUAL(100, file->size);
		if (way)
			CHECK_EQUAL(0, (u64)y2_resize(bed.fs, file, 20000));
		else
			CHECK_EQUAL(1, (u64)y2_write(bed.fs, file, 19999, (const u8 *)"y", 1));
		CHECK_EQUAL(0, (u64)y2_sync(bed.fs, false));
		other = other_mount(bed.flash, false, OTHER_TODAY);
		CHECK_EQUAL(20000, other_size(other, FILE_ID));
		CHECK_EQUAL('x', other_byte(other, "f", 99));
		for (u64 at = 100; at < 19999; at++)
			CHECK_EQUAL(0, other_byte(other, "f", at));
		CHECK_EQUAL(way ? 0 : 'y', other_byte(other, "f", 19999));
		other_unmount(other);
		bed_end(&bed);
	}
}

/* Five chunks older than a header of size 0, three newer than it, and a header of all of them */
static struct bed with_a_smaller_size_between(bool shrink)
{
	const struct raw_header between = file_header("f", 0, shrink);
	struct bed bed = bed_of(&large_geometry, false);

	for (u32 k = 1; k <= 5; k++)
		raw_put_data(&bed.at, FILE_ID, k, 2048, 'x');
	raw_put_header(&bed.at, FILE_ID, &between);
	for (u32 k = 6; k <= 8; k++)
		raw_put_data(&bed.at, FILE_ID, k, 2048, 'x');
	put_file(&bed, FILE_ID, "f", 8 * 2048);
	return bed;
}

static void only_a_shrink_header_cuts_off_what_a_newer_header_covers(void)
{
	for (u32 shrink = 0; shrink < 2; shrink++) {
		struct bed bed = with_a_smaller_size_between(shrink);

		bed_mount(&bed);
		CHECK_EQUAL(8 * 2048, must_find(bed.fs, bed.fs->root, "f")->size);
		for (u64 at = 0; at < 8 * 2048; at++)
			CHECK_EQUAL(shrink && at < 5 * 2048 ? 0 : 'x', byte_at(&bed, "f", at));
		bed_end(&bed);
	}
}

static u8 pattern(u64 at)
{
	return (u8)(1 + at % 251);
}

static void check_pattern(struct bed *bed, struct other *other, u64 size)
{
	for (u64 at = 0; at < size; at++)
		CHECK_EQUAL(pattern(at), other ? other_byte(other, "f", at) : byte_at(bed, "f", at));
}

/* A driver of before March 2010 collects the block of the header while the file is written */
static void a_header_that_was_copied_with_its_old_size_cuts_nothing_off(void)
{
	const struct raw_header how = { .type = RAW_FILE, .mode = S_IFREG | 0644 };
	const struct y2_geometry *geometries[] = { &large_geometry, &large_geometry, &tiny_geometry };

	for (u32 i = 0; i < 3; i++) {
		struct bed bed = bed_of(geometries[i], i == 1);
		struct other *other = other_mount(bed.flash, i == 1, OTHER_FEBRUARY_2010);
		u8 data[60000];
		u32 id;

		for (u32 at = 0; at < sizeof(data); at++)
			data[at] = pattern(at);
		CHECK_EQUAL(0, (u64)other_create(other, 1, "f", &how));
		id = other_find(other, 1, "f");
		CHECK_EQUAL(0, (u64)other_write(other, id, 0, data, 35000));
		other_collect(other, id);
		CHECK_EQUAL(0, (u64)other_write(other, id, 35000, data + 35000, 25000));
		other_unmount(other);
		bed_mount(&bed);
		CHECK_EQUAL(sizeof(data), must_find(bed.fs, bed.fs->root, "f")->size);
		check_pattern(&bed, NULL, sizeof(data));
		collect_all_but(bed.fs, Y2_NO_BLOCK);
		CHECK_EQUAL(0, (u64)y2_sync(bed.fs, false));
		bed_mount(&bed);
		check_pattern(&bed, NULL, sizeof(data));
		other = other_mount(bed.flash, i == 1, OTHER_TODAY);
		check_pattern(&bed, other, sizeof(data));
		other_unmount(other);
		bed_end(&bed);
	}
}

/* What is newer than the header of the smaller size is part of the file */
static void data_behind_the_end_that_is_newer_counts(void)
{
	struct bed bed = cut_off_elsewhere();

	raw_put_data(&bed.at, FILE_ID, 2, 2048, 'z');
	bed_mount(&bed);
	CHECK_EQUAL(4096, must_find(bed.fs, bed.fs->root, "f")->size);
	CHECK_EQUAL('z', byte_at(&bed, "f", 2048));
	bed_end(&bed);
}

/* Whose page of chunk k of the object is the newest */
static bool newest_page(struct bed *bed, u32 id, u32 k, struct raw_tags *newest, u8 *data)
{
	bool found = false;

	for (u32 i = 0; i < bed->flash->geometry.blocks * bed->flash->geometry.chunks_per_block; i++) {
		u32 block = i / bed->flash->geometry.chunks_per_block, page = i % bed->flash->geometry.chunks_per_block;
		struct raw_tags tags;

		if (!raw_read(&bed->at.raw, block, page, NULL, &tags) || tags.object != id || tags.chunk != k ||
		    tags.deleted ||
		    (found && tags.seq < newest->seq))
			continue;
		found = raw_read(&bed->at.raw, block, page, data, newest);
	}
	return found;
}

/* They would take what it says and holds for good when the file grows */
static void the_last_chunk_of_a_shrunk_file_is_written_anew(void)
{
	for (u32 inband = 0; inband < 2; inband++) {
		struct bed bed = bed_of(&large_geometry, inband);
		struct y2_object *file;
		struct raw_tags tags;
		u8 data[5000];

		memset(data, 'x', sizeof(data));
		bed_mount(&bed);
		file = must_create(bed.fs, bed.fs->root, "f", S_IFREG | 0644);
		CHECK_EQUAL(sizeof(data), (u64)y2_write(bed.fs, file, 0, data, sizeof(data)));
		CHECK_EQUAL(0, (u64)y2_resize(bed.fs, file, 2500));
		CHECK(newest_page(&bed, file->id, 2, &tags, data));
		CHECK_EQUAL(2500 - bed.fs->chunk_bytes, tags.bytes);
		for (u32 i = 0; i < bed.fs->chunk_bytes; i++)
			CHECK_EQUAL(i < tags.bytes ? 'x' : 0, data[i]);
		bed_end(&bed);
	}
}

/* The power fails behind the header: the next mount writes the chunk */
static void a_last_chunk_that_was_left_long_is_shortened_by_the_next_mount(void)
{
	struct bed bed = bed_of(&large_geometry, false);
	struct raw_tags tags;
	u8 data[2048];

	put_file(&bed, FILE_ID, "f", 0);
	raw_put_data(&bed.at, FILE_ID, 1, 2048, 'x');
	put_file(&bed, FILE_ID, "f", 100);
	bed_mount(&bed);
	CHECK(newest_page(&bed, FILE_ID, 1, &tags, data));
	CHECK_EQUAL(100, tags.bytes);
	CHECK_EQUAL('x', data[99]);
	CHECK_EQUAL(0, data[100]);
	bed_end(&bed);
}

static struct raw_header link_header(const char *name, u32 to)
{
	struct raw_header header = { .type = RAW_HARDLINK, .parent = 1, .equivalent = to };

	strcpy(header.name, name);
	return header;
}

/*
 * create a, link a b, create c, rename c a. steps: how many headers of the rename reached the flash before the power
 * failed: c over a; a as b; b gone; c once more.
 */
static struct bed renamed_over_a_link(const struct y2_geometry *geometry, u32 steps)
{
	struct bed bed = bed_of(geometry, false);
	struct raw_header header = link_header("b", FILE_ID);
	u32 size = geometry->page_bytes;

	put_file(&bed, FILE_ID, "a", 0);
	raw_put_data(&bed.at, FILE_ID, 1, size, 'a');
	put_file(&bed, FILE_ID, "a", size);
	raw_put_header(&bed.at, 0x102, &header);
	raw_put_data(&bed.at, 0x103, 1, size, 'c');
	put_file(&bed, 0x103, "c", size);
	if (size == 512)
		CHECK_EQUAL(0, (u64)raw_mark(&bed.at.raw, 0, 0));
	header = file_header("a", size, false);
	header.shadows = FILE_ID;
	if (steps > 0) {
		raw_put_header(&bed.at, 0x103, &header);
		if (size == 512)
			CHECK_EQUAL(0, (u64)raw_mark(&bed.at.raw, 0, 5));
	}
	if (steps > 1) {
		put_file(&bed, FILE_ID, "b", size);
		if (size == 512)
			CHECK_EQUAL(0, (u64)raw_mark(&bed.at.raw, 0, 2));
	}
	header = link_header("deleted", FILE_ID);
	header.parent = RAW_PARENT_DELETED;
	if (steps > 2) {
		raw_put_header(&bed.at, 0x102, &header);
		if (size == 512)
			CHECK_EQUAL(0, (u64)raw_mark(&bed.at.raw, 0, 3));
	}
	if (steps > 3) {
		put_file(&bed, 0x103, "a", size);
		if (size == 512)
			CHECK_EQUAL(0, (u64)raw_mark(&bed.at.raw, 0, 6));
	}
	return bed;
}

static void check_renamed(struct bed *bed)
{
	struct y2_object *obj;

	CHECK_EQUAL('c', byte_at(bed, "a", 0));
	CHECK_EQUAL('a', byte_at(bed, "b", 0));
	obj = y2_object_resolve(must_find(bed->fs, bed->fs->root, "b"));
	obj->refs++;
	y2_object_put(bed->fs, obj);	/* as when the kernel drops the inode */
	CHECK_EQUAL('a', byte_at(bed, "b", 0));
	CHECK_EQUAL((u64)-ENOENT, (u64)y2_lookup(bed->fs, bed->fs->root, "c", 1, &obj));
	CHECK(list_empty(&bed->fs->lost_and_found->children));
}

static void an_object_with_links_outlives_its_shadow(void)
{
	const struct y2_geometry *geometries[] = { &large_geometry, &tiny_geometry };

	for (u32 i = 0; i < 8; i++) {
		struct bed bed = renamed_over_a_link(geometries[i / 4], 1 + i % 4);
		struct other *other;

		bed.options.read_only = true;
		bed_mount(&bed);
		check_renamed(&bed);
		bed.options.read_only = false;
		for (u32 mounts = 0; mounts < 3; mounts++) {
			bed_mount(&bed);
			check_renamed(&bed);
			CHECK_EQUAL(1, y2_object_links(y2_object_resolve(must_find(bed.fs, bed.fs->root, "b"))));
			CHECK_EQUAL(0, (u64)y2_sync(bed.fs, false));
		}
		other = other_mount(bed.flash, false, OTHER_TODAY);
		CHECK_EQUAL('c', other_byte(other, "a", 0));
		CHECK_EQUAL('a', other_byte(other, "b", 0));
		other_unmount(other);
		bed_end(&bed);
	}
}

/* Without links it is gone, and stays away when its number is given again */
static void a_shadowed_object_without_links_is_gone(void)
{
	struct bed bed = bed_of(&large_geometry, false);
	struct raw_header header = file_header("a", 0, false);

	put_file(&bed, FILE_ID, "a", 0);
	raw_put_data(&bed.at, FILE_ID, 1, 2048, 'a');
	header.shadows = FILE_ID;
	raw_put_header(&bed.at, 0x102, &header);
	bed_mount(&bed);
	CHECK_EQUAL(0x102, must_find(bed.fs, bed.fs->root, "a")->id);
	CHECK(list_empty(&bed.fs->lost_and_found->children));
	bed.fs->next_id = FILE_ID;
	CHECK_EQUAL(FILE_ID, must_create(bed.fs, bed.fs->root, "new", S_IFREG | 0644)->id);
	bed_mount(&bed);
	CHECK_EQUAL(0, must_find(bed.fs, bed.fs->root, "new")->size);
	bed_end(&bed);
}

/* ---- summaries and notes ---- */

static void the_longest_symbolic_links_have_no_end(void)
{
	struct bed bed = bed_of(&large_geometry, false);
	struct raw_header header = { .type = RAW_SYMLINK, .parent = 1, .name = "s", .mode = S_IFLNK | 0777 };
	struct y2_object *obj;

	memset(header.alias, 't', 159);
	raw_put_header(&bed.at, FILE_ID, &header);
	CHECK_EQUAL(0xff, bed.flash->data[300 + 159]);
	bed_mount(&bed);
	obj = must_find(bed.fs, bed.fs->root, "s");
	CHECK_EQUAL(0, (u64)y2_object_load(bed.fs, obj));
	CHECK(!strcmp(obj->alias, header.alias));
	bed_end(&bed);
}

static void plain_files_have_no_device(void)
{
	struct y2_header header = { .type = Y2_FILE, .name = "f", .rdev = 77 };
	u8 packed[512];

	y2_header_pack(&header, packed);
	CHECK_EQUAL(0, get_unaligned_le32(packed + 460));
	header.type = Y2_SPECIAL;
	y2_header_pack(&header, packed);
	CHECK_EQUAL(77, get_unaligned_le32(packed + 460));
	/* Absent */
	header.type = Y2_FILE;
	y2_header_pack(&header, packed);
	put_word(packed + 460, 0xffffffff);
	CHECK(y2_header_unpack(packed, &header));
	CHECK_EQUAL(0, header.rdev);
}

/* Where others have room for times of 64 bits, whatever they put there */
static void what_lies_beside_the_times_does_not_matter(void)
{
	struct y2_header header = { .type = Y2_FILE, .name = "f", .atime = 3, .mtime = 4, .ctime = 5, .size = 6 }, back;
	u8 packed[512];

	for (u32 fill = 0; fill < 256; fill += 51) {
		y2_header_pack(&header, packed);
		memset(packed + 464, (int)fill, 24);
		CHECK(y2_header_unpack(packed, &back));
		CHECK(!memcmp(&header, &back, sizeof(header)));
	}
}

/* Extended attributes: with a change of the object, a rename, a collection, and a truncation */
static void what_lies_behind_a_header_goes_along(void)
{
	for (u32 inband = 0; inband < 2; inband++) {
		struct bed bed = bed_of(&large_geometry, inband);
		const struct raw_header header = file_header("f", 10, false);
		struct raw_tags tags = raw_header_tags(FILE_ID, &header);
		u8 page[2048], back[2048];
		struct y2_object *file;

		raw_header_pack(&bed.at.raw, &header, page);
		strcpy((char *)page + 512, "user.attribute");
		raw_put(&bed.at, tags, page);
		raw_put_data(&bed.at, FILE_ID, 1, 10, 'x');
		for (u32 step = 0; step < 4; step++) {
			bed_mount(&bed);
			file = must_find(bed.fs, bed.fs->root, step < 2 ? "f" : "g");
			if (step == 0)
				y2_mark_dirty(bed.fs, file);
			else if (step == 1)
				CHECK_EQUAL(0, (u64)y2_rename(bed.fs, file, bed.fs->root, "g", 1));
			else if (step == 2)
				CHECK_EQUAL(0, (u64)y2_gc_block(bed.fs, file->header / 64));
			else
				CHECK_EQUAL(0, (u64)y2_resize(bed.fs, file, 3));
			CHECK_EQUAL(0, (u64)y2_sync(bed.fs, false));
			CHECK(raw_read(&bed.at.raw, file->header / 64, file->header % 64, back, &tags));
			CHECK(!memcmp(page + 512, back + 512, bed.fs->chunk_bytes - 512));
		}
		/* What we make anew has none */
		file = must_create(bed.fs, bed.fs->root, "new", S_IFREG | 0644);
		CHECK(raw_read(&bed.at.raw, file->header / 64, file->header % 64, back, &tags));
		CHECK(back[512] == 0xff && !memcmp(back + 512, back + 513, bed.fs->chunk_bytes - 513));
		bed_end(&bed);
	}
}

/* ---- flash that wears, and flash of other computers ---- */

const struct test other_files_tests[] = {
	TEST(what_another_has_cut_off_is_hidden_when_we_let_grow),
	TEST(only_a_shrink_header_cuts_off_what_a_newer_header_covers),
	TEST(a_header_that_was_copied_with_its_old_size_cuts_nothing_off),
	TEST(data_behind_the_end_that_is_newer_counts),
	TEST(the_last_chunk_of_a_shrunk_file_is_written_anew),
	TEST(a_last_chunk_that_was_left_long_is_shortened_by_the_next_mount),
	TEST(an_object_with_links_outlives_its_shadow),
	TEST(a_shadowed_object_without_links_is_gone),
	TEST(the_longest_symbolic_links_have_no_end),
	TEST(plain_files_have_no_device),
	TEST(what_lies_beside_the_times_does_not_matter),
	TEST(what_lies_behind_a_header_goes_along),
	END_OF_TESTS,
};
