// SPDX-License-Identifier: Apache-2.0
/* Records over TCP, however they are cut */
#include "connection.h"

#include "calls.h"
#include "test.h"

static struct bed bed;
static struct connection connection;

static void begin(void)
{
	bed_begin(&bed);
	memset(&connection, 0, sizeof connection);
	connection.program = &bed.programs[0];
	connection.caller = bed.caller;
}

/* A record of one call in fragments of `part` bytes */
static size_t record(uint8_t *bytes, size_t part)
{
	uint8_t message[256];
	struct xdr_out out = call_begin(message, sizeof message, 100000, 2, 0);
	size_t used = 0;

	for (size_t at = 0; at < out.used; at += part) {
		size_t length = out.used - at < part ? out.used - at : part;
		struct xdr_out head = { bytes + used, 4, 0, false };

		xdr_put_u32(&head, (uint32_t)length | (at + length == out.used ? 0x80000000u : 0));
		memcpy(bytes + used + 4, message + at, length);
		used += 4 + length;
	}
	return used;
}

static void however_it_is_cut_it_is_one_call(void)
{
	uint8_t bytes[1024];

	for (size_t part = 1; part < 70; part += 3)
		for (size_t step = 1; step < 40; step += 7) {
			size_t length = record(bytes, part), at = 0;

			begin();
			while (at < length && !connection.reply_used) {
				size_t given = length - at < step ? length - at : step;
				long taken = connection_take(&connection, bytes + at, given);

				CHECK(taken > 0);
				at += (size_t)taken;
			}
			CHECK_EQUAL(length, at);
			CHECK_EQUAL(4 + 24, connection.reply_used);
			CHECK_EQUAL(0x80, connection.reply[0]);
		}
}

static void a_second_call_waits_for_the_first_reply(void)
{
	uint8_t bytes[1024];
	size_t length = record(bytes, 1000);

	begin();
	record(bytes + length, 1000);
	CHECK_EQUAL(length, connection_take(&connection, bytes, 2 * length));
	CHECK_EQUAL(0, connection_take(&connection, bytes + length, length));
	connection.reply_used = 0;
	CHECK_EQUAL(length, connection_take(&connection, bytes + length, length));
}

static void too_long_a_record_closes(void)
{
	static const uint8_t huge[] = { 0x7f, 0xff, 0xff, 0xff }, nothing[] = { 0, 0, 0, 0 };
	uint8_t fragment[4 + 1024] = { 0, 0, 4, 0 };

	begin();
	CHECK(connection_take(&connection, huge, sizeof huge) < 0);
	begin();
	CHECK(connection_take(&connection, nothing, sizeof nothing) < 0);
	begin();
	CHECK_EQUAL(sizeof fragment, connection_take(&connection, fragment, sizeof fragment));
	CHECK_EQUAL(sizeof fragment, connection_take(&connection, fragment, sizeof fragment));
	CHECK(connection_take(&connection, fragment, sizeof fragment) < 0);
}

const struct test connection_tests[] = {
	TEST(however_it_is_cut_it_is_one_call),
	TEST(a_second_call_waits_for_the_first_reply),
	TEST(too_long_a_record_closes),
	END_OF_TESTS,
};
