// SPDX-License-Identifier: Apache-2.0
/* Runs all tests */
#include "test.h"

static int digit(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

size_t bytes_of(const char *digits, uint8_t *bytes)
{
	size_t length = 0;

	while (*digits) {
		if (*digits == ' ') {
			digits++;
			continue;
		}
		bytes[length++] = (uint8_t)(digit(digits[0]) << 4 | digit(digits[1]));
		digits += 2;
	}
	return length;
}

void check_bytes(const char *expected, const uint8_t *bytes, size_t length)
{
	uint8_t wanted[16384];
	size_t wanted_length = bytes_of(expected, wanted);

	CHECK_EQUAL(wanted_length, length);
	for (size_t i = 0; i < length; i++)
		CHECKF(wanted[i] == bytes[i], "byte %zu is %02x, not %02x", i, bytes[i], wanted[i]);
}

int main(void)
{
	return RUN_TESTS(xdr_tests, rpc_tests, nfs2_tests, nfs3_tests, random_tests, tables_tests, fileset_tests,
			 schedule_tests, histogram_tests, chi_square_tests, limit_tests, plain_tests, content_tests, result_tests,
			 channel_tests);
}
