// SPDX-License-Identifier: Apache-2.0
/* Calls that are whole, cut, and of other versions */
#include "calls.h"
#include "test.h"

static struct bed bed;

static uint32_t result_of(uint32_t program, uint32_t version, uint32_t procedure)
{
	uint8_t message[256];
	struct xdr_out out = call_begin(message, sizeof message, program, version, procedure);
	uint32_t result;

	call(&bed, &out, &result);
	return result;
}

static void null_procedures_answer(void)
{
	bed_begin(&bed);
	CHECK_EQUAL(RPC_SUCCESS, result_of(100000, 2, 0));
	for (uint32_t version = 1; version <= 3; version++)
		CHECK_EQUAL(RPC_SUCCESS, result_of(100005, version, 0));
	CHECK_EQUAL(RPC_SUCCESS, result_of(100024, 1, 0));
}

static void what_is_not_there_is_said(void)
{
	uint8_t message[256];
	struct xdr_out out = call_begin(message, sizeof message, 100000, 4, 0);
	struct xdr_in in;
	uint32_t result;

	bed_begin(&bed);
	CHECK_EQUAL(RPC_PROGRAM_UNAVAILABLE, result_of(100003, 3, 0));
	CHECK_EQUAL(RPC_PROCEDURE_UNAVAILABLE, result_of(100000, 2, 5)); /* the indirect call */
	CHECK_EQUAL(RPC_PROCEDURE_UNAVAILABLE, result_of(100005, 3, 99));
	in = call(&bed, &out, &result);
	CHECK_EQUAL(RPC_PROGRAM_MISMATCH, result);
	CHECK_EQUAL(2, xdr_get_u32(&in));
	CHECK_EQUAL(2, xdr_get_u32(&in));
	CHECK_EQUAL(in.size, in.used);
}

static void another_rpc_version_is_denied(void)
{
	uint8_t message[] = { 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 3 }, reply[64];
	uint8_t wanted[] = { 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2 };

	bed_begin(&bed);
	CHECK_EQUAL(sizeof wanted, rpc_reply(bed.programs, 3, &bed.caller, message, sizeof message, reply, sizeof reply));
	CHECK(!memcmp(wanted, reply, sizeof wanted));
}

static void what_is_no_call_has_no_reply(void)
{
	uint8_t message[256], reply[64];
	struct xdr_out out = call_begin(message, sizeof message, 100000, 2, 0);

	bed_begin(&bed);
	for (size_t length = 0; length < out.used; length++)
		CHECKF(!rpc_reply(bed.programs, 3, &bed.caller, message, length, reply, sizeof reply),
		       "%zu bytes have a reply", length);
	message[7] = 1; /* a reply itself */
	CHECK(!rpc_reply(bed.programs, 3, &bed.caller, message, out.used, reply, sizeof reply));
	message[7] = 0;
	message[28] = 0xff; /* a credential of 4 GB */
	CHECK(!rpc_reply(bed.programs, 3, &bed.caller, message, out.used, reply, sizeof reply));
}

/* Every call, cut anywhere in its arguments, is answered as garbage or not at all */
static void arguments_that_are_cut_are_garbage(void)
{
	static const uint32_t calls[][3] = { { 100000, 2, 1 }, { 100000, 2, 3 }, { 100005, 3, 1 }, { 100005, 1, 1 },
					     { 100005, 3, 3 }, { 100024, 1, 2 }, { 100024, 1, 6 } };

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		uint8_t message[256];
		struct xdr_out out = call_begin(message, sizeof message, calls[i][0], calls[i][1], calls[i][2]);
		uint32_t result;

		bed_begin(&bed);
		bed.caller.address = 0x7f000001;
		for (size_t length = out.used; length < out.used + 8; length++) {
			struct xdr_out cut = { message, sizeof message, length, false };

			memset(message + out.used, 0x7f, 8);
			call(&bed, &cut, &result);
			CHECKF(result == RPC_GARBAGE, "call %zu with %zu bytes: %u", i, length - out.used, result);
		}
	}
}

const struct test rpc_tests[] = {
	TEST(null_procedures_answer),
	TEST(what_is_not_there_is_said),
	TEST(another_rpc_version_is_denied),
	TEST(what_is_no_call_has_no_reply),
	TEST(arguments_that_are_cut_are_garbage),
	END_OF_TESTS,
};
