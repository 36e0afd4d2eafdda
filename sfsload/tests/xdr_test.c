// SPDX-License-Identifier: Apache-2.0
/* XDR by its bytes: the examples are those of RFC 4506, section 4 */
#include "test.h"
#include "xdr.h"

static void test_numbers_and_opaque_data(void)
{
	uint8_t bytes[64];
	struct xdr_out out = { .bytes = bytes, .size = sizeof(bytes) };

	xdr_put_u32(&out, 0x01020304);
	xdr_put_u64(&out, UINT64_C(0x1122334455667788));
	xdr_put_string(&out, "sillyprog");
	xdr_put_fixed(&out, "abcde", 5);
	xdr_put_opaque(&out, "", 0);
	CHECK(!out.full);
	check_bytes("01020304 11223344 55667788 00000009 73696c6c 7970726f 67000000 61626364 65000000 00000000", bytes,
		    out.used);
}

static void test_what_does_not_fit_is_not_written(void)
{
	uint8_t bytes[8] = { 0 };
	struct xdr_out out = { .bytes = bytes, .size = 6 };

	xdr_put_u32(&out, 1);
	CHECK(!out.full);
	xdr_put_u32(&out, 0xffffffff);
	CHECK(out.full);
	CHECK_EQUAL(4, out.used);
	xdr_put_fixed(&out, "", 0);
	CHECK_EQUAL(4, out.used);
	CHECK_EQUAL(0, bytes[4]);
}

static void test_reading_back(void)
{
	uint8_t bytes[64];
	struct xdr_in in = { .bytes = bytes, .size = bytes_of("00000005 68656c6c 6f000000 00000001 0000000100000002",
							      bytes) };
	uint32_t length;
	const uint8_t *text = xdr_get_opaque(&in, 5, &length);

	CHECK_EQUAL(5, length);
	CHECK(text && !memcmp(text, "hello", 5));
	CHECK(xdr_get_bool(&in));
	CHECK_EQUAL(UINT64_C(0x0000000100000002), xdr_get_u64(&in));
	CHECK(!in.bad);
	CHECK_EQUAL(in.size, in.used);
	CHECK_EQUAL(0, xdr_get_u32(&in));
	CHECK(in.bad);
}

static void test_bad_messages(void)
{
	static const struct {
		const char *digits;
		size_t max;
	} opaques[] = {
		{ "0000000568656c6c6f", 100 }, /* the padding is missing */
		{ "ffffffff00000000", 100000 }, /* longer than the message */
		{ "0000000568656c6c6f000000", 4 }, /* longer than allowed */
		{ "000000", 4 }, /* no length */
	};
	uint8_t bytes[64];
	uint32_t length;

	for (size_t i = 0; i < COUNT_OF(opaques); i++) {
		struct xdr_in in = { .bytes = bytes, .size = bytes_of(opaques[i].digits, bytes) };

		CHECK(!xdr_get_opaque(&in, opaques[i].max, &length));
		CHECK(in.bad);
		CHECK_EQUAL(0, length);
	}
	struct xdr_in in = { .bytes = bytes, .size = bytes_of("00000002", bytes) };

	CHECK(!xdr_get_bool(&in));
	CHECK(in.bad);
}

const struct test xdr_tests[] = {
	TEST(test_numbers_and_opaque_data),
	TEST(test_what_does_not_fit_is_not_written),
	TEST(test_reading_back),
	TEST(test_bad_messages),
	END_OF_TESTS,
};
