/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The one way in which C code is tested on the host. A test is a function without arguments; each file has a table of
 * them, which END_OF_TESTS ends, and main() runs all tables. The first check that fails says where and aborts.
 *
 * Nothing here knows what is tested: each set of tests includes this in a test.h of its own, with its helpers.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct test {
	const char *name;
	void (*run)(void);
};

#define TEST(function) { #function, function }
#define END_OF_TESTS { NULL, NULL }

#define CHECK(condition) \
	do { \
		if (!(condition)) \
			check_failed(__FILE__, __LINE__, "not true: %s", #condition); \
	} while (0)

/* As CHECK(), with words of printf() that tell what was found */
#define CHECKF(condition, ...) \
	do { \
		if (!(condition)) \
			check_failed(__FILE__, __LINE__, __VA_ARGS__); \
	} while (0)

/* Of numbers up to 64 bits */
#define CHECK_EQUAL(expected, actual) check_equal(__FILE__, __LINE__, #actual, expected, actual)

/* Runs tables of tests; the value of main() */
#define RUN_TESTS(...) run_tests((const struct test *const[]) { __VA_ARGS__, NULL })

__attribute__((noreturn, format(printf, 3, 4)))
static inline void check_failed(const char *file, int line, const char *format, ...)
{
	va_list words;

	fflush(stdout);
	fprintf(stderr, "%s:%d: ", file, line);
	va_start(words, format);
	vfprintf(stderr, format, words);
	va_end(words);
	fputc('\n', stderr);
	abort();
}

static inline void check_equal(const char *file, int line, const char *what, uint64_t expected, uint64_t actual)
{
	if (expected != actual)
		check_failed(file, line, "%s is %" PRIu64 " (0x%" PRIx64 "), not %" PRIu64, what, actual, actual,
			     expected);
}

static inline int run_tests(const struct test *const *tables)
{
	int count = 0;

	for (; *tables; tables++)
		for (const struct test *test = *tables; test->run; test++, count++) {
			printf("%s\n", test->name);
			fflush(stdout);
			test->run();
		}
	printf("%d tests passed\n", count);
	return 0;
}

#endif
