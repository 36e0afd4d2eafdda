// SPDX-License-Identifier: Apache-2.0
/* Results of several processes are one */
#include "result.h"
#include "test.h"

static void test_errors_are_counted_by_kind(void)
{
	static struct result a, b;

	result_error(&a, OP_READ, ERROR_STATUS, 70);
	result_error(&a, OP_READ, ERROR_STATUS, 70);
	result_error(&a, OP_READ, ERROR_STATUS, 5);
	result_error(&b, OP_WRITE, ERROR_LENGTH, 0);
	result_error(&b, OP_READ, ERROR_STATUS, 5);
	result_merge(&a, &b);
	CHECK_EQUAL(2, a.errors[0].count);
	CHECK_EQUAL(2, a.errors[1].count);
	CHECK(a.errors[2].op == OP_WRITE && a.errors[2].kind == ERROR_LENGTH && a.errors[2].count == 1);
	CHECK(a.errors[3].kind == ERROR_NONE);
	CHECK_EQUAL(5, result_errors(&a));
}

static void test_more_kinds_than_there_is_room_for_are_not_lost(void)
{
	static struct result result;

	for (uint32_t code = 0; code < 100; code++)
		result_error(&result, OP_READ, ERROR_STATUS, code);
	CHECK_EQUAL(100, result_errors(&result));
}

static void test_merging_adds_and_keeps_the_largest(void)
{
	static struct result a, b;

	a.ops[OP_READ].scheduled = 3;
	b.ops[OP_READ].scheduled = 4;
	histogram_add(&a.ops[OP_READ].times, 100);
	histogram_add(&b.ops[OP_READ].times, 300);
	a.max_reads = 1;
	b.max_reads = 2;
	b.retransmissions = 7;
	b.gave_up = true;
	result_merge(&a, &b);
	CHECK_EQUAL(7, a.ops[OP_READ].scheduled);
	CHECK_EQUAL(200, histogram_mean(&a.ops[OP_READ].times));
	CHECK_EQUAL(2, a.max_reads);
	CHECK_EQUAL(7, a.retransmissions);
	CHECK(a.gave_up);
}

const struct test result_tests[] = {
	TEST(test_errors_are_counted_by_kind),
	TEST(test_more_kinds_than_there_is_room_for_are_not_lost),
	TEST(test_merging_adds_and_keeps_the_largest),
	END_OF_TESTS,
};
