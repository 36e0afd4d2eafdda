// SPDX-License-Identifier: GPL-2.0-only
/* Runs all tests of the core, one after the other. */
#include "test.h"

extern const struct test tags_tests[], fs_tests[], torn_tests[], foreign_tests[], health_tests[],
	other_files_tests[], other_log_tests[], other_yaffs1_tests[], torn_marks_tests[], torn_last_tests[];

static int run(const struct test *tests)
{
	int count = 0;

	for (; tests->run; tests++, count++) {
		printf("%s\n", tests->name);
		fflush(stdout);
		tests->run();
	}
	return count;
}

int main(void)
{
	int count = run(tags_tests) + run(fs_tests) + run(torn_tests) + run(foreign_tests) + run(health_tests) +
		    run(other_files_tests) + run(other_log_tests) + run(other_yaffs1_tests) + run(torn_marks_tests) +
		    run(torn_last_tests);

	printf("%d tests passed\n", count);
	return 0;
}
