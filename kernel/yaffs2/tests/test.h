/* SPDX-License-Identifier: GPL-2.0-only */
/* A test is a function; the first check that fails ends the program. */
#ifndef Y2_TEST_H
#define Y2_TEST_H

#include <inttypes.h>

#include "../core/yaffs2.h"
#include "ram_flash.h"

struct test {
	const char *name;
	void (*run)(void);
};

#define TEST(function) { #function, function }
#define END_OF_TESTS { NULL, NULL }

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

#define CHECK_EQUAL(expected, actual) check_equal(__FILE__, __LINE__, #actual, expected, actual)

static inline void check_equal(const char *file, int line, const char *what, u64 expected, u64 actual)
{
	if (expected == actual)
		return;
	fprintf(stderr, "%s:%d: %s is %" PRIu64 " (0x%" PRIx64 "), not %" PRIu64 "\n", file, line, what, actual, actual,
		expected);
	abort();
}

extern bool y2_quiet;
extern const struct y2_geometry tiny_geometry, small_geometry, large_geometry;

u32 test_now(void);
struct y2_fs *must_mount(struct ram_flash *flash, const struct y2_options *options);
struct y2_object *must_find(struct y2_fs *fs, struct y2_object *dir, const char *name);
void collect_all_but(struct y2_fs *fs, u32 block);
struct y2_object *must_create(struct y2_fs *fs, struct y2_object *dir, const char *name, u32 mode);

#endif
