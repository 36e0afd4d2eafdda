// SPDX-License-Identifier: Apache-2.0
/* The content of files identifies file and offset, whatever requests wrote it */
#include "content.h"
#include "test.h"

static void test_content_knows_its_place(void)
{
	static uint8_t bytes[8192], parts[8192];

	content_fill(bytes, 5, 100, 8);
	CHECK(content_is(bytes, 5, 100, 8));
	CHECK(content_is(bytes + 3072, 5, 103, 2));
	CHECK(!content_is(bytes, 6, 100, 8));
	CHECK(!content_is(bytes, 5, 101, 8));
	content_fill(parts, 5, 100, 3);
	content_fill(parts + 3072, 5, 103, 5);
	CHECK(!memcmp(bytes, parts, sizeof(bytes)));
	bytes[8191] ^= 1;
	CHECK(!content_is(bytes, 5, 100, 8));
	CHECK(content_is(bytes, 5, 100, 7));
}

const struct test content_tests[] = {
	TEST(test_content_knows_its_place),
	END_OF_TESTS,
};
