// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flash as other drivers leave it, page by page, and what they make of ours. Each test holds a fact of the format; the table in
 * docs/yaffs2.md names them.
 */
#include "other.h"

#define FILE_ID	0x101u

struct bed {
	struct ram_flash *flash;
	struct raw_cursor at;
	struct y2_options options;
	struct y2_fs *fs;
};

static struct bed bed_of(const struct y2_geometry *geometry, bool inband)
{
	struct bed bed = { .flash = ram_flash_new(geometry, 1), .options = { .no_checkpoint = true, .inband_tags = inband } };

	bed.at.raw = raw_of(bed.flash, inband);
	return bed;
}

static void mount(struct bed *bed)
{
	if (bed->fs)
		y2_abandon(bed->fs);
	bed->fs = must_mount(bed->flash, &bed->options);
	CHECK_EQUAL(0, (u64)y2_verify(bed->fs));
}

static void end(struct bed *bed)
{
	if (bed->fs)
		y2_abandon(bed->fs);
	ram_flash_free(bed->flash);
}

static struct raw_header file_header(const char *name, u64 size, bool shrink)
{
	struct raw_header header = { .type = RAW_FILE, .parent = 1, .mode = S_IFREG | 0644, .size = size, .shrink = shrink };

	strcpy(header.name, name);
	return header;
}

static void put_file(struct bed *bed, u32 id, const char *name, u64 size)
{
	const struct raw_header header = file_header(name, size, false);

	raw_put_header(&bed->at, id, &header);
}

static u8 byte_at(struct bed *bed, const char *name, u64 offset)
{
	u8 data = 0xee;

	CHECK_EQUAL(1, (u64)y2_read(bed->fs, y2_object_resolve(must_find(bed->fs, bed->fs->root, name)), offset, &data, 1));
	return data;
}

static u8 other_byte(struct other *other, const char *name, u64 offset)
{
	u8 data = 0xee;

	other_read(other, other_find(other, 1, name), offset, &data, 1);
	return data;
}

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

		mount(&bed);
		file = must_find(bed.fs, bed.fs->root, "f");
		CHECK_EQUAL(100, file->size);
		if (way)
			CHECK_EQUAL(0, (u64)y2_resize(bed.fs, file, 20000));
		else
			CHECK_EQUAL(1, (u64)y2_write(bed.fs, file, 19999, (const u8 *)"y", 1));
		CHECK_EQUAL(0, (u64)y2_sync(bed.fs, false));
		other = other_mount(bed.flash, false, true);
		CHECK_EQUAL(20000, other_size(other, FILE_ID));
		CHECK_EQUAL('x', other_byte(other, "f", 99));
		for (u64 at = 100; at < 19999; at++)
			CHECK_EQUAL(0, other_byte(other, "f", at));
		CHECK_EQUAL(way ? 0 : 'y', other_byte(other, "f", 19999));
		other_unmount(other);
		end(&bed);
	}
}

/* The header that let the file grow again came without the flag, too */
static void data_beyond_a_size_that_a_later_header_states_stays_away(void)
{
	struct bed bed = cut_off_elsewhere();

	put_file(&bed, FILE_ID, "f", 5 * 2048);
	mount(&bed);
	CHECK_EQUAL('x', byte_at(&bed, "f", 0));
	for (u64 at = 100; at < 5 * 2048; at++)
		CHECK_EQUAL(0, byte_at(&bed, "f", at));
	end(&bed);
}

/* What is newer than the header of the smaller size is part of the file */
static void data_behind_the_end_that_is_newer_counts(void)
{
	struct bed bed = cut_off_elsewhere();

	raw_put_data(&bed.at, FILE_ID, 2, 2048, 'z');
	mount(&bed);
	CHECK_EQUAL(4096, must_find(bed.fs, bed.fs->root, "f")->size);
	CHECK_EQUAL('z', byte_at(&bed, "f", 2048));
	end(&bed);
}

/* Whose page of chunk k of the object is the newest */
static bool newest_page(struct bed *bed, u32 id, u32 k, struct raw_tags *newest, u8 *data)
{
	bool found = false;

	for (u32 i = 0; i < bed->flash->geometry.blocks * bed->flash->geometry.chunks_per_block; i++) {
		u32 block = i / bed->flash->geometry.chunks_per_block, page = i % bed->flash->geometry.chunks_per_block;
		struct raw_tags tags;

		if (!raw_read(&bed->at.raw, block, page, NULL, &tags) || tags.object != id || tags.chunk != k || tags.deleted ||
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
		mount(&bed);
		file = must_create(bed.fs, bed.fs->root, "f", S_IFREG | 0644);
		CHECK_EQUAL(sizeof(data), (u64)y2_write(bed.fs, file, 0, data, sizeof(data)));
		CHECK_EQUAL(0, (u64)y2_resize(bed.fs, file, 2500));
		CHECK(newest_page(&bed, file->id, 2, &tags, data));
		CHECK_EQUAL(2500 - bed.fs->chunk_bytes, tags.bytes);
		for (u32 i = 0; i < bed.fs->chunk_bytes; i++)
			CHECK_EQUAL(i < tags.bytes ? 'x' : 0, data[i]);
		end(&bed);
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
	mount(&bed);
	CHECK(newest_page(&bed, FILE_ID, 1, &tags, data));
	CHECK_EQUAL(100, tags.bytes);
	CHECK_EQUAL('x', data[99]);
	CHECK_EQUAL(0, data[100]);
	end(&bed);
}

/* ---- shadows ---- */

static struct raw_header link_header(const char *name, u32 to)
{
	struct raw_header header = { .type = RAW_HARDLINK, .parent = 1, .equivalent = to };

	strcpy(header.name, name);
	return header;
}

/*
 * create a, link a b, create c, rename c a. steps: how many headers of the rename reached the flash before the power failed: c
 * over a; a as b; b gone; c once more.
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
		mount(&bed);
		check_renamed(&bed);
		bed.options.read_only = false;
		for (u32 mounts = 0; mounts < 3; mounts++) {
			mount(&bed);
			check_renamed(&bed);
			CHECK_EQUAL(1, y2_object_links(y2_object_resolve(must_find(bed.fs, bed.fs->root, "b"))));
			CHECK_EQUAL(0, (u64)y2_sync(bed.fs, false));
		}
		other = other_mount(bed.flash, false, true);
		CHECK_EQUAL('c', other_byte(other, "a", 0));
		CHECK_EQUAL('a', other_byte(other, "b", 0));
		other_unmount(other);
		end(&bed);
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
	mount(&bed);
	CHECK_EQUAL(0x102, must_find(bed.fs, bed.fs->root, "a")->id);
	CHECK(list_empty(&bed.fs->lost_and_found->children));
	bed.fs->next_id = FILE_ID;
	CHECK_EQUAL(FILE_ID, must_create(bed.fs, bed.fs->root, "new", S_IFREG | 0644)->id);
	mount(&bed);
	CHECK_EQUAL(0, must_find(bed.fs, bed.fs->root, "new")->size);
	end(&bed);
}

/* ---- summaries and notes ---- */

static void put_word(u8 *to, u32 word)
{
	for (u32 i = 0; i < 4; i++)
		to[i] = (u8)(word >> 8 * i);
}

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

	mount(&bed);
	CHECK_EQUAL(1, bed.fs->stats.summaries_used);
	CHECK_EQUAL(62 * 2048, must_find(bed.fs, bed.fs->root, "f")->size);
	for (u32 k = 0; k < 62; k++)
		CHECK_EQUAL('x', byte_at(&bed, "f", k * 2048));
	end(&bed);
}

/* Where the first block is 0, others number from 1; elsewhere as we used to */
static void summaries_number_blocks_from_one(void)
{
	for (u32 number = 0; number < 3; number++) {
		struct bed bed = with_summary(0, number);

		mount(&bed);
		CHECK_EQUAL(number < 2, bed.fs->stats.summaries_used);
		CHECK_EQUAL('x', byte_at(&bed, "f", 0));
		end(&bed);
	}
}

static void our_summaries_number_blocks_from_one(void)
{
	struct bed bed = bed_of(&large_geometry, false);
	struct raw_tags tags;
	u8 data[2048];
	u32 block;

	mount(&bed);
	for (u32 i = 0; i < 70; i++) {
		snprintf((char *)data, 16, "f%u", i);
		must_create(bed.fs, bed.fs->root, (char *)data, S_IFREG | 0644);
	}
	block = must_find(bed.fs, bed.fs->root, "f0")->header / 64;
	CHECK(raw_read(&bed.at.raw, block, 63, data, &tags));
	CHECK_EQUAL(RAW_SUMMARY_ID, tags.object);
	CHECK_EQUAL(1, tags.chunk);
	CHECK_EQUAL(block + 1, data[4] | data[5] << 8);
	end(&bed);
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
	mount(&bed);
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
 * Chunk ids from 0x02000000 on, notes among them, made drivers of before July 2010 refuse the mount. A note is a file of theirs
 * that is gone, under the number of summaries, which later ones pass over.
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
	other_unmount(other_mount(bed.flash, false, false));	/* checks each page that it meets */
	end(&bed);
}

static void files_end_before_the_chunks_that_older_drivers_refuse(void)
{
	struct bed bed = bed_of(&large_geometry, false);

	mount(&bed);
	CHECK_EQUAL(0x01ffffffull * 2048, y2_file_max(bed.fs));
	end(&bed);
}

/* ---- YAFFS1 ---- */

static void headers_of_image_makers_count(void)
{
	struct bed bed = bed_of(&tiny_geometry, false);

	put_file(&bed, FILE_ID, "f", 512);	/* n_bytes of its tags is 1023 */
	raw_put_data(&bed.at, FILE_ID, 1, 512, 'x');
	mount(&bed);
	CHECK(list_empty(&bed.fs->lost_and_found->children));
	CHECK_EQUAL('x', byte_at(&bed, "f", 511));
	end(&bed);
}

static void blocks_of_deleted_pages_are_ordinary(void)
{
	struct bed bed = bed_of(&tiny_geometry, false);

	for (u32 i = 0; i < 3 * 32 + 5; i++) {
		raw_put_data(&bed.at, FILE_ID, i + 1, 512, 'x');
		CHECK_EQUAL(0, (u64)raw_mark(&bed.at.raw, i / 32, i % 32));
	}
	mount(&bed);
	must_create(bed.fs, bed.fs->root, "f", S_IFREG | 0644);
	mount(&bed);
	must_find(bed.fs, bed.fs->root, "f");
	CHECK(list_empty(&bed.fs->lost_and_found->children));
	end(&bed);
}

/* Also on pages of ours: the mark of others clears one bit only */
static void what_others_mark_deleted_is(void)
{
	struct bed bed = bed_of(&tiny_geometry, false);
	struct y2_object *obj;
	u32 chunk;

	mount(&bed);
	must_create(bed.fs, bed.fs->root, "f", S_IFREG | 0644);
	must_create(bed.fs, bed.fs->root, "g", S_IFREG | 0644);
	chunk = must_find(bed.fs, bed.fs->root, "f")->header;
	CHECK_EQUAL(0, (u64)y2_sync(bed.fs, false));
	CHECK_EQUAL(0, (u64)raw_mark(&bed.at.raw, chunk / 32, chunk % 32));
	mount(&bed);
	CHECK_EQUAL((u64)-ENOENT, (u64)y2_lookup(bed.fs, bed.fs->root, "f", 1, &obj));
	must_find(bed.fs, bed.fs->root, "g");
	end(&bed);
}

/* All that we write, and all that we mark, of ours and of others */
static void the_ecc_is_right_on_deleted_pages(void)
{
	struct bed bed = bed_of(&tiny_geometry, false);
	struct y2_object *file;
	u32 marked = 0, live = 0;

	put_file(&bed, FILE_ID, "theirs", 512);
	raw_put_data(&bed.at, FILE_ID, 1, 512, 'x');
	mount(&bed);
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
	end(&bed);
}

static void a_file_that_ends_in_a_hole_has_its_end_in_its_header(void)
{
	struct bed bed = bed_of(&tiny_geometry, false);
	struct other *other;

	raw_put_data(&bed.at, FILE_ID, 1, 512, 'x');
	put_file(&bed, FILE_ID, "f", 5000);
	mount(&bed);
	CHECK_EQUAL(5000, must_find(bed.fs, bed.fs->root, "f")->size);
	CHECK_EQUAL(0, byte_at(&bed, "f", 4999));
	CHECK_EQUAL(0, (u64)y2_resize(bed.fs, must_find(bed.fs, bed.fs->root, "f"), 7000));
	other = other_mount(bed.flash, false, false);
	CHECK_EQUAL(7000, other_size(other, FILE_ID));
	other_unmount(other);
	end(&bed);
}

/* Two chunks of one place, of which the shorter is the newer: it tells where the file ends, in whatever order they are met */
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
		mount(&bed);
		CHECK_EQUAL(1124, y2_object_find(bed.fs, FILE_ID)->size);
		end(&bed);
	}
}

/* ---- headers ---- */

static void the_longest_symbolic_links_have_no_end(void)
{
	struct bed bed = bed_of(&large_geometry, false);
	struct raw_header header = { .type = RAW_SYMLINK, .parent = 1, .name = "s", .mode = S_IFLNK | 0777 };
	struct y2_object *obj;

	memset(header.alias, 't', 159);
	raw_put_header(&bed.at, FILE_ID, &header);
	CHECK_EQUAL(0xff, bed.flash->data[300 + 159]);
	mount(&bed);
	obj = must_find(bed.fs, bed.fs->root, "s");
	CHECK_EQUAL(0, (u64)y2_object_load(bed.fs, obj));
	CHECK(!strcmp(obj->alias, header.alias));
	end(&bed);
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
			mount(&bed);
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
		end(&bed);
	}
}

/* ---- flash that wears, and flash of other computers ---- */

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
	mount(&bed);
	CHECK_EQUAL(40 * 2032, must_find(bed.fs, bed.fs->root, "f")->size);
	for (u32 k = 0; k < 40; k++)
		CHECK_EQUAL('x', byte_at(&bed, "f", k * 2032));
	end(&bed);
}

/* A page, a block, three; data, a header, a checkpoint; whatever the tags are like */
static void big_endian_flash_is_refused(void)
{
	const struct y2_geometry *geometries[] = { &large_geometry, &large_geometry, &large_geometry, &tiny_geometry };

	for (u32 i = 0; i < 4 * 4; i++) {
		bool inband = i % 4 == 1, no_ecc = i % 4 == 2;
		struct bed bed = bed_of(geometries[i % 4], inband);
		u64 operations;

		bed.at.raw.big_endian = true;
		bed.options.no_tags_ecc = no_ecc;
		if (i / 4 == 0)
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
		CHECK_EQUAL((u64)-EUCLEAN, (u64)y2_mount(&bed.fs, &bed.flash->geometry, &ram_flash_ops, bed.flash, &bed.options,
							 test_now));
		CHECK_EQUAL(operations, bed.flash->operations);
		bed.fs = NULL;
		end(&bed);
	}
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
		mount(&bed);
		CHECK_EQUAL('x', byte_at(&bed, "f", 0));
		if (i) {
			struct raw_tags tags;

			CHECK(raw_read(&bed.at.raw, 0, 2, NULL, &tags) && tags.deleted);
		} else {
			CHECK(bed.fs->alloc_block != Y2_NO_BLOCK && bed.fs->seq > 0x1000);
		}
		end(&bed);
	}
}

const struct test others_tests[] = {
	TEST(what_another_has_cut_off_is_hidden_when_we_let_grow),
	TEST(data_beyond_a_size_that_a_later_header_states_stays_away), TEST(data_behind_the_end_that_is_newer_counts),
	TEST(the_last_chunk_of_a_shrunk_file_is_written_anew),
	TEST(a_last_chunk_that_was_left_long_is_shortened_by_the_next_mount),
	TEST(an_object_with_links_outlives_its_shadow), TEST(a_shadowed_object_without_links_is_gone),
	TEST(gaps_in_a_summary_are_filled_from_the_pages), TEST(summaries_number_blocks_from_one),
	TEST(our_summaries_number_blocks_from_one), TEST(no_page_of_ours_makes_older_drivers_refuse_the_mount),
	TEST(files_end_before_the_chunks_that_older_drivers_refuse), TEST(headers_of_image_makers_count),
	TEST(blocks_of_deleted_pages_are_ordinary), TEST(what_others_mark_deleted_is), TEST(the_ecc_is_right_on_deleted_pages),
	TEST(a_file_that_ends_in_a_hole_has_its_end_in_its_header), TEST(the_newer_of_two_last_chunks_tells_the_end),
	TEST(the_longest_symbolic_links_have_no_end), TEST(plain_files_have_no_device),
	TEST(what_lies_beside_the_times_does_not_matter), TEST(what_lies_behind_a_header_goes_along),
	TEST(worn_blocks_with_inband_tags_stay), TEST(big_endian_flash_is_refused), TEST(nobody_goes_on_behind_a_torn_page),
	END_OF_TESTS,
};
