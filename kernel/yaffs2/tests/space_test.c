// SPDX-License-Identifier: GPL-2.0-only
/* Room on the flash: how much there is, what is reserved, and when blocks are erased. */
#include "test.h"

static int fill(struct y2_fs *fs, struct y2_object *obj, u64 *bytes)
{
	static u8 data[16384];

	for (;;) {
		int got = y2_write(fs, obj, *bytes, data, sizeof(data));

		if (got < 0)
			return got;
		*bytes += (u32)got;
	}
}

/* How many blocks the deletion of a file of 20 blocks erases */
static u64 erased_by_deletion(const struct y2_geometry *geometry, bool deferred)
{
	const struct y2_options options = { .deferred_erase = deferred, .no_checkpoint = true };
	struct ram_flash *flash = ram_flash_new(geometry, 1);
	struct y2_fs *fs = must_mount(flash, &options);
	u32 bytes = 20 * geometry->chunks_per_block * geometry->page_bytes;
	u8 *data = malloc(bytes);
	struct y2_object *file;
	u64 before, erased;

	memset(data, 'a', bytes);
	file = must_create(fs, fs->root, "old", S_IFREG | 0644);
	CHECK_EQUAL(bytes, (u64)y2_write(fs, file, 0, data, bytes));
	before = fs->stats.blocks_erased;
	CHECK_EQUAL(0, (u64)y2_unlink(fs, file));
	erased = fs->stats.blocks_erased - before;
	/* More than was empty before: the collection erases what has been put off */
	for (u32 i = 0; i < 10; i++) {
		memset(data, 'b' + (int)i, bytes);
		file = must_create(fs, fs->root, "new", S_IFREG | 0644);
		CHECK_EQUAL(bytes, (u64)y2_write(fs, file, 0, data, bytes));
		if (i < 9)
			CHECK_EQUAL(0, (u64)y2_unlink(fs, file));
	}
	CHECK(fs->stats.blocks_erased > before + 100);
	CHECK_EQUAL(0, (u64)y2_unmount(fs));
	fs = must_mount(flash, &options);
	CHECK_EQUAL(0, (u64)y2_verify(fs));
	CHECK_EQUAL(1, (u64)y2_read(fs, must_find(fs, fs->root, "new"), bytes - 1, data, 1));
	CHECK_EQUAL('b' + 9, data[0]);
	CHECK_EQUAL((u64)-ENOENT, (u64)y2_lookup(fs, fs->root, "old", 3, &file));
	y2_abandon(fs);
	free(data);
	ram_flash_free(flash);
	return erased;
}

static void a_deferred_erase_waits_until_room_is_needed(void)
{
	const struct y2_geometry *geometries[] = { &large_geometry, &tiny_geometry };

	for (u32 i = 0; i < 2; i++) {
		struct y2_geometry geometry = *geometries[i];

		geometry.blocks = 70;
		CHECK_EQUAL(0, erased_by_deletion(&geometry, true));
		CHECK(erased_by_deletion(&geometry, false) >= 19);
	}
}

/* Ten times: what can be written is the same each time, and all of the free space that was reported */
static void check_full_and_empty_again(const struct y2_options *options)
{
	struct y2_geometry geometry = large_geometry;
	struct ram_flash *flash;
	struct y2_fs *fs;
	u64 first = 0;

	geometry.blocks = 70;
	flash = ram_flash_new(&geometry, 9);
	fs = must_mount(flash, options);
	must_create(fs, fs->root, "first", S_IFREG | 0644);
	CHECK_EQUAL(0, (u64)y2_sync(fs, false));	/* now the root directory has a header of its own */
	for (u32 i = 0; i < 10; i++) {
		struct y2_object *obj = must_create(fs, fs->root, "full", S_IFREG | 0644);
		u64 bytes = 0, reported = y2_free_bytes(fs);

		CHECK_EQUAL((u64)-ENOSPC, (u64)fill(fs, obj, &bytes));
		/* The index of a large file makes the checkpoint larger */
		CHECK(bytes <= reported && bytes + 3 * geometry.page_bytes * geometry.chunks_per_block > reported);
		CHECK(!first || bytes == first);
		first = bytes;
		CHECK_EQUAL((u64)-ENOSPC, (u64)y2_write(fs, obj, bytes, (const u8 *)"x", 1));
		CHECK_EQUAL(0, (u64)y2_unlink(fs, obj));
		if (i % 3 == 1)
			fs = must_remount(fs, flash, options);
	}
	CHECK_EQUAL(0, (u64)y2_verify(fs));
	/* Half of the file again and again, when nearly all is full of what does not change */
	{
		struct y2_object *still = must_create(fs, fs->root, "still", S_IFREG | 0644);
		struct y2_object *often = must_create(fs, fs->root, "often", S_IFREG | 0644);
		u8 *data = calloc(1, (size_t)first);

		CHECK(y2_write(fs, still, 0, data, (u32)(first * 8 / 10)) == (int)(first * 8 / 10));
		for (u32 i = 0; i < 40; i++) {
			CHECK(y2_write(fs, often, 0, data, (u32)(first / 10)) == (int)(first / 10));
			CHECK_EQUAL(0, (u64)y2_resize(fs, often, first / 20));
		}
		free(data);
	}
	fs = must_remount(fs, flash, options);
	y2_unmount(fs);
	ram_flash_free(flash);
}

static void full_and_empty_again(void)
{
	check_full_and_empty_again(NULL);
	check_full_and_empty_again(&(struct y2_options) { .deferred_erase = true });
}

/*
 * What was reserved can be written, although each chunk lies in a leaf of its own, which a checkpoint would have to
 * hold. Each 64 KiB, as a program does that fills a table by its hash.
 */
static void reserved_chunks_can_be_written_when_the_index_grows(void)
{
	struct y2_geometry geometry = large_geometry;
	struct ram_flash *flash;
	struct y2_object *obj;
	struct y2_fs *fs;
	u64 bytes = 0;
	u32 count = 0;

	geometry.blocks = 70;
	flash = ram_flash_new(&geometry, 9);
	fs = must_mount(flash, NULL);
	obj = must_create(fs, fs->root, "full", S_IFREG | 0644);
	while (y2_free_bytes(fs) > 2100 * 2048ull) {
		CHECK_EQUAL(2048, (u64)y2_write(fs, obj, bytes, (const u8[2048]) { 0 }, 2048));
		bytes += 2048;
	}
	obj = must_create(fs, fs->root, "sparse", S_IFREG | 0644);
	while (y2_chunks_free(fs)) {
		fs->reserved++;
		count++;
	}
	CHECK(count > 2000);
	for (u32 i = 0; i < count; i++)
		CHECK_EQUAL(1, (u64)y2_write_reserved(fs, obj, (u64)i << 16, (const u8 *)"x", 1, 1));
	CHECK_EQUAL(0, fs->reserved);
	CHECK_EQUAL(0, y2_chunks_free(fs));
	CHECK_EQUAL((u64)-ENOSPC, (u64)y2_write(fs, obj, 0, (const u8 *)"x", 1));
	/* What needs no more than there was goes on */
	CHECK_EQUAL(0, (u64)y2_rename(fs, obj, fs->root, "other", 5));
	CHECK_EQUAL(0, (u64)y2_resize(fs, obj, (u64)count << 17));
	fs = must_remount(fs, flash, NULL);
	CHECK_EQUAL(0, (u64)y2_lookup(fs, fs->root, "other", 5, &obj));
	for (u32 i = 0; i < count; i++) {
		u8 data = 0;

		CHECK_EQUAL(1, (u64)y2_read(fs, obj, (u64)i << 16, &data, 1));
		CHECK_EQUAL('x', data);
	}
	CHECK_EQUAL(0, (u64)y2_unlink(fs, obj));
	y2_unmount(fs);
	ram_flash_free(flash);
}

const struct test space_tests[] = {
	TEST(a_deferred_erase_waits_until_room_is_needed), TEST(full_and_empty_again),
	TEST(reserved_chunks_can_be_written_when_the_index_grows), END_OF_TESTS,
};
