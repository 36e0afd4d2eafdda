// SPDX-License-Identifier: Apache-2.0
/* Programs that end */
#include "program.h"

#include "test.h"

static void its_exit_status_is_told(void)
{
	const char *const good[] = { "/bin/true", NULL }, *const bad[] = { "/bin/sh", "-c", "exit 3", NULL };

	CHECK_EQUAL(0, program_run(good, false));
	CHECK_EQUAL(3, program_run(bad, false));
}

static void what_is_not_there_is_no_program(void)
{
	const char *const none[] = { "/none", NULL };

	CHECK_EQUAL(-1, program_run(none, false));
}

/* More than a pipe holds */
static void one_that_says_much_comes_to_its_end(void)
{
	const char *const much[] = { "/bin/sh", "-c", "head -c 200000 /dev/zero | tr '\\0' x; exit 4", NULL };

	CHECK_EQUAL(4, program_run(much, false));
}

const struct test program_tests[] = {
	TEST(its_exit_status_is_told),
	TEST(what_is_not_there_is_no_program),
	TEST(one_that_says_much_comes_to_its_end),
	END_OF_TESTS,
};
