// SPDX-License-Identifier: Apache-2.0
/* The double of the kernel's channels: its questions as text, and what it would read as answers */
#include "caches.h"

#include "test.h"

static struct exports exports;

static const char *answer(enum cache cache, const char *question)
{
	static char text[CACHE_LINE];

	exports.count = 0;
	CHECK(!exports_add(&exports, "/my\\040data 258 0x6 65534 100 10.0.2.0/24"));
	return cache_answer(cache, &exports, question, text, sizeof text) ? text : "";
}

static void known_clients_have_a_domain(void)
{
	CHECK_TEXT("nfsd 10.0.2.2 2147483647 10.0.2.2\n", answer(CACHE_ADDRESS, "nfsd 10.0.2.2\n"));
	CHECK_TEXT("nfsd ::ffff:10.0.2.2 2147483647 10.0.2.2\n", answer(CACHE_ADDRESS, "nfsd ::ffff:10.0.2.2\n"));
}

static void others_have_none(void)
{
	CHECK_TEXT("nfsd 10.0.3.2 2147483647\n", answer(CACHE_ADDRESS, "nfsd 10.0.3.2\n"));
	CHECK_TEXT("nfsd fe80::1 2147483647\n", answer(CACHE_ADDRESS, "nfsd fe80::1\n"));
	CHECK_TEXT("other 10.0.2.2 2147483647\n", answer(CACHE_ADDRESS, "other 10.0.2.2\n"));
}

static void an_export_is_told_with_its_number(void)
{
	CHECK_TEXT("10.0.2.2 /my\\040data 2147483647 9222 65534 100 258\n",
		   answer(CACHE_EXPORT, "10.0.2.2 /my\\040data\n"));
	CHECK_TEXT("10.0.3.2 /my\\040data 2147483647\n", answer(CACHE_EXPORT, "10.0.3.2 /my\\040data\n"));
	CHECK_TEXT("10.0.2.2 /my 2147483647\n", answer(CACHE_EXPORT, "10.0.2.2 /my\n"));
	CHECK_TEXT("somebody /my\\040data 2147483647\n", answer(CACHE_EXPORT, "somebody /my\\040data\n"));
}

static void a_handle_leads_to_its_export_only(void)
{
	uint32_t fsid = 258;
	const uint8_t *bytes = (const uint8_t *)&fsid;
	char question[64], expected[96];

	snprintf(question, sizeof question, "10.0.2.2 1 \\x%02x%02x%02x%02x\n", bytes[0], bytes[1], bytes[2], bytes[3]);
	snprintf(expected, sizeof expected, "10.0.2.2 1 \\x%02x%02x%02x%02x 2147483647 /my\\040data\n", bytes[0], bytes[1],
		 bytes[2], bytes[3]);
	CHECK_TEXT(expected, answer(CACHE_HANDLE, question));
	CHECK_TEXT("10.0.2.2 1 \\xffffffff 2147483647\n", answer(CACHE_HANDLE, "10.0.2.2 1 \\xffffffff\n"));
	CHECK_TEXT("10.0.2.2 0 \\x0000000001000000 2147483647\n",
		   answer(CACHE_HANDLE, "10.0.2.2 0 \\x0000000001000000\n"));
	CHECK_TEXT("10.0.2.2 6 \\x00112233445566778899aabbccddeeff 2147483647\n",
		   answer(CACHE_HANDLE, "10.0.2.2 6 \\x00112233445566778899aabbccddeeff\n"));
}

static void what_is_no_question_has_no_answer(void)
{
	static const char *const wrong[] = { "", "\n", "nfsd", "nfsd \\", "\\x \\x" };

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		for (enum cache cache = 0; cache < CACHES; cache++)
			CHECK_TEXT("", answer(cache, wrong[i]));
}

static void tells_beforehand_what_it_would_answer(void)
{
	char line[CACHE_LINE];

	answer(CACHE_ADDRESS, "nfsd 10.0.2.2\n");
	CHECK(cache_foretell(CACHE_ADDRESS, &exports.rules[0], 0x0a000202, line, sizeof line));
	CHECK_TEXT(line, answer(CACHE_ADDRESS, "nfsd 10.0.2.2\n"));
	CHECK(cache_foretell(CACHE_EXPORT, &exports.rules[0], 0x0a000202, line, sizeof line));
	CHECK_TEXT(line, answer(CACHE_EXPORT, "10.0.2.2 /my\\040data\n"));
	CHECK(cache_foretell(CACHE_HANDLE, &exports.rules[0], 0x0a000202, line, sizeof line));
	CHECK(!strncmp(line, "10.0.2.2 1 \\x", 13) && strstr(line, " 2147483647 /my\\040data\n"));
}

const struct test caches_tests[] = {
	TEST(known_clients_have_a_domain),
	TEST(others_have_none),
	TEST(an_export_is_told_with_its_number),
	TEST(a_handle_leads_to_its_export_only),
	TEST(what_is_no_question_has_no_answer),
	TEST(tells_beforehand_what_it_would_answer),
	END_OF_TESTS,
};
