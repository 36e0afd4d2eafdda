// SPDX-License-Identifier: GPL-2.0-only
/* What the collection does for what fades, fails or cannot be read any more, however much space there is. */
#include "test.h"

struct bed {
	struct ram_flash *flash;
	struct y2_fs *fs;
	struct y2_object *file;
};

#define FILE_CHUNKS	200u

static struct bed bed_with_file(void)
{
	struct bed bed = { .flash = ram_flash_new(&large_geometry, 1) };
	static const u8 data[FILE_CHUNKS * 2048];

	bed.fs = must_mount(bed.flash, NULL);
	bed.file = must_create(bed.fs, bed.fs->root, "f", S_IFREG | 0644);
	CHECK(y2_write(bed.fs, bed.file, 0, data, sizeof(data)) == sizeof(data));
	return bed;
}

static void end(struct bed *bed)
{
	CHECK_EQUAL(0, (u64)y2_verify(bed->fs));
	y2_abandon(bed->fs);
	ram_flash_free(bed->flash);
}

static u32 chunk_at(const struct bed *bed, u32 k)
{
	return y2_index_get(&bed->file->index, k) - 1;
}

static void collect_in_background(struct bed *bed)
{
	for (u32 i = 0; i < 2000; i++)
		CHECK(y2_gc_background(bed->fs) >= 0);
}

static void a_block_with_corrected_bits_is_rewritten_at_leisure(void)
{
	struct bed bed = bed_with_file();
	u32 chunk = chunk_at(&bed, 70);
	u8 data;

	collect_in_background(&bed);
	CHECK_EQUAL(chunk, chunk_at(&bed, 70));
	bed.flash->data[(size_t)chunk * 2048 + 7] ^= 1;
	CHECK_EQUAL(1, (u64)y2_read(bed.fs, bed.file, 69 * 2048, &data, 1));
	collect_in_background(&bed);
	CHECK(chunk != chunk_at(&bed, 70));
	CHECK_EQUAL(0, bed.fs->blocks[chunk / 64].live);
	end(&bed);
}

static void a_failing_block_is_emptied_at_leisure(void)
{
	struct bed bed = bed_with_file();
	u32 block = chunk_at(&bed, 70) / 64;

	bed.fs->blocks[block].retire = bed.fs->gc_prioritised = true;
	collect_in_background(&bed);
	CHECK_EQUAL(Y2_BLOCK_DEAD, bed.fs->blocks[block].state);
	CHECK_EQUAL(1, bed.fs->stats.retired_blocks);
	end(&bed);
}

/* Wear: what never changes is moved now and then, although nothing wants for space */
static void the_oldest_block_is_rewritten_every_500_erases(void)
{
	struct bed bed = bed_with_file();
	struct y2_object *busy = must_create(bed.fs, bed.fs->root, "busy", S_IFREG | 0644);
	u32 chunk = chunk_at(&bed, 1);

	for (u32 i = 0; bed.fs->stats.blocks_erased < 500; i++) {
		CHECK_EQUAL(1, (u64)y2_write(bed.fs, busy, 0, (const u8 *)"x", 1));
		CHECK(i < 500 * 64 * 2);
	}
	CHECK_EQUAL(chunk, chunk_at(&bed, 1));
	collect_in_background(&bed);
	CHECK(chunk != chunk_at(&bed, 1));
	CHECK_EQUAL(1, bed.fs->stats.forced_gc);
	end(&bed);
}

/* Copied, it would have a sound ECC and read as if it were right */
static void what_cannot_be_read_never_becomes_readable(void)
{
	struct bed bed = bed_with_file();
	u32 chunk = chunk_at(&bed, 70);
	u8 data;

	ram_flash_seal(bed.flash, chunk / 64, chunk % 64, false);
	bed.fs->blocks[chunk / 64].refresh = bed.fs->gc_prioritised = true;
	CHECK_EQUAL((u64)-EIO, (u64)y2_read(bed.fs, bed.file, 69 * 2048, &data, 1));
	collect_in_background(&bed);
	CHECK(bed.fs->blocks[chunk / 64].unreadable);
	CHECK_EQUAL(chunk, chunk_at(&bed, 70));
	CHECK_EQUAL((u64)-EIO, (u64)y2_read(bed.fs, bed.file, 69 * 2048, &data, 1));
	end(&bed);
}

static void what_was_unreadable_is_collected_once_it_is_replaced(void)
{
	struct bed bed = bed_with_file();
	u32 chunk = chunk_at(&bed, 70);

	ram_flash_seal(bed.flash, chunk / 64, chunk % 64, false);
	bed.fs->blocks[chunk / 64].refresh = bed.fs->gc_prioritised = true;
	collect_in_background(&bed);
	CHECK(bed.fs->blocks[chunk / 64].unreadable);
	CHECK_EQUAL(2048, (u64)y2_write(bed.fs, bed.file, 69 * 2048, (const u8[2048]) { 'x' }, 2048));
	collect_in_background(&bed);
	CHECK_EQUAL(0, bed.fs->blocks[chunk / 64].live);
	CHECK_EQUAL(0, bed.fs->stats.chunks_lost);
	end(&bed);
}

/* No code of the chip holds the tags, and two wrong bits are too many for their own */
static void data_whose_tags_are_lost_is_rescued(void)
{
	struct bed bed = bed_with_file();
	u32 chunk = chunk_at(&bed, 70);
	u8 data = 1;

	bed.flash->oob[chunk * bed.flash->geometry.oob_bytes + 4] ^= 0x11;
	bed.fs->blocks[chunk / 64].refresh = bed.fs->gc_prioritised = true;
	collect_in_background(&bed);
	CHECK(chunk != chunk_at(&bed, 70));
	CHECK_EQUAL(1, (u64)y2_read(bed.fs, bed.file, 69 * 2048, &data, 1));
	CHECK_EQUAL(0, data);
	CHECK_EQUAL(0, bed.fs->stats.chunks_lost);
	end(&bed);
}

/* What says that something is gone waits for what is gone; so that is collected first */
static void a_failing_block_with_tombstones_is_emptied_too(void)
{
	struct bed bed = bed_with_file();
	struct y2_object *file = must_create(bed.fs, bed.fs->root, "gone", S_IFREG | 0644);
	u32 block;

	y2_append_close(bed.fs);
	CHECK_EQUAL(0, (u64)y2_unlink(bed.fs, file));
	block = bed.fs->alloc_block;
	must_create(bed.fs, bed.fs->root, "stays", S_IFREG | 0644);
	y2_append_close(bed.fs);
	CHECK(!y2_gc_may_erase(bed.fs, block));
	bed.fs->blocks[block].retire = bed.fs->gc_prioritised = true;
	collect_in_background(&bed);
	CHECK_EQUAL(Y2_BLOCK_DEAD, bed.fs->blocks[block].state);
	end(&bed);
}

/* The block of a deleted file is to be retired, and cannot be marked bad; then its tombstone is collected */
static void retire_without_mark(struct bed *bed, u32 fail_erase_per_million)
{
	struct y2_object *gone = must_create(bed->fs, bed->fs->root, "gone", S_IFREG | 0644);
	u32 block;

	CHECK_EQUAL(0, (u64)y2_sync(bed->fs, false));
	block = gone->header / 64;
	y2_append_close(bed->fs);
	CHECK_EQUAL(0, (u64)y2_unlink(bed->fs, gone));
	bed->fs->blocks[block].retire = true;
	bed->flash->fail_bad_marks = true;
	bed->flash->fail_erase_per_million = fail_erase_per_million;
	y2_gc_block(bed->fs, block);
	bed->flash->fail_erase_per_million = 0;
	CHECK_EQUAL(Y2_BLOCK_DEAD, bed->fs->blocks[block].state);
}

static void mount_again(struct bed *bed)
{
	y2_abandon(bed->fs);
	bed->flash->fail_bad_marks = false;
	bed->fs = must_mount(bed->flash, NULL);
	bed->file = must_find(bed->fs, bed->fs->root, "f");
}

static void check_gone(struct bed *bed)
{
	struct y2_object *obj;

	CHECK_EQUAL((u64)-ENOENT, (u64)y2_lookup(bed->fs, bed->fs->root, "gone", 4, &obj));
	CHECK(list_empty(&bed->fs->lost_and_found->children));
}

static void a_block_that_cannot_be_marked_bad_holds_nothing(void)
{
	struct bed bed = bed_with_file();

	retire_without_mark(&bed, 0);
	collect_all_but(bed.fs, Y2_NO_BLOCK);
	must_create(bed.fs, bed.fs->root, "goes on", S_IFREG | 0644);
	mount_again(&bed);
	check_gone(&bed);
	end(&bed);
}

/* What hides its contents must stay, so nothing is changed any more */
static void a_block_that_can_neither_be_erased_nor_marked_ends_all_changes(void)
{
	struct bed bed = bed_with_file();
	struct y2_object *obj;

	retire_without_mark(&bed, 1000000);
	CHECK_EQUAL((u64)-EROFS, (u64)y2_write(bed.fs, bed.file, 0, (const u8 *)"x", 1));
	CHECK_EQUAL((u64)-EROFS, (u64)y2_unlink(bed.fs, bed.file));
	collect_in_background(&bed);
	CHECK_EQUAL((u64)-EROFS, (u64)y2_set_read_only(bed.fs, false));
	CHECK_EQUAL(0, (u64)y2_set_read_only(bed.fs, true));
	mount_again(&bed);
	check_gone(&bed);
	must_create(bed.fs, bed.fs->root, "goes on", S_IFREG | 0644);
	collect_all_but(bed.fs, Y2_NO_BLOCK);
	mount_again(&bed);
	check_gone(&bed);
	CHECK_EQUAL(0, (u64)y2_lookup(bed.fs, bed.fs->root, "goes on", 7, &obj));
	end(&bed);
}

/* A mount would believe it, whatever has changed since */
static void no_change_comes_behind_a_checkpoint_that_cannot_be_erased(void)
{
	struct bed bed = bed_with_file();
	struct y2_object *obj;
	u64 operations;

	CHECK_EQUAL(0, (u64)y2_unmount(bed.fs));
	bed.fs = must_mount(bed.flash, NULL);
	CHECK_EQUAL(1, bed.fs->stats.checkpoint_mounts);
	bed.flash->fail_bad_marks = true;
	bed.flash->fail_erase_per_million = 1000000;
	operations = bed.flash->operations;
	CHECK_EQUAL((u64)-EROFS, (u64)y2_create(bed.fs, bed.fs->root, "new", 3,
						&(struct y2_new) { .mode = S_IFREG | 0644 }, &obj));
	CHECK_EQUAL((u64)-EROFS, (u64)y2_unlink(bed.fs, must_find(bed.fs, bed.fs->root, "f")));
	bed.flash->fail_erase_per_million = 0;
	CHECK(bed.flash->operations <= operations + 2);	/* the erases that failed */
	mount_again(&bed);
	CHECK_EQUAL(FILE_CHUNKS * 2048, bed.file->size);
	must_create(bed.fs, bed.fs->root, "new", S_IFREG | 0644);
	mount_again(&bed);
	must_find(bed.fs, bed.fs->root, "new");
	end(&bed);
}

const struct test health_tests[] = {
	TEST(a_block_that_cannot_be_marked_bad_holds_nothing),
	TEST(a_block_that_can_neither_be_erased_nor_marked_ends_all_changes),
	TEST(no_change_comes_behind_a_checkpoint_that_cannot_be_erased),
	TEST(a_block_with_corrected_bits_is_rewritten_at_leisure), TEST(a_failing_block_is_emptied_at_leisure),
	TEST(what_was_unreadable_is_collected_once_it_is_replaced), TEST(data_whose_tags_are_lost_is_rescued),
	TEST(a_failing_block_with_tombstones_is_emptied_too),
	TEST(the_oldest_block_is_rewritten_every_500_erases), TEST(what_cannot_be_read_never_becomes_readable),
	END_OF_TESTS,
};
