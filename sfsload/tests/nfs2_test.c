// SPDX-License-Identifier: Apache-2.0
/* NFS version 2 by its bytes (RFC 1094, 2.2 and 2.3) */
#include "nfs.h"
#include "test.h"

#define FH "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f "
/* type, mode, nlink, uid, gid, size 3072, blocksize, rdev, blocks, fsid, fileid, three times of two words */
#define FATTR "00000001 000081a4 00000001 00000000 00000000 00000c00 00001000 00000000 00000006 00000001 0000002a " \
	      "00000001 00000002 00000003 00000004 00000005 00000006 "
#define STAYS "ffffffff ffffffff ffffffff ffffffff "

static struct handle handle(void)
{
	struct handle made = { .length = 32 };

	for (uint8_t i = 0; i < 32; i++)
		made.bytes[i] = i;
	return made;
}

static void check_put(const char *expected, const struct nfs_request *request)
{
	uint8_t bytes[512];
	struct xdr_out out = { .bytes = bytes, .size = sizeof(bytes) };

	nfs2.put(&out, request);
	CHECK(!out.full);
	check_bytes(expected, bytes, out.used);
}

static void test_requests(void)
{
	const struct handle fh = handle();

	check_put(FH, &(struct nfs_request) { .op = OP_GETATTR, .object = &fh });
	check_put(FH, &(struct nfs_request) { .op = OP_READLINK, .object = &fh });
	check_put(FH, &(struct nfs_request) { .op = OP_FSSTAT, .object = &fh });
	check_put(FH "00000003 61626300", &(struct nfs_request) { .op = OP_LOOKUP, .object = &fh, .name = "abc" });
	check_put(FH "00000003 61626300", &(struct nfs_request) { .op = OP_REMOVE, .object = &fh, .name = "abc" });
	check_put(FH "00002000 00000400 00000000",
		  &(struct nfs_request) { .op = OP_READ, .object = &fh, .offset = 8192, .length = 1024 });
	check_put(FH "00000000 00000400 00000000 00000005 68656c6c 6f000000",
		  &(struct nfs_request) { .op = OP_WRITE, .object = &fh, .offset = 1024, .length = 5,
					  .data = (const uint8_t *)"hello" });
	check_put(FH "00000000 00002000", &(struct nfs_request) { .op = OP_READDIR, .object = &fh });
	check_put(FH "000001a4 ffffffff ffffffff ffffffff " STAYS,
		  &(struct nfs_request) { .op = OP_SETATTR, .object = &fh, .mode = 0644 });
	check_put(FH "ffffffff ffffffff ffffffff 00000c00 " STAYS,
		  &(struct nfs_request) { .op = OP_SETATTR, .object = &fh, .set_size = true, .size = 3072 });
	check_put(FH "00000001 61000000 000001a4 ffffffff ffffffff 00000000 " STAYS,
		  &(struct nfs_request) { .op = OP_CREATE, .object = &fh, .name = "a", .mode = 0644 });
	check_put(FH "00000001 61000000 000001ed ffffffff ffffffff ffffffff " STAYS,
		  &(struct nfs_request) { .op = OP_MKDIR, .object = &fh, .name = "a", .mode = 0755 });
	check_put(FH "00000001 61000000 00000002 2e2e0000 ffffffff ffffffff ffffffff ffffffff " STAYS,
		  &(struct nfs_request) { .op = OP_SYMLINK, .object = &fh, .name = "a", .target = ".." });
}

static bool get(const char *digits, enum op op, struct nfs_answer *answer)
{
	static uint8_t bytes[1024];
	struct xdr_in in = { .bytes = bytes, .size = bytes_of(digits, bytes) };

	return nfs2.get(&in, op, answer);
}

static void test_answers(void)
{
	const struct handle fh = handle();
	struct nfs_answer answer;

	CHECK(get("00000000" FH FATTR, OP_LOOKUP, &answer));
	CHECK(answer.handle.length == 32 && !memcmp(answer.handle.bytes, fh.bytes, 32));
	CHECK_EQUAL(NFS_FILE, answer.type);
	CHECK_EQUAL(3072, answer.size);
	CHECK(get("00000002", OP_LOOKUP, &answer));
	CHECK_EQUAL(NFS_NO_ENTRY, answer.status);
	CHECK(get("00000000" FATTR, OP_GETATTR, &answer) && answer.has_attributes);
	CHECK(get("00000000" FATTR, OP_WRITE, &answer));
	CHECK(get("00000000" FATTR "00000005 68656c6c 6f000000", OP_READ, &answer));
	CHECK(answer.count == 5 && !memcmp(answer.data, "hello", 5));
	CHECK(get("00000000 00000003 2e2e2f00", OP_READLINK, &answer));
	CHECK(answer.count == 3 && !memcmp(answer.data, "../", 3));
	CHECK(get("00000000", OP_REMOVE, &answer));
	CHECK(get("00000000" FH FATTR, OP_CREATE, &answer) && answer.handle.length == 32);
	CHECK(get("00000000 00002000 00001000 00000003 00000002 00000001", OP_FSSTAT, &answer));
	CHECK(get("00000000 00000001 0000002a 00000001 61000000 00000001 00000001 0000002b 00000002 62620000 00000002 "
		  "00000000 00000001", OP_READDIR, &answer));
	CHECK_EQUAL(2, answer.count);
	CHECK(answer.end);
}

static void test_answers_that_are_none(void)
{
	struct nfs_answer answer;

	CHECK(!get("", OP_GETATTR, &answer));
	CHECK(!get("00000000", OP_GETATTR, &answer));
	CHECK(!get("00000000" FATTR "00000000", OP_GETATTR, &answer)); /* something behind its end */
	CHECK(!get("00000000" FATTR "00002001", OP_READ, &answer)); /* more than was asked for */
	CHECK(!get("00000000" FH, OP_LOOKUP, &answer));
	CHECK(!get("00000000 00000001 0000002a", OP_READDIR, &answer));
}

static void test_version_2_lacks_four_operations(void)
{
	for (int op = 0; op < OPS; op++)
		CHECKF((nfs2.procedures[op] < 0) ==
			       (op == OP_READDIRPLUS || op == OP_ACCESS || op == OP_COMMIT || op == OP_FSINFO),
		       "%s", op_name((enum op)op));
}

const struct test nfs2_tests[] = {
	TEST(test_requests),
	TEST(test_answers),
	TEST(test_answers_that_are_none),
	TEST(test_version_2_lacks_four_operations),
	END_OF_TESTS,
};
