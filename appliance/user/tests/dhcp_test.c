// SPDX-License-Identifier: Apache-2.0
/* Messages of DHCP: offers, and what is none */
#include "dhcp_message.h"

#include "test.h"

static const uint8_t hardware[6] = { 0x52, 0x54, 0, 0x12, 0x34, 0x56 };
static const uint8_t options[] = { 99, 130, 83, 99, 53, 1, 2, 1, 4, 255, 255, 255, 0, 0, 3, 4, 10, 0, 2, 2,
				   51, 4,   0,	1,  81, 128, 54, 4, 10, 0, 2, 2, 255 };

static size_t offer(uint8_t *message)
{
	memset(message, 0, 236);
	message[0] = 2;
	memcpy(message + 4, "\0\0\0\x07", 4);
	memcpy(message + 16, "\x0a\0\x02\x0f", 4);
	memcpy(message + 28, hardware, 6);
	memcpy(message + 236, options, sizeof options);
	return 236 + sizeof options;
}

static void an_offer_is_read(void)
{
	uint8_t message[400];
	struct dhcp_lease lease;

	CHECK_EQUAL(DHCP_OFFER, dhcp_answer(message, offer(message), 7, hardware, &lease));
	CHECK_EQUAL(0x0a00020f, lease.address);
	CHECK_EQUAL(0xffffff00, lease.mask);
	CHECK_EQUAL(0x0a000202, lease.gateway);
	CHECK_EQUAL(0x0a000202, lease.server);
	CHECK_EQUAL(86400, lease.seconds);
}

static void others_answers_and_halves_are_left(void)
{
	uint8_t message[400], other[6] = { 1 };
	struct dhcp_lease lease;
	size_t length = offer(message);

	CHECK(!dhcp_answer(message, length, 8, hardware, &lease));
	CHECK(!dhcp_answer(message, length, 7, other, &lease));
	for (size_t cut = 0; cut < 240; cut++)
		CHECK(!dhcp_answer(message, cut, 7, hardware, &lease));
	for (size_t cut = 240; cut < length; cut++)
		dhcp_answer(message, cut, 7, hardware, &lease); /* the sanitizer looks */
	message[241] = 200; /* an option that goes beyond the end */
	CHECK(!dhcp_answer(message, length, 7, hardware, &lease));
}

static void a_request_names_what_it_wants(void)
{
	struct dhcp_lease lease = { .address = 0x0a00020f, .server = 0x0a000202 };
	uint8_t message[DHCP_SHORTEST];

	CHECK_EQUAL(DHCP_SHORTEST, dhcp_ask(message, DHCP_REQUEST, 7, hardware, &lease, false));
	CHECK_EQUAL(1, message[0]);
	CHECK(!memcmp(message + 240, "\x35\x01\x03\x32\x04\x0a\x00\x02\x0f\x36\x04\x0a\x00\x02\x02", 15));
}

/* RFC 2131, 4.3.2: the client's address is filled in; neither a server nor a wanted address may be */
static void who_holds_an_address_asks_to_keep_it(void)
{
	struct dhcp_lease lease = { .address = 0x0a00020f, .server = 0x0a000202 };
	uint8_t message[DHCP_SHORTEST];

	CHECK_EQUAL(DHCP_SHORTEST, dhcp_ask(message, DHCP_REQUEST, 7, hardware, &lease, true));
	CHECK(!memcmp(message + 10, "\0\0\x0a\x00\x02\x0f", 6));
	CHECK(!memcmp(message + 240, "\x35\x01\x03\x37", 4)); /* the kind, then the list of what is asked */
}

const struct test dhcp_tests[] = {
	TEST(an_offer_is_read),
	TEST(others_answers_and_halves_are_left),
	TEST(a_request_names_what_it_wants),
	TEST(who_holds_an_address_asks_to_keep_it),
	END_OF_TESTS,
};
