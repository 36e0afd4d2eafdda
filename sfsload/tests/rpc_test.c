// SPDX-License-Identifier: Apache-2.0
/* Headers of RPC by their bytes (RFC 5531) */
#include "rpc.h"
#include "test.h"

static void test_a_call_has_the_header_of_rfc_5531(void)
{
	static const struct rpc_procedure lookup = { NFS_PROGRAM, 3, 3 };
	static const struct rpc_identity who = { "bed", 1000, 100 };
	uint8_t bytes[128];
	struct xdr_out out = { .bytes = bytes, .size = sizeof(bytes) };

	rpc_put_call(&out, 0xabcdef01, &lookup, &who);
	check_bytes("abcdef01 00000000 00000002 000186a3 00000003 00000003 " /* xid, CALL, RPC 2, program ... */
		    "00000001 00000018 00000000 00000003 62656400 000003e8 00000064 00000000 " /* AUTH_SYS */
		    "00000000 00000000", /* verifier: AUTH_NONE */
		    bytes, out.used);
}

static void test_replies(void)
{
	static const struct {
		const char *digits; /* behind the xid */
		enum rpc_outcome outcome;
	} replies[] = {
		{ "00000001 00000000 00000000 00000000 00000000", RPC_SUCCESS },
		{ "00000001 00000000 00000001 00000004 01020304 00000000", RPC_SUCCESS }, /* with a verifier */
		{ "00000001 00000000 00000000 00000000 00000001", RPC_PROGRAM_UNAVAILABLE },
		{ "00000001 00000000 00000000 00000000 00000002 00000002 00000003", RPC_PROGRAM_MISMATCH },
		{ "00000001 00000000 00000000 00000000 00000003", RPC_PROCEDURE_UNAVAILABLE },
		{ "00000001 00000000 00000000 00000000 00000004", RPC_GARBAGE_ARGUMENTS },
		{ "00000001 00000000 00000000 00000000 00000005", RPC_SYSTEM_ERROR },
		{ "00000001 00000001 00000000 00000002 00000002", RPC_VERSION_DENIED },
		{ "00000001 00000001 00000001 00000005", RPC_AUTH_DENIED },
		{ "00000001 00000000 00000000 00000000 00000006", RPC_MALFORMED },
		{ "00000001 00000002", RPC_MALFORMED },
		{ "00000001 00000001 00000002", RPC_MALFORMED },
		{ "00000000 00000000 00000000 00000000 00000000", RPC_MALFORMED }, /* a call */
		{ "00000001 00000000 00000000", RPC_MALFORMED }, /* cut off */
		{ "", RPC_MALFORMED },
	};
	uint8_t bytes[64];

	for (size_t i = 0; i < COUNT_OF(replies); i++) {
		struct xdr_in in = { .bytes = bytes, .size = bytes_of(replies[i].digits, bytes) };
		enum rpc_outcome outcome = rpc_get_reply(&in);

		CHECKF(outcome == replies[i].outcome, "%s is %s", replies[i].digits, rpc_outcome_name(outcome));
		CHECK(outcome != RPC_SUCCESS || in.used == in.size);
	}
}

const struct test rpc_tests[] = {
	TEST(test_a_call_has_the_header_of_rfc_5531),
	TEST(test_replies),
	END_OF_TESTS,
};
