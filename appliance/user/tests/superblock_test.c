// SPDX-License-Identifier: Apache-2.0
/* Where superblocks of arrays are looked for */
#include "superblock.h"

#include <unistd.h>

#include "test.h"

static const uint64_t SIZE = 1000 * 1024 + 512;

static const uint8_t ARRAY[SUPERBLOCK_ARRAY] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };

static FILE *blank(void)
{
	FILE *file = tmpfile();

	CHECK(file && !ftruncate(fileno(file), (off_t)SIZE));
	return file;
}

static void write_at(FILE *file, uint64_t at, const void *bytes, size_t length)
{
	CHECK(pwrite(fileno(file), bytes, length, (off_t)at) == (ssize_t)length);
}

/* With the array's number where it lies in the version's superblock, and nowhere else */
static bool found_at(uint64_t at, bool old, struct superblock *found)
{
	static const uint64_t old_words[] = { 5, 13, 14, 15 };
	uint32_t magic = 0xa92b4efc;
	FILE *file = blank();
	bool is;

	write_at(file, at, &magic, sizeof magic);
	for (int i = 0; i < 4; i++)
		write_at(file, at + (old ? 4 * old_words[i] : 16 + 4 * (uint64_t)i), ARRAY + 4 * i, 4);
	is = superblock_of(fileno(file), SIZE, found);
	CHECK(!superblock_of_none(fileno(file), SIZE));
	fclose(file);
	return is && !memcmp(found->array, ARRAY, sizeof ARRAY);
}

/* Places as md(4) has them */
static void superblocks_are_found(void)
{
	struct superblock found;

	CHECK(found_at(960 * 1024 - 65536, true, &found) && found.major == 0 && found.minor == 90);
	CHECK(found_at(0, false, &found) && found.major == 1 && found.minor == 1);
	CHECK(found_at(4096, false, &found) && found.major == 1 && found.minor == 2);
	CHECK(found_at(1000 * 1024 - 8192, false, &found) && found.major == 1 && found.minor == 0);
	CHECK(!found_at(8192, false, &found));
}

static bool empty_with_a_byte_at(uint64_t at)
{
	FILE *file = blank();
	bool is;

	write_at(file, at, "x", 1);
	is = superblock_of_none(fileno(file), SIZE);
	fclose(file);
	return is;
}

static void a_disk_with_anything_on_it_is_not_empty(void)
{
	FILE *file = blank();

	CHECK(superblock_of_none(fileno(file), SIZE));
	CHECK(!superblock_of_none(fileno(file), SIZE + 1)); /* which cannot be read */
	fclose(file);
	CHECK(!empty_with_a_byte_at(0));
	CHECK(!empty_with_a_byte_at(1080)); /* a file system's */
	CHECK(!empty_with_a_byte_at(SIZE - 1));
	CHECK(!empty_with_a_byte_at(SIZE - 2 * 65536));
}

static void a_superblock_says_up_to_4_tib(void)
{
	CHECK(superblock_may_have(SIZE));
	CHECK(superblock_may_have(UINT64_C(3) << 40)); /* which an int of KiB cannot */
	CHECK(superblock_may_have((UINT64_C(4) << 40) - 1));
	CHECK(!superblock_may_have(UINT64_C(4) << 40));
	CHECK(!superblock_may_have(UINT64_C(6000000000000)));
}

const struct test superblock_tests[] = {
	TEST(a_superblock_says_up_to_4_tib),
	TEST(superblocks_are_found),
	TEST(a_disk_with_anything_on_it_is_not_empty),
	END_OF_TESTS,
};
