// SPDX-License-Identifier: GPL-2.0-only
#include "test.h"

extern const struct test tags_tests[], fs_tests[], torn_tests[], foreign_tests[], health_tests[], others_tests[],
	torn_marks_tests[], torn_last_tests[];

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
		    run(others_tests) + run(torn_marks_tests) + run(torn_last_tests);

	printf("%d tests passed\n", count);
	return 0;
}
