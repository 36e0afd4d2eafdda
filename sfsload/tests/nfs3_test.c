// SPDX-License-Identifier: Apache-2.0
/* NFS version 3 by its bytes (RFC 1813, 2.6 and 3.3) */
#include "nfs.h"
#include "test.h"

#define FH "00000005 0102030405000000 "
/* type, mode, nlink, uid, gid, size 3072, used, rdev, fsid, fileid, three times */
#define FATTR "00000001 000001a4 00000001 00000000 00000000 0000000000000c00 0000000000001000 0000000000000000 " \
	      "0000000000000001 000000000000002a 0000000100000002 0000000300000004 0000000500000006 "
#define POST "00000001 " FATTR
#define NONE "00000000 "
#define WCC "00000001 0000000000000c00 0000000100000002 0000000300000004 " POST
#define VERIFIER "1122334455667788 "

static const struct handle fh = { .length = 5, .bytes = { 1, 2, 3, 4, 5 } };

static void check_put(const char *expected, const struct nfs_request *request)
{
	uint8_t bytes[512];
	struct xdr_out out = { .bytes = bytes, .size = sizeof(bytes) };

	nfs3.put(&out, request);
	CHECK(!out.full);
	check_bytes(expected, bytes, out.used);
}

static void test_requests(void)
{
	static const enum op plain[] = { OP_GETATTR, OP_READLINK, OP_FSSTAT, OP_FSINFO };

	for (size_t i = 0; i < COUNT_OF(plain); i++)
		check_put(FH, &(struct nfs_request) { .op = plain[i], .object = &fh });
	check_put(FH "00000003 61626300", &(struct nfs_request) { .op = OP_LOOKUP, .object = &fh, .name = "abc" });
	check_put(FH "00000003 61626300", &(struct nfs_request) { .op = OP_REMOVE, .object = &fh, .name = "abc" });
	check_put(FH "00000005", &(struct nfs_request) { .op = OP_ACCESS, .object = &fh });
	check_put(FH "0000000100000000 00000400",
		  &(struct nfs_request) { .op = OP_READ, .object = &fh, .offset = UINT64_C(1) << 32, .length = 1024 });
	check_put(FH "0000000000000400 00000005 00000000 00000005 68656c6c 6f000000",
		  &(struct nfs_request) { .op = OP_WRITE, .object = &fh, .offset = 1024, .length = 5,
					  .data = (const uint8_t *)"hello" });
	check_put(FH "0000000000000000 00000001 00000002 00000001 68000000",
		  &(struct nfs_request) { .op = OP_WRITE, .object = &fh, .length = 1, .stable = true,
					  .data = (const uint8_t *)"h" });
	check_put(FH "0000000000000000 00000000", &(struct nfs_request) { .op = OP_COMMIT, .object = &fh });
	check_put(FH "0000000000000000 0000000000000000 00002000",
		  &(struct nfs_request) { .op = OP_READDIR, .object = &fh });
	check_put(FH "0000000000000000 0000000000000000 00002000 00002000",
		  &(struct nfs_request) { .op = OP_READDIRPLUS, .object = &fh });
}

static void test_requests_with_attributes(void)
{
	check_put(FH "00000001 000001a4 00000000 00000000 00000000 00000000 00000000 00000000",
		  &(struct nfs_request) { .op = OP_SETATTR, .object = &fh, .mode = 0644 });
	check_put(FH "00000000 00000000 00000000 00000001 0000000000000c00 00000000 00000000 00000000",
		  &(struct nfs_request) { .op = OP_SETATTR, .object = &fh, .set_size = true, .size = 3072 });
	check_put(FH "00000001 61000000 00000000 00000001 000001a4 00000000 00000000 00000001 0000000000000000 "
		     "00000000 00000000",
		  &(struct nfs_request) { .op = OP_CREATE, .object = &fh, .name = "a", .mode = 0644 });
	check_put(FH "00000001 61000000 00000001 000001ed 00000000 00000000 00000000 00000000 00000000",
		  &(struct nfs_request) { .op = OP_MKDIR, .object = &fh, .name = "a", .mode = 0755 });
	check_put(FH "00000001 61000000 00000000 00000000 00000000 00000000 00000000 00000000 00000002 2e2e0000",
		  &(struct nfs_request) { .op = OP_SYMLINK, .object = &fh, .name = "a", .target = ".." });
}

static bool get(const char *digits, enum op op, struct nfs_answer *answer)
{
	static uint8_t bytes[2048];
	struct xdr_in in = { .bytes = bytes, .size = bytes_of(digits, bytes) };

	return nfs3.get(&in, op, answer);
}

static void test_answers(void)
{
	struct nfs_answer answer;

	CHECK(get("00000000" FH POST NONE, OP_LOOKUP, &answer));
	CHECK(answer.handle.length == 5 && !memcmp(answer.handle.bytes, fh.bytes, 5));
	CHECK(answer.has_attributes && answer.type == NFS_FILE && answer.size == 3072);
	CHECK(get("00000000" FATTR, OP_GETATTR, &answer) && answer.size == 3072);
	CHECK(get("00000000" WCC, OP_SETATTR, &answer) && answer.size == 3072);
	CHECK(get("00000000" POST "00000001", OP_ACCESS, &answer) && answer.access == 1);
	CHECK(get("00000000" NONE "00000002 2e2e0000", OP_READLINK, &answer) && answer.count == 2);
	CHECK(get("00000000" POST "00000005 00000001 00000005 68656c6c 6f000000", OP_READ, &answer));
	CHECK(answer.count == 5 && answer.end && !memcmp(answer.data, "hello", 5));
	CHECK(get("00000000" WCC "00000400 00000002" VERIFIER, OP_WRITE, &answer));
	CHECK(answer.count == 1024 && answer.has_verifier && answer.verifier == UINT64_C(0x1122334455667788));
	CHECK(get("00000000" NONE NONE VERIFIER, OP_COMMIT, &answer) && answer.has_verifier);
	CHECK(get("00000000 00000001" FH POST WCC, OP_CREATE, &answer) && answer.handle.length == 5);
	CHECK(get("00000000" NONE NONE NONE NONE, OP_MKDIR, &answer) && !answer.handle.length);
	CHECK(get("00000000" WCC, OP_REMOVE, &answer) && !answer.has_attributes);
	CHECK(get("00000000" POST "0000000000000001 0000000000000002 0000000000000003 0000000000000004 "
		  "0000000000000005 0000000000000006 00000000", OP_FSSTAT, &answer));
	CHECK(get("00000000" NONE "00010000 00020000 00001000 00030000 00040000 00001000 00002000 0000010000000000 "
		  "0000000000000001 0000001b", OP_FSINFO, &answer));
	CHECK(answer.read_max == 0x10000 && answer.write_max == 0x30000);
}

static void test_directories(void)
{
	struct nfs_answer answer;

	CHECK(get("00000000" POST VERIFIER "00000001 000000000000002a 00000001 61000000 0000000000000001 00000000 "
		  "00000001", OP_READDIR, &answer));
	CHECK(answer.count == 1 && answer.end);
	CHECK(get("00000000" POST VERIFIER "00000001 000000000000002a 00000001 61000000 0000000000000001" POST
		  "00000001" FH "00000001 000000000000002b 00000001 62000000 0000000000000002" NONE NONE
		  "00000000 00000000",
		  OP_READDIRPLUS, &answer));
	CHECK(answer.count == 2 && !answer.end);
}

static void test_what_failed_has_attributes_behind_its_status(void)
{
	static const struct {
		enum op op;
		const char *digits;
	} failed[] = {
		{ OP_GETATTR, "00000046" },		  { OP_LOOKUP, "00000046" POST },
		{ OP_SETATTR, "00000046" WCC },		  { OP_ACCESS, "00000046" NONE },
		{ OP_READLINK, "00000046" POST },	  { OP_READ, "00000046" NONE },
		{ OP_WRITE, "00000046" NONE NONE },	  { OP_CREATE, "00000046" WCC },
		{ OP_MKDIR, "00000046" WCC },		  { OP_SYMLINK, "00000046" NONE NONE },
		{ OP_REMOVE, "00000046" WCC },		  { OP_READDIR, "00000046" NONE },
		{ OP_READDIRPLUS, "00000046" NONE },	  { OP_FSSTAT, "00000046" POST },
		{ OP_FSINFO, "00000046" NONE },		  { OP_COMMIT, "00000046" WCC },
	};
	struct nfs_answer answer;

	CHECK_EQUAL(OPS, COUNT_OF(failed));
	for (size_t i = 0; i < COUNT_OF(failed); i++) {
		CHECKF(get(failed[i].digits, failed[i].op, &answer), "%s", op_name(failed[i].op));
		CHECK_EQUAL(70, answer.status);
	}
	CHECK(!strcmp(nfs_status_name(70), "stale"));
	CHECK(!strcmp(nfs_status_name(4711), "status-4711"));
}

static void test_answers_that_are_none(void)
{
	struct nfs_answer answer;

	CHECK(!get("000000", OP_GETATTR, &answer));
	CHECK(!get("00000000" FH POST, OP_LOOKUP, &answer));
	CHECK(!get("00000000" FH POST NONE NONE, OP_LOOKUP, &answer));
	/* The count and the data differ */
	CHECK(!get("00000000" POST "00000004 00000001 00000005 68656c6c 6f000000", OP_READ, &answer));
	CHECK(!get("00000000 00000041 01", OP_LOOKUP, &answer)); /* a handle of 65 bytes */
	CHECK(!get("00000000 00000002", OP_READLINK, &answer)); /* a truth that is neither */
}

const struct test nfs3_tests[] = {
	TEST(test_requests),
	TEST(test_requests_with_attributes),
	TEST(test_answers),
	TEST(test_directories),
	TEST(test_what_failed_has_attributes_behind_its_status),
	TEST(test_answers_that_are_none),
	END_OF_TESTS,
};
