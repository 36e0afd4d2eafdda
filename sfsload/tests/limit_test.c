// SPDX-License-Identifier: Apache-2.0
/* Two requests at a time; the others wait in their order */
#include "limit.h"
#include "test.h"

static void test_two_go_and_the_others_wait_in_their_order(void)
{
	struct limit limit = { 0 };
	struct limited items[5];

	CHECK(limit_enter(&limit, &items[0]));
	CHECK(limit_enter(&limit, &items[1]));
	for (int i = 2; i < 5; i++)
		CHECK(!limit_enter(&limit, &items[i]));
	CHECK_EQUAL(3, limit.waiting);
	CHECK(limit_leave(&limit) == &items[2]);
	CHECK_EQUAL(2, limit.outstanding);
	CHECK(limit_leave(&limit) == &items[3]);
	CHECK(!limit_enter(&limit, &items[0]));
	CHECK(limit_leave(&limit) == &items[4]);
	CHECK(limit_leave(&limit) == &items[0]);
	CHECK(!limit_leave(&limit));
	CHECK_EQUAL(1, limit.outstanding);
	CHECK(limit_enter(&limit, &items[1]));
	CHECK(!limit_leave(&limit));
	CHECK(!limit_leave(&limit));
	CHECK_EQUAL(0, limit.outstanding);
	CHECK_EQUAL(2, limit.max_seen);
}

static void test_what_waits_can_be_dropped(void)
{
	struct limit limit = { 0 };
	struct limited items[4];

	for (int i = 0; i < 4; i++)
		limit_enter(&limit, &items[i]);
	CHECK(limit_drop(&limit) == &items[2]);
	CHECK(limit_drop(&limit) == &items[3]);
	CHECK(!limit_drop(&limit));
	CHECK(!limit_leave(&limit));
	CHECK_EQUAL(1, limit.outstanding);
}

const struct test limit_tests[] = {
	TEST(test_two_go_and_the_others_wait_in_their_order),
	TEST(test_what_waits_can_be_dropped),
	END_OF_TESTS,
};
