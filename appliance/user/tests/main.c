// SPDX-License-Identifier: Apache-2.0
/* Runs all tests */
#include "test.h"

int main(void)
{
	return RUN_TESTS(words_tests, exports_tests, caches_tests, rpc_tests, portmap_tests, mount_tests, statd_tests,
			 connection_tests, dhcp_tests, forward_tests, superblock_tests, keyboard_tests, root_tests,
			 program_tests, served_tests, transport_tests, network_tests,
			 services_tests);
}
