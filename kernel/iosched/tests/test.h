/* SPDX-License-Identifier: GPL-2.0-only */
/* A test is a function; each file has a table of them; main.c runs all. The first check that fails ends the program. */
#ifndef TEST_H
#define TEST_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "request.h"

struct test {
	const char *name;
	void (*run)(void);
};

#define TEST(function) { #function, function }
#define END_OF_TESTS { NULL, NULL }

extern const struct test common_tests[];
extern const struct test as_tests[];
extern const struct test as_wait_tests[];
extern const struct test cfq_tests[];
extern const struct test cfq_idle_tests[];
extern const struct test load_tests[];

#define CHECK(condition) \
	do { \
		if (!(condition)) \
			check_failed(__FILE__, __LINE__, #condition); \
	} while (0)

#define CHECK_EQUAL(expected, actual) check_equal(__FILE__, __LINE__, #actual, expected, actual)

void check_failed(const char *file, int line, const char *condition);
void check_equal(const char *file, int line, const char *what, u64 expected, u64 actual);

/* ms as ns */
#define MS(ms) ((ms) * IOS_NSEC_PER_MSEC)

/* A request that is with no scheduler yet */
struct ios_request request(u64 sector, u32 sectors, bool sync);

/* Numbers that look random and are the same in each run (xorshift64*) */
u64 next_random(u64 *state);

#endif
