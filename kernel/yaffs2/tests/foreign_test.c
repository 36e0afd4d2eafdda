// SPDX-License-Identifier: GPL-2.0-only
/* A flash on which something else lies, or what was written with other options or by others. */
#include "test.h"

static int try_mount(struct ram_flash *flash, const struct y2_options *options)
{
	struct y2_fs *fs;
	u64 operations = flash->operations;
	int err = y2_mount(&fs, &flash->geometry, &ram_flash_ops, flash, options, test_now);

	if (!err)
		y2_abandon(fs);
	else
		CHECK_EQUAL(operations, flash->operations);	/* nothing has been erased */
	return err;
}

static struct ram_flash *filled(const struct y2_geometry *geometry, const struct y2_options *options)
{
	struct ram_flash *flash = ram_flash_new(geometry, 1);
	struct y2_fs *fs = must_mount(flash, options);
	struct y2_object *file = must_create(fs, fs->root, "f", S_IFREG | 0644);
	static u8 data[400000];
	u64 random = 5;

	/* Whatever this would be as tags */
	for (u32 i = 0; i < sizeof(data); i++)
		data[i] = (u8)ram_random(&random, 256);
	CHECK(y2_write(fs, file, 0, data, sizeof(data)) == sizeof(data));
	CHECK_EQUAL(0, (u64)y2_unmount(fs));
	return flash;
}

static void tags_of_another_kind_are_refused(void)
{
	static const struct y2_options kinds[] = { { .inband_tags = false }, { .inband_tags = true },
						   { .no_tags_ecc = true } };

	for (u32 written = 0; written < 3; written++) {
		struct ram_flash *flash = filled(&large_geometry, &kinds[written]);

		for (u32 mounted = 0; mounted < 3; mounted++) {
			int err = try_mount(flash, &kinds[mounted]);

			/* Without looking at the ECC, tags are what they are with it */
			if (mounted == written || (!written && mounted == 2))
				CHECK_EQUAL(0, (u64)err);
			else
				CHECK_EQUAL((u64)-EUCLEAN, (u64)err);
		}
		ram_flash_free(flash);
	}
}

static void put(struct ram_flash *flash, u32 block, u8 data, u8 oob)
{
	const struct y2_geometry *geometry = &flash->geometry;
	size_t page = (size_t)block * geometry->chunks_per_block;

	memset(flash->data + page * geometry->page_bytes, data, geometry->page_bytes);
	memset(flash->oob + page * geometry->oob_bytes, oob, geometry->oob_bytes);
	flash->page_state[page] = RAM_WRITTEN;
	flash->next_page[block] = 1;
	ram_flash_seal(flash, block, 0, true);
}

/* Data without tags, and tags without sense; two such blocks may be torn, and are erased before they are used */
static void what_is_no_yaffs_is_refused(void)
{
	static const struct y2_options options;

	for (u32 kind = 0; kind < 2; kind++) {
		struct ram_flash *flash = ram_flash_new(&large_geometry, 1);
		struct y2_fs *fs;

		put(flash, 0, 'U', kind ? 0x5a : 0xff);
		put(flash, 4, 'U', kind ? 0x5a : 0xff);
		fs = must_mount(flash, &options);
		must_create(fs, fs->root, "f", S_IFREG | 0644);
		y2_abandon(fs);
		ram_flash_free(flash);
		flash = ram_flash_new(&large_geometry, 1);
		for (u32 block = 0; block < 3; block++)
			put(flash, block, 'U', kind ? 0x5a : 0xff);
		CHECK_EQUAL((u64)-EUCLEAN, (u64)try_mount(flash, &options));
		ram_flash_free(flash);
	}
}

/* Moved around other bad blocks, as by a copy from chip to chip, what a checkpoint says is not where it says */
static void a_checkpoint_of_another_chip_does_not_count(void)
{
	struct ram_flash *flash = filled(&large_geometry, NULL);
	struct y2_fs *fs = must_mount(flash, NULL);

	CHECK_EQUAL(1, fs->stats.checkpoint_mounts);
	y2_abandon(fs);
	flash->bad[100] = 1;
	fs = must_mount(flash, NULL);
	CHECK_EQUAL(0, fs->stats.checkpoint_mounts);
	CHECK_EQUAL(0, (u64)y2_verify(fs));
	y2_abandon(fs);
	ram_flash_free(flash);
}

/*
 * Blocks that others have filled to the last page: the last chunk of one, once obsolete, must keep tombstones from
 * going
 */
static void what_goes_from_blocks_without_summary_stays_away(void)
{
	const struct y2_options plain = { .no_checkpoint = true, .no_summary = true }, ours = { .no_checkpoint = true };
	struct y2_geometry geometry = large_geometry;
	struct ram_flash *flash;
	struct y2_object *file;
	struct y2_fs *fs;
	char name[16];
	u32 block;

	geometry.blocks = 20;
	flash = ram_flash_new(&geometry, 1);
	fs = must_mount(flash, &plain);
	for (u32 i = 0; i < 3 * geometry.chunks_per_block; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		must_create(fs, fs->root, name, S_IFREG | 0644);
	}
	CHECK_EQUAL(0, (u64)y2_unmount(fs));
	fs = must_mount(flash, &ours);
	CHECK_EQUAL(0, (u64)y2_lookup(fs, fs->root, "f20", 3, &file));
	block = file->header / geometry.chunks_per_block;
	CHECK_EQUAL(geometry.chunks_per_block, fs->blocks[block].live);
	CHECK_EQUAL(0, (u64)y2_unlink(fs, file));
	collect_all_but(fs, block);
	y2_abandon(fs);
	fs = must_mount(flash, &ours);
	CHECK_EQUAL((u64)-ENOENT, (u64)y2_lookup(fs, fs->root, "f20", 3, &file));
	y2_abandon(fs);
	ram_flash_free(flash);
}

/* Others know no object numbers beyond 18 bits */
static void object_numbers_are_those_that_others_know(void)
{
	struct ram_flash *flash = ram_flash_new(&large_geometry, 1);
	struct y2_fs *fs = must_mount(flash, NULL);

	fs->next_id = Y2_ID_NEW_MAX;
	CHECK_EQUAL(Y2_ID_NEW_MAX, must_create(fs, fs->root, "last", S_IFREG | 0644)->id);
	CHECK_EQUAL(Y2_ID_FIRST_FREE, must_create(fs, fs->root, "first", S_IFREG | 0644)->id);
	y2_abandon(fs);
	ram_flash_free(flash);
}

const struct test foreign_tests[] = {
	TEST(tags_of_another_kind_are_refused), TEST(what_is_no_yaffs_is_refused),
	TEST(a_checkpoint_of_another_chip_does_not_count), TEST(what_goes_from_blocks_without_summary_stays_away),
	TEST(object_numbers_are_those_that_others_know), END_OF_TESTS,
};
