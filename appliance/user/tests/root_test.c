// SPDX-License-Identifier: Apache-2.0
/* The root of NFS version 4, and what the kernel is told of it and of what lies below */
#include "root.h"

#include "caches.h"
#include "test.h"

enum { OURS = 0x0a000202, THEIRS = 0x0a000302, UNTRUSTED = 0x0a000402 };

static struct exports exports;

static void begin(void)
{
	exports.count = 0;
	exports.version_4 = true;
	CHECK(!exports_add(&exports, "/data 7 0x0 1000 100 10.0.2.0/24"));
	CHECK(!exports_add(&exports, "/theirs 8 0x2 65534 65534 10.0.3.0/24"));
}

static const char *answer(enum cache cache, const char *question)
{
	static char text[CACHE_LINE];

	return cache_answer(cache, &exports, question, text, sizeof text) ? text : "";
}

static void who_has_an_export_has_the_root(void)
{
	begin();
	/* Read-only, root squashed, with a number, without checks of trees: 1 | 4 | 0x2000 | 0x400, and the root's flag */
	CHECK_TEXT("10.0.2.2 / 2147483647 74757 65534 65534 0\n", answer(CACHE_EXPORT, "10.0.2.2 /\n"));
	CHECK_TEXT("10.0.2.2 1 \\x00000000 2147483647 /\n", answer(CACHE_HANDLE, "10.0.2.2 1 \\x00000000\n"));
}

static void others_have_none(void)
{
	struct export_rule rule;

	begin();
	CHECK_TEXT("10.0.4.2 / 2147483647\n", answer(CACHE_EXPORT, "10.0.4.2 /\n"));
	CHECK_TEXT("10.0.4.2 1 \\x00000000 2147483647\n", answer(CACHE_HANDLE, "10.0.4.2 1 \\x00000000\n"));
	CHECK_TEXT("somebody / 2147483647\n", answer(CACHE_EXPORT, "somebody /\n"));
	CHECK(!root_rule(&exports, UNTRUSTED, &rule));
	exports.count = 0;
	CHECK(!root_rule(&exports, OURS, &rule));
}

static void without_version_4_there_is_none(void)
{
	begin();
	exports.version_4 = false;
	CHECK_TEXT("10.0.2.2 / 2147483647\n", answer(CACHE_EXPORT, "10.0.2.2 /\n"));
	CHECK_TEXT("10.0.2.2 1 \\x00000000 2147483647\n", answer(CACHE_HANDLE, "10.0.2.2 1 \\x00000000\n"));
}

static void below_it_is_what_a_client_may_have(void)
{
	static const char *const others[] = { "theirs", "etc", "proc", "run", "init", "data/a", "data/.." };
	char question[64], expected[64];

	begin();
	CHECK_TEXT("10.0.2.2 /data 2147483647 9216 1000 100 7\n", answer(CACHE_EXPORT, "10.0.2.2 /data\n"));
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		snprintf(question, sizeof question, "10.0.2.2 /%s\n", others[i]);
		snprintf(expected, sizeof expected, "10.0.2.2 /%s 2147483647\n", others[i]);
		CHECK_TEXT(expected, answer(CACHE_EXPORT, question));
	}
}

static void an_ordinary_port_is_enough_for_whom_an_export_says_so(void)
{
	struct export_rule rule;

	begin();
	CHECK(!(root_rule(&exports, OURS, &rule)->flags & EXPORT_ANY_PORT));
	CHECK(root_rule(&exports, THEIRS, &rule)->flags & EXPORT_ANY_PORT);
	CHECK(!exports_add(&exports, "/data 7 0x2 65534 65534 10.0.0.0/8")); /* the narrower one counts */
	CHECK(!(root_rule(&exports, OURS, &rule)->flags & EXPORT_ANY_PORT));
}

static void no_export_can_be_the_root(void)
{
	begin();
	CHECK(exports_add(&exports, "/ 9 0 0 0 10.0.0.0/8"));
	CHECK(exports_add(&exports, "/data2 0 0 0 0 10.0.0.0/8"));
	CHECK(exports_add(&exports, "/data2 9 0x10000 0 0 10.0.0.0/8"));
	CHECK(!exports_around(&exports, "/", OURS));
}

const struct test root_tests[] = {
	TEST(who_has_an_export_has_the_root),
	TEST(others_have_none),
	TEST(without_version_4_there_is_none),
	TEST(below_it_is_what_a_client_may_have),
	TEST(an_ordinary_port_is_enough_for_whom_an_export_says_so),
	TEST(no_export_can_be_the_root),
	END_OF_TESTS,
};
