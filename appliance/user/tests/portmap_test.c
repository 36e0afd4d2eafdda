// SPDX-License-Identifier: Apache-2.0
/* The portmapper: who may set, what is answered */
#include "calls.h"
#include "test.h"

static struct bed bed;

static uint32_t ask(uint32_t procedure, uint32_t program, uint32_t version, uint32_t protocol, uint32_t port)
{
	uint8_t message[256];
	struct xdr_out out = call_begin(message, sizeof message, 100000, 2, procedure);
	struct xdr_in in;
	uint32_t result, value;

	xdr_put_u32(&out, program);
	xdr_put_u32(&out, version);
	xdr_put_u32(&out, protocol);
	xdr_put_u32(&out, port);
	in = call(&bed, &out, &result);
	CHECK_EQUAL(RPC_SUCCESS, result);
	value = xdr_get_u32(&in);
	CHECK(!in.bad && in.used == in.size);
	return value;
}

static void begin_here(void)
{
	bed_begin(&bed);
	bed.caller.address = 0x7f000001;
}

static void keeps_what_this_machine_sets(void)
{
	begin_here();
	CHECK_EQUAL(1, ask(1, 100003, 3, 6, 2049));
	CHECK_EQUAL(1, ask(1, 100003, 3, 6, 2049));
	CHECK_EQUAL(0, ask(1, 100003, 3, 6, 2050)); /* taken */
	CHECK_EQUAL(0, ask(1, 100003, 3, 17, 70000));
	bed.caller.address = 0x0a000202;
	CHECK_EQUAL(2049, ask(3, 100003, 3, 6, 0));
	CHECK_EQUAL(2049, ask(3, 100003, 2, 6, 0)); /* its server says which versions it has */
	CHECK_EQUAL(0, ask(3, 100003, 3, 17, 0));
	CHECK_EQUAL(0, ask(3, 100004, 3, 6, 0));
}

static void untrusted_clients_set_nothing(void)
{
	bed_begin(&bed);
	CHECK_EQUAL(0, ask(1, 100003, 3, 6, 2049));
	bed.caller = (struct rpc_caller) { 0x7f000001, 40000, true }; /* a user of this machine, not root */
	CHECK_EQUAL(0, ask(1, 100003, 3, 6, 2049));
	CHECK_EQUAL(0, bed.map.count);
	begin_here();
	CHECK_EQUAL(1, ask(1, 100003, 3, 6, 2049));
	bed.caller.address = 0x0a000202;
	CHECK_EQUAL(0, ask(2, 100003, 3, 0, 0));
	CHECK_EQUAL(1, bed.map.count);
}

static void unset_takes_all_protocols(void)
{
	begin_here();
	ask(1, 100003, 3, 6, 2049);
	ask(1, 100003, 3, 17, 2049);
	ask(1, 100003, 2, 17, 2049);
	CHECK_EQUAL(1, ask(2, 100003, 3, 0, 0));
	CHECK_EQUAL(1, bed.map.count);
	CHECK_EQUAL(0, ask(2, 100003, 3, 0, 0));
}

static void a_full_table_stays_whole(void)
{
	begin_here();
	for (uint32_t i = 0; i < PORTMAP_ENTRIES; i++)
		CHECK_EQUAL(1, ask(1, 200000 + i, 1, 6, 1000 + i));
	CHECK_EQUAL(0, ask(1, 300000, 1, 6, 99));
	CHECK_EQUAL(1000, ask(3, 200000, 1, 6, 0));
}

static void dump_lists_all_over_tcp(void)
{
	uint8_t message[256];
	struct xdr_out out = call_begin(message, sizeof message, 100000, 2, 4);
	uint32_t result, count = 0;
	struct xdr_in in;

	a_full_table_stays_whole();
	call(&bed, &out, &result); /* over UDP */
	CHECK_EQUAL(RPC_PROCEDURE_UNAVAILABLE, result);
	bed.caller.tcp = true;
	in = call(&bed, &out, &result);
	CHECK_EQUAL(RPC_SUCCESS, result);
	while (xdr_get_u32(&in)) {
		CHECK_EQUAL(200000 + count++, xdr_get_u32(&in));
		xdr_get_fixed(&in, 12);
	}
	CHECK(!in.bad && in.used == in.size);
	CHECK_EQUAL(PORTMAP_ENTRIES, count);
}

const struct test portmap_tests[] = {
	TEST(keeps_what_this_machine_sets),
	TEST(untrusted_clients_set_nothing),
	TEST(unset_takes_all_protocols),
	TEST(a_full_table_stays_whole),
	TEST(dump_lists_all_over_tcp),
	END_OF_TESTS,
};
