// SPDX-License-Identifier: Apache-2.0
/* The log's records as messages of syslog */
#include "forward.h"

#include "test.h"

static void records_become_messages(void)
{
	char message[64];

	CHECK_EQUAL(17, forward_message("6,1,2,-;eth0 is up\n SUBSYSTEM=net\n", "nas", message, sizeof message));
	CHECK_TEXT("<6>nas eth0 is up", message);
	forward_message("13,1,2,-;nas: ready\n", "nas", message, sizeof message);
	CHECK_TEXT("<29>nas nas: ready", message);
	CHECK_EQUAL(9, forward_message("6,1,2,-;a longer line\n", "nas", message, 10));
}

static void what_is_no_record_is_left(void)
{
	static const char *const wrong[] = { "", ";", "x,;text", "-1,;text", "6 text" };
	char message[64];

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		CHECK_EQUAL(0, forward_message(wrong[i], "nas", message, sizeof message));
}

const struct test forward_tests[] = {
	TEST(records_become_messages),
	TEST(what_is_no_record_is_left),
	END_OF_TESTS,
};
