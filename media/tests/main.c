// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Runs all tests, file by file */
#include "test.h"

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
	int count = run(arith_tests) + run(timeline_tests) + run(params_tests) + run(state_tests) + run(nand_tests) +
		    run(flash_tests) + run(collection_tests) + run(buffer_tests) + run(read_ahead_tests) + run(ftl_tests) +
		    run(amplification_tests) + run(faults_tests) + run(health_tests) + run(suspend_tests) +
		    run(slc_tests) + run(dftl_tests) + run(log_tests) + run(disk_tests) + run(power_tests) + run(chip_tests) +
		    run(chip_bus_tests);

	printf("%d tests passed\n", count);
	return 0;
}
