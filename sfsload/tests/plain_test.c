// SPDX-License-Identifier: Apache-2.0
/* The state of names: which are known to exist */
#include "plain.h"
#include "test.h"

static void test_calls_one_after_the_other_are_sure(void)
{
	struct plain_name name = { 0 };

	for (int turn = 0; turn < 2; turn++) {
		plain_sent(&name, turn);
		plain_answered(&name);
		CHECK(!name.unsure);
	}
}

static void test_two_at_a_time_are_unsure_until_one_creates_it_alone(void)
{
	struct plain_name name = { 0 };

	plain_sent(&name, true);
	plain_sent(&name, false);
	CHECK(name.unsure);
	plain_answered(&name);
	plain_answered(&name);
	CHECK(name.unsure);
	plain_sent(&name, false);
	plain_answered(&name);
	CHECK(name.unsure);
	plain_sent(&name, true);
	CHECK(!name.unsure);
	plain_answered(&name);
	CHECK_EQUAL(0, name.under_way);
}

const struct test plain_tests[] = {
	TEST(test_calls_one_after_the_other_are_sure),
	TEST(test_two_at_a_time_are_unsure_until_one_creates_it_alone),
	END_OF_TESTS,
};
