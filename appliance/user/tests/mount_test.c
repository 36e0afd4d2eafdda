// SPDX-License-Identifier: Apache-2.0
/* The mount protocol: handles for those who may, and for nobody else */
#include "calls.h"
#include "test.h"

static struct bed bed;

static struct xdr_in ask(uint32_t version, uint32_t procedure, const char *path)
{
	static uint8_t message[2048];
	struct xdr_out out = call_begin(message, sizeof message, 100005, version, procedure);
	struct xdr_in in;
	uint32_t result;

	if (path)
		xdr_put_string(&out, path);
	in = call(&bed, &out, &result);
	CHECK_EQUAL(RPC_SUCCESS, result);
	return in;
}

static uint32_t status(uint32_t version, const char *path)
{
	struct xdr_in in = ask(version, 1, path);

	return xdr_get_u32(&in);
}

static void version_3_gives_a_handle(void)
{
	uint32_t length;
	struct xdr_in in;

	bed_begin(&bed);
	in = ask(3, 1, "/data/");
	CHECK_EQUAL(0, xdr_get_u32(&in));
	CHECK_EQUAL(7, xdr_get_opaque(&in, 64, &length)[0]);
	CHECK_EQUAL(28, length);
	CHECK_EQUAL(2, xdr_get_u32(&in));
	CHECK_EQUAL(1, xdr_get_u32(&in));
	CHECK_EQUAL(0, xdr_get_u32(&in));
	CHECK(!in.bad && in.used == in.size);
}

static void version_1_gives_32_bytes(void)
{
	struct xdr_in in;

	bed_begin(&bed);
	in = ask(1, 1, "/data");
	CHECK_EQUAL(0, xdr_get_u32(&in));
	CHECK_EQUAL(32, in.size - in.used);
}

static void others_get_no_handle(void)
{
	char longest[MOUNT_PATH + 1];

	bed_begin(&bed);
	memset(longest, 'a', sizeof longest - 1);
	memcpy(longest, "/data/", 6);
	longest[MOUNT_PATH] = '\0';
	CHECK_EQUAL(13, status(3, "/theirs"));
	CHECK_EQUAL(13, status(3, "/"));
	CHECK_EQUAL(13, status(3, ""));
	CHECK_EQUAL(13, status(3, "/etc"));
	CHECK_EQUAL(13, status(3, "/data/../etc"));
	CHECK_EQUAL(13, status(3, "/data/.."));
	CHECK_EQUAL(13, status(3, longest));
	CHECK_EQUAL(2, status(3, "/data/missing"));
	CHECK_EQUAL(0, status(3, "/data/folder"));
	bed.caller.address = 0x0a000402;
	CHECK_EQUAL(13, status(3, "/data"));
	CHECK_EQUAL(24 + 4, bed.reply_length);
}

static void an_ordinary_port_is_enough_where_it_is_said(void)
{
	bed_begin(&bed);
	bed.caller.port = 40000;
	CHECK_EQUAL(13, status(3, "/data"));
	CHECK_EQUAL(0, status(3, "/open"));
}

static void a_path_with_a_zero_is_garbage_or_refused(void)
{
	uint8_t message[256];
	struct xdr_out out = call_begin(message, sizeof message, 100005, 3, 1);
	struct xdr_in in;
	uint32_t result;

	bed_begin(&bed);
	xdr_put_opaque(&out, "/data\0/..", 9);
	in = call(&bed, &out, &result);
	CHECK_EQUAL(13, xdr_get_u32(&in));
}

static unsigned entries(uint32_t procedure)
{
	unsigned count = 0;
	struct xdr_in in;
	uint32_t length;

	bed.caller.tcp = true;
	in = ask(3, procedure, NULL);
	while (xdr_get_u32(&in)) {
		xdr_get_opaque(&in, 255, &length);
		if (procedure == 2) {
			xdr_get_opaque(&in, 1024, &length);
		} else {
			while (xdr_get_u32(&in))
				xdr_get_opaque(&in, 255, &length);
		}
		count++;
	}
	CHECK(!in.bad && in.used == in.size);
	return count;
}

static void exports_are_shown_to_whom_they_are_for(void)
{
	bed_begin(&bed);
	CHECK_EQUAL(2, entries(5));
	bed.caller.address = 0x0a000302;
	CHECK_EQUAL(1, entries(5));
	bed.caller.address = 0x0b000302;
	CHECK_EQUAL(0, entries(5));
}

static void lists_go_over_tcp_only(void)
{
	uint8_t message[512];
	uint32_t result;

	bed_begin(&bed);
	for (uint32_t procedure = 2; procedure < 6; procedure += 3) {
		struct xdr_out out = call_begin(message, sizeof message, 100005, 3, procedure);

		call(&bed, &out, &result);
		CHECK_EQUAL(RPC_PROCEDURE_UNAVAILABLE, result);
	}
}

static void all_exports_that_fit_are_shown(void)
{
	char line[EXPORT_PATH + 64], name[200];

	bed_begin(&bed);
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	for (int i = 0; i < 100; i++) {
		snprintf(line, sizeof line, "/%s%d %d 6 0 0 10.0.2.0/24", name, i, 100 + i);
		CHECK(!exports_add(&bed.exports, line));
	}
	CHECK(entries(5) > 20);
}

static void mounts_are_listed_until_they_are_over(void)
{
	char path[64];

	bed_begin(&bed);
	for (int i = 0; i < 2 * MOUNT_LISTED; i++) {
		snprintf(path, sizeof path, "/data/%d", i);
		CHECK_EQUAL(0, status(3, path));
		CHECK_EQUAL(0, status(3, path));
	}
	CHECK_EQUAL(MOUNT_LISTED, entries(2));
	ask(3, 3, path);
	CHECK_EQUAL(MOUNT_LISTED - 1, entries(2));
	bed.caller.address++;
	CHECK_EQUAL(0, entries(2));
	bed.caller.address--;
	ask(3, 4, NULL);
	CHECK_EQUAL(0, entries(2));
}

const struct test mount_tests[] = {
	TEST(version_3_gives_a_handle),
	TEST(version_1_gives_32_bytes),
	TEST(others_get_no_handle),
	TEST(an_ordinary_port_is_enough_where_it_is_said),
	TEST(a_path_with_a_zero_is_garbage_or_refused),
	TEST(exports_are_shown_to_whom_they_are_for),
	TEST(lists_go_over_tcp_only),
	TEST(all_exports_that_fit_are_shown),
	TEST(mounts_are_listed_until_they_are_over),
	END_OF_TESTS,
};
