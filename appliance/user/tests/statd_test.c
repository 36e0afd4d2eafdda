// SPDX-License-Identifier: Apache-2.0
/* The status monitor: who is watched, who hears of it */
#include "calls.h"
#include "test.h"

static struct bed bed;

static uint32_t watch(uint32_t procedure, const char *name)
{
	uint8_t message[512];
	struct xdr_out out = call_begin(message, sizeof message, 100024, 1, procedure);
	struct xdr_in in;
	uint32_t result;

	if (procedure != 4)
		xdr_put_string(&out, name);
	xdr_put_string(&out, "nas");
	xdr_put_u32(&out, 100021);
	xdr_put_u32(&out, 4);
	xdr_put_u32(&out, 16);
	if (procedure == 2)
		xdr_put_fixed(&out, "0123456789abcdef", 16);
	in = call(&bed, &out, &result);
	return result == RPC_SUCCESS ? xdr_get_u32(&in) : 1000 + result;
}

static void notify(uint32_t from, const char *name)
{
	uint8_t message[512];
	struct xdr_out out = call_begin(message, sizeof message, 100024, 1, 6);
	uint32_t result;

	xdr_put_string(&out, name);
	xdr_put_u32(&out, 3);
	bed.caller.address = from;
	call(&bed, &out, &result);
	CHECK_EQUAL(RPC_SUCCESS, result);
	bed.caller.address = 0x7f000001;
}

static void begin(void)
{
	bed_begin(&bed);
	bed.caller.address = 0x7f000001;
}

static void the_listener_hears_of_a_restart(void)
{
	begin();
	CHECK_EQUAL(0, watch(2, "10.0.2.2"));
	CHECK_EQUAL(0, watch(2, "10.0.2.2"));
	CHECK_EQUAL(0, watch(2, "10.0.2.3"));
	CHECK_EQUAL(2, bed.statd.count);
	notify(0x0a000202, "client");
	CHECK_EQUAL(1, bed_told);
	notify(0x0a000204, "10.0.2.2"); /* nobody speaks for another */
	CHECK_EQUAL(1, bed_told);
	watch(3, "10.0.2.2");
	notify(0x0a000202, "client");
	CHECK_EQUAL(1, bed_told);
	watch(4, NULL);
	CHECK_EQUAL(0, bed.statd.count);
}

static void untrusted_clients_watch_nobody(void)
{
	begin();
	bed.caller.address = 0x0a000202;
	CHECK_EQUAL(1000 + RPC_PROCEDURE_UNAVAILABLE, watch(2, "10.0.2.2"));
	CHECK_EQUAL(0, bed.statd.count);
}

static void more_than_there_is_room_for_is_refused(void)
{
	char name[32];

	begin();
	for (int i = 0; i < STATD_WATCHED; i++) {
		snprintf(name, sizeof name, "10.0.%d.%d", i / 100, i % 100);
		CHECK_EQUAL(0, watch(2, name));
	}
	CHECK_EQUAL(1, watch(2, "10.9.9.9"));
	CHECK_EQUAL(1, watch(2, "no-address"));
}

const struct test statd_tests[] = {
	TEST(the_listener_hears_of_a_restart),
	TEST(untrusted_clients_watch_nobody),
	TEST(more_than_there_is_room_for_is_refused),
	END_OF_TESTS,
};
