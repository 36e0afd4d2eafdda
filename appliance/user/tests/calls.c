// SPDX-License-Identifier: Apache-2.0
/* Calls for tests, and doubles of what is behind the programs */
#include "calls.h"

#include "test.h"

unsigned bed_told;

static enum mount_status handle(const struct export_rule *rule, uint32_t address, const char *path, size_t most,
				uint8_t *bytes, size_t *length)
{
	(void)address;
	if (strstr(path, "missing"))
		return MOUNT_NO_ENTRY;
	*length = most < 28 ? most : 28;
	memset(bytes, (int)rule->fsid, *length);
	return MOUNT_OK;
}

static void tell(void *context, uint32_t program, uint32_t version, const uint8_t *message, size_t length)
{
	(void)context;
	CHECK_EQUAL(100021, program);
	CHECK_EQUAL(4, version);
	CHECK(length >= 40 + 4 + 16 && message);
	bed_told++;
}

void bed_begin(struct bed *bed)
{
	memset(bed, 0, sizeof *bed);
	bed_told = 0;
	exports_add(&bed->exports, "/data 7 4 65534 65534 10.0.2.0/24");
	exports_add(&bed->exports, "/open 8 6 65534 65534 10.0.2.0/24");
	exports_add(&bed->exports, "/theirs 9 6 65534 65534 10.0.3.0/24");
	bed->mounts.exports = &bed->exports;
	bed->mounts.handle_of = handle;
	bed->statd.tell = tell;
	bed->programs[0] = (struct rpc_program) { PORTMAP_PROGRAM, 2, 2, portmap_procedure, &bed->map };
	bed->programs[1] = (struct rpc_program) { MOUNT_PROGRAM, 1, 3, mount_procedure, &bed->mounts };
	bed->programs[2] = (struct rpc_program) { STATD_PROGRAM, 1, 1, statd_procedure, &bed->statd };
	bed->caller = (struct rpc_caller) { 0x0a000202, 700, false };
}

struct xdr_out call_begin(uint8_t *message, size_t size, uint32_t program, uint32_t version, uint32_t procedure)
{
	static const uint8_t credential[] = { 0, 0, 0, 0, 0, 0, 0, 1, 'c', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	struct xdr_out out = { message, size, 0, false };

	xdr_put_u32(&out, 0x1234);
	xdr_put_u32(&out, 0);
	xdr_put_u32(&out, 2);
	xdr_put_u32(&out, program);
	xdr_put_u32(&out, version);
	xdr_put_u32(&out, procedure);
	xdr_put_u32(&out, 1);
	xdr_put_opaque(&out, credential, sizeof credential);
	xdr_put_u32(&out, 0);
	xdr_put_u32(&out, 0);
	return out;
}

struct xdr_in call(struct bed *bed, const struct xdr_out *message, uint32_t *result)
{
	struct xdr_in in = { bed->reply, 0, 0, false };

	CHECK(!message->full);
	bed->reply_length = rpc_reply(bed->programs, 3, &bed->caller, message->bytes, message->used, bed->reply,
				      sizeof bed->reply);
	in.size = bed->reply_length;
	*result = 99;
	if (!in.size)
		return in;
	CHECK_EQUAL(0x1234, xdr_get_u32(&in));
	CHECK_EQUAL(1, xdr_get_u32(&in));
	CHECK_EQUAL(0, xdr_get_u32(&in));
	CHECK_EQUAL(0, xdr_get_u32(&in));
	CHECK_EQUAL(0, xdr_get_u32(&in));
	*result = xdr_get_u32(&in);
	CHECK(!in.bad);
	return in;
}
