// SPDX-License-Identifier: Apache-2.0
/* What a portmapper that was started again learns of the kernel */
#include "served.h"
#include "test.h"

enum { NFS = 100003, LOCKS = 100021 };

static void learns_nfs_and_locks(void)
{
	struct portmap map = { .count = 0 };

	served_add(&map, "+2 +3 -4 -4.0\n", "udp 2049\ntcp 2049\n", 32768, 32769);
	CHECK_EQUAL(2049, portmap_port(&map, NFS, 2, PORTMAP_UDP));
	CHECK_EQUAL(2049, portmap_port(&map, NFS, 3, PORTMAP_TCP));
	CHECK_EQUAL(32768, portmap_port(&map, LOCKS, 4, PORTMAP_TCP));
	CHECK_EQUAL(32769, portmap_port(&map, LOCKS, 1, PORTMAP_UDP));
	CHECK_EQUAL(10, map.count);
}

static void learns_only_what_is_served(void)
{
	struct portmap map = { .count = 0 };

	served_add(&map, "-2 +3 -4\n", "tcp 2050\n", 32768, 0);
	CHECK_EQUAL(2050, portmap_port(&map, NFS, 3, PORTMAP_TCP));
	CHECK_EQUAL(0, portmap_port(&map, NFS, 3, PORTMAP_UDP));
	CHECK_EQUAL(0, portmap_port(&map, LOCKS, 4, PORTMAP_UDP));
	CHECK_EQUAL(4, map.count);
}

static void learns_nothing_before_the_server_runs(void)
{
	struct portmap map = { .count = 0 };

	served_add(&map, "", "", 32768, 32768);
	served_add(&map, "+2 +3", "", 0, 0);
	CHECK_EQUAL(0, map.count);
	served_add(&map, "+3 +", "what is this\n\nrdma 20049\ntcp 2049", 0, 0); /* and from odd texts what it can */
	CHECK_EQUAL(1, map.count);
	CHECK_EQUAL(2049, portmap_port(&map, NFS, 3, PORTMAP_TCP));
}

static void lets_the_kernel_tell_it_again(void)
{
	struct portmap map = { .count = 0 };

	served_add(&map, "+3", "tcp 2049\n", 0, 0);
	CHECK(portmap_set(&map, &(struct portmap_entry) { NFS, 3, PORTMAP_TCP, 2049 }));
	CHECK_EQUAL(1, map.count);
}

const struct test served_tests[] = {
	TEST(learns_nfs_and_locks),
	TEST(learns_only_what_is_served),
	TEST(learns_nothing_before_the_server_runs),
	TEST(lets_the_kernel_tell_it_again),
	END_OF_TESTS,
};
