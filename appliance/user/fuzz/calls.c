// SPDX-License-Identifier: Apache-2.0
/* See calls.h. Nothing but the sanitizers judges. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

#include "caches.h"
#include "connection.h"
#include "dhcp_message.h"
#include "mount.h"
#include "portmap.h"
#include "statd.h"

enum { CALL_SIZE = 1400, RECORDS = 3 };

static enum mount_status handle(const struct export_rule *rule, uint32_t address, const char *path, size_t most,
				uint8_t *bytes, size_t *length)
{
	(void)rule;
	(void)address;
	*length = number((uint32_t)most + 1);
	memset(bytes, 1, *length);
	return path[1] == 'd' ? MOUNT_OK : MOUNT_NO_ENTRY;
}

static volatile size_t told;

/* Reads what it is to send, so that a sanitizer sees where it ends */
static void tell(void *context, uint32_t program, uint32_t version, const uint8_t *message, size_t length)
{
	(void)context;
	(void)program;
	(void)version;
	for (size_t i = 0; i < length; i++)
		told += message[i];
}

static struct exports exports;
static struct portmap map;
static struct mount mounts;
static struct statd statd;
static struct connection connection;
static const struct rpc_program programs[] = {
	{ PORTMAP_PROGRAM, 2, 2, portmap_procedure, &map },
	{ MOUNT_PROGRAM, 1, 3, mount_procedure, &mounts },
	{ STATD_PROGRAM, 1, 1, statd_procedure, &statd },
};

static const char *const paths[] = { "/data", "/data/..", "/", "", "/data/a/b/", "10.0.2.2", "/data//./x", "nas" };

/* A call with arguments that may be those of any procedure */
static size_t make_call(uint8_t *message, uint32_t program, uint32_t highest)
{
	struct xdr_out out = { message, CALL_SIZE, 0, false };
	uint32_t head[] = { number(1000), 0, 2, program, 1 + number(highest), number(8), number(2), 0, 0, 0 };

	for (size_t i = 0; i < sizeof head / sizeof *head; i++)
		xdr_put_u32(&out, head[i]);
	for (uint32_t left = number(5); left; left--) {
		if (number(2))
			xdr_put_string(&out, paths[number(sizeof paths / sizeof *paths)]);
		else
			xdr_put_u32(&out, number(2) ? number(70000) : number(4));
	}
	if (!number(3))
		xdr_put_fixed(&out, "0123456789abcdef", 16);
	return out.used;
}

static size_t change(uint8_t *bytes, size_t length)
{
	for (uint32_t left = number(4); left && length; left--) {
		uint8_t *at = bytes + number((uint32_t)length);

		switch (number(4)) {
		case 0:
			*at = (uint8_t)number(256);
			break;
		case 1:
			*at ^= (uint8_t)(1 << number(8));
			break;
		case 2:
			length = (size_t)(at - bytes);
			break;
		default:
			*at = number(2) ? 0xff : 0x00;
		}
	}
	return length;
}

/* As many bytes as it says, of any value. Gives back how many. */
static size_t draw_bytes(uint8_t *bytes, size_t most)
{
	size_t length = number((uint32_t)most + 1);

	for (size_t i = 0; i < length; i++)
		bytes[i] = (uint8_t)number(256);
	return length;
}

/* A call, perhaps damaged, or bytes that are none */
static size_t draw_message(uint8_t *message, const struct rpc_program *program)
{
	if (!number(8))
		return draw_bytes(message, CALL_SIZE);
	return change(message, make_call(message, program->number, program->highest));
}

/* In memory of its very size, so that a read beyond it is seen; to be freed */
static uint8_t *exactly(const uint8_t *bytes, size_t length)
{
	uint8_t *exact = malloc(length + !length);

	return memcpy(exact, bytes, length);
}

static long take(const uint8_t *bytes, size_t length)
{
	uint8_t *exact = exactly(bytes, length);
	long taken = connection_take(&connection, exact, length);

	free(exact);
	connection.reply_used = 0; /* it was sent */
	return taken;
}

static void some_records(const struct rpc_program *program, const struct rpc_caller *caller)
{
	uint8_t bytes[RECORDS * (4 + CALL_SIZE)];
	size_t length = 0, at = 0;

	for (uint32_t left = 1 + number(RECORDS); left; left--) {
		struct xdr_out head = { bytes + length, 4, 0, false };
		size_t size = draw_message(bytes + length + 4, program);

		xdr_put_u32(&head, (uint32_t)size | (number(4) ? 0x80000000u : 0));
		length += change(bytes + length, 4) + size;
	}
	memset(&connection, 0, sizeof connection);
	connection.program = program;
	connection.caller = *caller;
	while (at < length) {
		long taken = take(bytes + at, 1 + number((uint32_t)(length - at)));

		if (taken < 0)
			break;
		at += (size_t)taken;
	}
}

static void one_datagram(const struct rpc_program *program, const struct rpc_caller *caller)
{
	uint8_t made[CALL_SIZE], reply[RPC_REPLY_MOST];
	size_t length = draw_message(made, program);
	uint8_t *exact = exactly(made, length);

	rpc_reply(program, 1, caller, exact, length, reply, sizeof reply);
	free(exact);
}

static void one_line(void)
{
	static const char *const lines[] = { "nfsd 10.0.2.2\n", "10.0.2.2 /data\n", "10.0.2.2 1 \\x07000000\n",
					     "10.0.2.2 /\n", "10.0.2.2 1 \\x00000000\n",
					     "/data 7 6 0 0 10.0.0.0/8" };
	char line[64], answer[CACHE_LINE];
	struct exports some = { .count = 0 };
	size_t length;

	memset(line, 0, sizeof line);
	if (number(2)) {
		strcpy(line, lines[number(sizeof lines / sizeof *lines)]);
		length = change((uint8_t *)line, strlen(line));
	} else {
		length = draw_bytes((uint8_t *)line, sizeof line - 1);
	}
	line[length] = '\0';
	cache_answer((enum cache)number(CACHES), &exports, line, answer, number(2) ? sizeof answer : 8);
	exports_add(&some, line);
}

static void one_lease(void)
{
	uint8_t made[DHCP_LONGEST] = { 2, 1, 6 }, hardware[6] = { 0 };
	size_t length = 236 + number(2) * 4;
	struct dhcp_lease lease;
	uint8_t *exact;

	memcpy(made + 236, "\x63\x82\x53\x63", 4);
	length += draw_bytes(made + length, 64);
	length = change(made, length);
	exact = exactly(made, length);
	dhcp_answer(exact, length, 0, hardware, &lease);
	free(exact);
}

void calls_start(void)
{
	exports = (struct exports) { .version_4 = true };
	exports_add(&exports, "/data 7 6 65534 65534 10.0.0.0/8");
	map = (struct portmap) { .count = 0 };
	mounts = (struct mount) { .exports = &exports, .handle_of = handle };
	statd = (struct statd) { .tell = tell };
}

void calls_one(void)
{
	const struct rpc_program *program = &programs[number(3)];
	struct rpc_caller caller = { number(2) ? 0x7f000001 : 0x0a000202, (uint16_t)number(65536), false };

	switch (number(4)) {
	case 0:
		some_records(program, &caller);
		break;
	case 1:
		one_datagram(program, &caller);
		break;
	case 2:
		one_line();
		break;
	default:
		one_lease();
	}
}
