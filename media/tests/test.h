/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A test is a function; each file has a table of them; main.c runs all. The first check that fails ends the program. */
#ifndef TEST_H
#define TEST_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fb_medium.h"

struct test {
	const char *name;
	void (*run)(void);
};

#define TEST(function) { #function, function }
#define END_OF_TESTS { NULL, NULL }

extern const struct test arith_tests[];
extern const struct test timeline_tests[];
extern const struct test params_tests[];
extern const struct test state_tests[];
extern const struct test flash_tests[];
extern const struct test collection_tests[];
extern const struct test buffer_tests[];
extern const struct test read_ahead_tests[];
extern const struct test nand_tests[];
extern const struct test faults_tests[];
extern const struct test health_tests[];
extern const struct test suspend_tests[];
extern const struct test ftl_tests[];
extern const struct test amplification_tests[];
extern const struct test slc_tests[];
extern const struct test dftl_tests[];
extern const struct test log_tests[];
extern const struct test disk_tests[];
extern const struct test power_tests[];
extern const struct test chip_tests[];
extern const struct test chip_bus_tests[];

#define CHECK(condition) \
	do { \
		if (!(condition)) \
			check_failed(__FILE__, __LINE__, #condition); \
	} while (0)

#define CHECK_EQUAL(expected, actual) check_equal(__FILE__, __LINE__, #actual, expected, actual)

void check_failed(const char *file, int line, const char *condition);
void check_equal(const char *file, int line, const char *what, u64 expected, u64 actual);

/* A medium of its own memory; free() it */
struct fb_medium *new_medium(const struct fb_params *params);

u64 submit(struct fb_medium *medium, enum fb_op op, u64 offset_bytes, u64 length_bytes, u64 now_ns);

/* Numbers that look random and are the same in each run (xorshift64*) */
u64 next_random(u64 *state);

#endif
