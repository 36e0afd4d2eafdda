// SPDX-License-Identifier: GPL-2.0-only
/* Geometries and small helpers of the tests. */
#include "test.h"

const struct y2_geometry small_geometry = { .page_bytes = 1024, .oob_bytes = 28, .chunks_per_block = 32,
					    .blocks = 256 };
const struct y2_geometry tiny_geometry = { .page_bytes = 512, .oob_bytes = 8, .chunks_per_block = 32, .blocks = 256 };
const struct y2_geometry large_geometry = { .page_bytes = 2048, .oob_bytes = 38, .chunks_per_block = 64,
					    .blocks = 128 };

u32 test_now(void)
{
	return 1000000000;
}

struct y2_fs *must_mount(struct ram_flash *flash, const struct y2_options *options)
{
	static const struct y2_options none;
	struct y2_fs *fs = NULL;

	CHECK_EQUAL(0, (u64)y2_mount(&fs, &flash->geometry, &ram_flash_ops, flash, options ? options : &none,
				     test_now));
	return fs;
}

struct y2_object *must_create(struct y2_fs *fs, struct y2_object *dir, const char *name, u32 mode)
{
	struct y2_new how = { .mode = mode, .alias = S_ISLNK(mode) ? "target" : NULL };
	struct y2_object *obj = NULL;

	CHECK_EQUAL(0, (u64)y2_create(fs, dir, name, (u32)strlen(name), &how, &obj));
	return obj;
}

struct y2_fs *must_remount(struct y2_fs *fs, struct ram_flash *flash, const struct y2_options *options)
{
	CHECK_EQUAL(0, (u64)y2_verify(fs));
	CHECK_EQUAL(0, (u64)y2_unmount(fs));
	fs = must_mount(flash, options);
	CHECK_EQUAL(0, (u64)y2_verify(fs));
	return fs;
}

struct y2_object *must_find(struct y2_fs *fs, struct y2_object *dir, const char *name)
{
	struct y2_object *obj = NULL;

	CHECK_EQUAL(0, (u64)y2_lookup(fs, dir, name, (u32)strlen(name), &obj));
	return obj;
}

/* Whatever the order of shrink headers allows */
void collect_all_but(struct y2_fs *fs, u32 block)
{
	for (u32 round = 0; round < 3; round++) {
		y2_append_close(fs);
		for (u32 i = 0; i < fs->geometry.blocks; i++)
			if (i != block && y2_gc_may_erase(fs, i))
				CHECK_EQUAL(0, (u64)y2_gc_block(fs, i));
	}
}
