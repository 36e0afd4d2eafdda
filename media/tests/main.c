// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Runs all tests, file by file */
#include "test.h"

int main(void)
{
	return RUN_TESTS(arith_tests, timeline_tests, params_tests, state_tests, nand_tests, flash_tests,
			 collection_tests, buffer_tests, read_ahead_tests, ftl_tests, amplification_tests,
			 faults_tests, health_tests, suspend_tests, slc_tests, rest_tests, dftl_tests, log_tests,
			 log_steps_tests, log_lookup_tests, log_sound_tests, disk_seek_tests, disk_tests, disk_buffer_tests,
			 disk_cache_tests, power_tests, chip_tests, chip_rules_tests, chip_faults_tests,
			 chip_torn_tests, chip_bus_tests, chip_bus_faults_tests);
}
