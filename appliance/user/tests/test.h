/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the appliance's program share */
#ifndef TEST_H
#define TEST_H

#include <stdbool.h>
#include <string.h>

#include "harness.h"

#define CHECK_TEXT(expected, actual) \
	CHECKF(!strcmp(expected, actual), "%s is \"%s\", not \"%s\"", #actual, actual, expected)

extern const struct test words_tests[], exports_tests[], caches_tests[], rpc_tests[], portmap_tests[], mount_tests[];
extern const struct test statd_tests[], connection_tests[], dhcp_tests[], forward_tests[], superblock_tests[];
extern const struct test keyboard_tests[], root_tests[], program_tests[], served_tests[], transport_tests[], network_tests[];
extern const struct test services_tests[];

#endif
