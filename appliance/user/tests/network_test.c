// SPDX-License-Identifier: Apache-2.0
/* Addresses of an interface, in a network name space of the test's own */
#include "network.h"

#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

enum { REFUSED = 2 };

/* As a lease whose mask has 32 bits says it */
static const struct network beyond = { 0x0a090909, 0xffffffff, 0x0a000001 };

static int set_in_a_name_space(void)
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return REFUSED;
	return !(network_up("lo", 0) && network_set("lo", &beyond));
}

static void an_address_stays_where_its_gateway_cannot_be_reached(void)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(set_in_a_name_space());
	CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
	if (WEXITSTATUS(status) == REFUSED)
		puts("  not run: this host refuses name spaces");
	else
		CHECK_EQUAL(0, (uint64_t)WEXITSTATUS(status));
}

const struct test network_tests[] = {
	TEST(an_address_stays_where_its_gateway_cannot_be_reached),
	END_OF_TESTS,
};
