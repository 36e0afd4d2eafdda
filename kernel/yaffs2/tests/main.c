// SPDX-License-Identifier: GPL-2.0-only
/* Runs all tests of the core, file by file */
#include "test.h"

int main(void)
{
	return RUN_TESTS(tags_tests, fs_tests, space_tests, torn_tests, foreign_tests, health_tests, names_tests,
			 other_files_tests, other_log_tests, other_yaffs1_tests, torn_marks_tests, torn_last_tests);
}
