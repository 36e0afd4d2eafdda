// SPDX-License-Identifier: Apache-2.0
/* Lines of words: what is written is what the kernel reads */
#include "words.h"

#include "test.h"

static void writes_as_the_kernel_reads(void)
{
	char line[64];
	struct words_out out = { line, sizeof line, 0, false };

	words_put(&out, "a b\\c\n");
	words_put_number(&out, -7);
	words_put_hex(&out, (const uint8_t *)"\x01\xab", 2);
	CHECK(words_end(&out));
	CHECK_TEXT("a\\040b\\134c\\012 -7 \\x01ab\n", line);
}

static void reads_what_it_writes(void)
{
	char line[2048], word[300], all[256];
	struct words_out out = { line, sizeof line, 0, false };
	const char *from = line;

	for (int i = 0; i < 255; i++)
		all[i] = (char)(i + 1);
	all[255] = '\0';
	words_put(&out, all);
	words_put(&out, "end");
	CHECK(words_end(&out));
	CHECK_EQUAL(255, words_next(&from, word, sizeof word));
	CHECK_TEXT(all, word);
	CHECK_EQUAL(3, words_next(&from, word, sizeof word));
	CHECK(words_next(&from, word, sizeof word) < 0);
}

static void says_when_a_line_is_full(void)
{
	char line[8];
	struct words_out out = { line, sizeof line, 0, false };

	words_put(&out, "12345678");
	CHECK(!words_end(&out));
	CHECK(strlen(line) < sizeof line);
}

static void refuses_what_is_badly_written(void)
{
	static const char *const bad[] = { "\\", "\\1", "\\12", "\\189", "\\x1", "\\xzz", "\\x0", "\\777", "toolongword" };

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		const char *from = bad[i];
		char word[8];

		CHECKF(words_next(&from, word, sizeof word) < 0, "%s is taken", bad[i]);
	}
}

const struct test words_tests[] = {
	TEST(writes_as_the_kernel_reads),
	TEST(reads_what_it_writes),
	TEST(says_when_a_line_is_full),
	TEST(refuses_what_is_badly_written),
	END_OF_TESTS,
};
