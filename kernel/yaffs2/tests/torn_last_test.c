// SPDX-License-Identifier: GPL-2.0-only
/* The limit that torn_last.h tells of, and that the tests know it from what is not it. */
#include "raw.h"
#include "torn_last.h"

#define FILE_ID	0x101u
#define SEEDS	400u	/* a torn page has whole tags, and data that looks corrected, in a few of a hundred */

/* A header and so many chunks in one block; the power fails in the next page, which is chunk k */
static struct ram_flash *torn_behind(u64 seed, u32 chunks, u32 k)
{
	const struct raw_header header = { .type = RAW_FILE, .parent = 1, .mode = S_IFREG | 0644, .size = 0,
					   .name = "f" };
	struct raw_tags tags = { .object = FILE_ID, .chunk = k, .bytes = 512, .serial = 1 };
	struct ram_flash *flash = ram_flash_new(&tiny_geometry, seed);
	struct raw_cursor at = { .raw = raw_of(flash, false) };
	u8 data[512];

	raw_put_header(&at, FILE_ID, &header);
	for (u32 i = 1; i <= chunks; i++)
		raw_put_data(&at, FILE_ID, i, 512, 'x');
	memset(data, 'y', sizeof(data));
	flash->cut_at = flash->operations + 1;
	CHECK(raw_write(&at.raw, at.block, at.page, data, &tags));
	flash->off = false;
	flash->cut_at = 0;
	return flash;
}

static u64 size_of_file(struct ram_flash *flash)
{
	const struct y2_options options = { .read_only = true };
	struct y2_fs *fs = must_mount(flash, &options);
	u64 size = y2_object_find(fs, FILE_ID)->size;

	y2_abandon(fs);
	return size;
}

static void a_torn_last_page_counts_and_is_known(void)
{
	u32 found = 0;

	for (u64 seed = 1; seed <= SEEDS; seed++) {
		struct ram_flash *flash = torn_behind(seed, 30, 31);

		if (torn_last_is_there(flash)) {
			found++;
			CHECK_EQUAL(31 * 512, size_of_file(flash));
			torn_last_take_out(flash);
			CHECK_EQUAL(30 * 512, size_of_file(flash));
		}
		ram_flash_free(flash);
	}
	CHECK(found);
}

/* Not in the last place, or where another page is: the core must know these, and the tests let none of them pass */
static void other_torn_pages_are_not_taken_for_it(void)
{
	for (u64 seed = 1; seed <= SEEDS; seed++) {
		struct ram_flash *inside = torn_behind(seed, 20, 21), *again = torn_behind(seed, 30, 7);

		CHECK(!torn_last_is_there(inside) && !torn_last_is_there(again));
		ram_flash_free(inside);
		ram_flash_free(again);
	}
}

const struct test torn_last_tests[] = {
	TEST(a_torn_last_page_counts_and_is_known), TEST(other_torn_pages_are_not_taken_for_it), END_OF_TESTS,
};
