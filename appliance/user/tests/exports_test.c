// SPDX-License-Identifier: Apache-2.0
/* Who gets what, and who nothing */
#include "exports.h"

#include "test.h"

static struct exports exports;

static uint32_t address(const char *text)
{
	uint32_t value;

	CHECK(address_of(text, &value));
	return value;
}

static void begin(void)
{
	exports.count = 0;
	CHECK(!exports_add(&exports, "/data 7 0x6 65534 65534 10.0.0.0/8"));
	CHECK(!exports_add(&exports, "/data 7 0x5 65534 65534 10.1.0.0/16"));
	CHECK(!exports_add(&exports, "/data2 8 0x4 65534 65534 192.168.1.9/32"));
}

static void the_narrowest_rule_counts(void)
{
	begin();
	CHECK_EQUAL(6, exports_find(&exports, "/data", address("10.2.0.1"))->flags);
	CHECK_EQUAL(5, exports_find(&exports, "/data", address("10.1.0.1"))->flags);
	CHECK_EQUAL(5, exports_find_fsid(&exports, 7, address("10.1.255.255"))->flags);
}

static void others_get_nothing(void)
{
	begin();
	CHECK(!exports_find(&exports, "/data", address("11.0.0.0")));
	CHECK(!exports_find(&exports, "/data2", address("192.168.1.8")));
	CHECK(!exports_find_fsid(&exports, 8, address("10.1.0.1")));
	CHECK(!exports_find_fsid(&exports, 9, address("10.1.0.1")));
	CHECK(!exports_knows(&exports, address("192.168.1.10")));
	CHECK(exports_knows(&exports, address("192.168.1.9")));
	exports.count = 0;
	CHECK(!exports_knows(&exports, address("127.0.0.1")));
}

static void a_path_stays_inside(void)
{
	static const char *const outside[] = { "/",	    "",		  "data",	   "/data/..",	 "/data/../etc",
					       "/data/a/..", "/data/./x", "/..//data", "/data22", "/dat" };
	uint32_t client = address("10.9.9.9");

	begin();
	for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
		CHECKF(!exports_around(&exports, outside[i], client), "%s is let in", outside[i]);
	CHECK(exports_around(&exports, "/data", client));
	CHECK(exports_around(&exports, "/data/..a/b.", client));
	CHECK(!exports_around(&exports, "/data2/x", client));
}

static void wrong_lines_are_refused(void)
{
	static const char *const wrong[] = {
		"",
		"data 7 0 0 0 10.0.0.0/8",
		"/ 7 0 0 0 10.0.0.0/8",
		"/data/ 7 0 0 0 10.0.0.0/8",
		"/a/../b 7 0 0 0 10.0.0.0/8",
		"/data 0 0 0 0 10.0.0.0/8",
		"/data -1 0 0 0 10.0.0.0/8",
		"/data 2147483648 0 0 0 10.0.0.0/8",
		"/data 7 0x8000 0 0 10.0.0.0/8",
		"/data 7 0 0 4294967296 10.0.0.0/8",
		"/data 7 0 0 0 10.0.0.0",
		"/data 7 0 0 0 10.0.0.0/",
		"/data 7 0 0 0 10.0.0.0/33",
		"/data 7 0 0 0 10.0.0.1/8",
		"/data 7 0 0 0 nas/8",
		"/data 7 0 0 0",
	};

	exports.count = 0;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		CHECKF(exports_add(&exports, wrong[i]), "%s is taken", wrong[i]);
	CHECK_EQUAL(0, exports.count);
	begin();
	CHECK(exports_add(&exports, "/other 7 0 0 0 10.0.0.0/8"));
	CHECK(exports_add(&exports, "/data 9 0 0 0 10.0.0.0/8"));
}

const struct test exports_tests[] = {
	TEST(the_narrowest_rule_counts),
	TEST(others_get_nothing),
	TEST(a_path_stays_inside),
	TEST(wrong_lines_are_refused),
	END_OF_TESTS,
};
