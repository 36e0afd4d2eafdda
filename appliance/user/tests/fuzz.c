// SPDX-License-Identifier: Apache-2.0
/*
 * Calls of portmapper, mount protocol and status monitor, changed at random, over records cut at random. Nothing but
 * the sanitizers judges; each run's calls follow from its number, so that one can be had again:
 *	fuzz RUNS [FIRST]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caches.h"
#include "connection.h"
#include "dhcp_message.h"
#include "mount.h"
#include "portmap.h"
#include "statd.h"

enum { CALL_SIZE = 1400 };

static uint64_t state;

static uint32_t number(uint32_t below)
{
	uint64_t mixed = state += 0x9e3779b97f4a7c15;

	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
	return (uint32_t)((mixed ^ mixed >> 31) % below);
}

static enum mount_status handle(const struct export_rule *rule, uint32_t address, const char *path, size_t most,
				uint8_t *bytes, size_t *length)
{
	(void)rule;
	(void)address;
	*length = number((uint32_t)most + 1);
	memset(bytes, 1, *length);
	return path[1] == 'd' ? MOUNT_OK : MOUNT_NO_ENTRY;
}

static void tell(void *context, uint32_t program, uint32_t version, const uint8_t *message, size_t length)
{
	(void)context;
	(void)program;
	(void)version;
	if (!length || message[0] == message[length - 1])
		state++;
}

static struct exports exports;
static struct portmap map;
static struct mount mounts = { .exports = &exports, .handle_of = handle };
static struct statd statd = { .tell = tell };
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

static void one_connection(const struct rpc_program *program, const struct rpc_caller *caller)
{
	static struct connection connection;
	uint8_t *bytes = malloc(CALL_SIZE + 4);
	struct xdr_out head = { bytes, 4, 0, false };
	size_t length = make_call(bytes + 4, program->number, program->highest), at = 0;

	xdr_put_u32(&head, (uint32_t)length | 0x80000000u);
	length = change(bytes, length + 4);
	if (connection.reply_used || !number(50))
		memset(&connection, 0, sizeof connection);
	connection.program = program;
	connection.caller = *caller;
	while (at < length) {
		size_t part = 1 + number((uint32_t)(length - at));
		uint8_t *exact = malloc(part); /* what is read beyond is seen */
		long taken;

		memcpy(exact, bytes + at, part);
		taken = connection_take(&connection, exact, part);
		free(exact);
		connection.reply_used = 0;
		if (taken < 0) {
			memset(&connection, 0, sizeof connection);
			break;
		}
		at += (size_t)taken;
	}
	free(bytes);
}

static void one_datagram(const struct rpc_program *program, const struct rpc_caller *caller)
{
	uint8_t made[CALL_SIZE], reply[RPC_REPLY_MOST];
	size_t length = change(made, make_call(made, program->number, program->highest));
	uint8_t *exact = malloc(length + !length);

	memcpy(exact, made, length);
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
	strcpy(line, lines[number(sizeof lines / sizeof *lines)]);
	length = change((uint8_t *)line, strlen(line));
	line[length] = '\0';
	cache_answer((enum cache)number(CACHES), &exports, line, answer, number(2) ? sizeof answer : 8);
	exports_add(&some, line);
}

static void one_lease(void)
{
	uint8_t made[300] = { 2, 1, 6 }, hardware[6] = { 0 };
	struct dhcp_lease lease;
	size_t length;
	uint8_t *exact;

	memcpy(made + 236, "\x63\x82\x53\x63", 4);
	for (size_t i = 240; i < sizeof made; i++)
		made[i] = (uint8_t)(number(3) ? number(8) : number(256));
	length = 236 + number(65);
	exact = malloc(length);
	memcpy(exact, made, length);
	dhcp_answer(exact, length, 0, hardware, &lease);
	free(exact);
}

int main(int count, char **arguments)
{
	unsigned long runs = count > 1 ? strtoul(arguments[1], NULL, 10) : 1000;
	unsigned long first = count > 2 ? strtoul(arguments[2], NULL, 10) : 0;

	exports_add(&exports, "/data 7 6 65534 65534 10.0.0.0/8");
	exports.version_4 = true;
	for (unsigned long run = first; run < first + runs; run++) {
		const struct rpc_program *program;
		struct rpc_caller caller;

		state = run;
		program = &programs[number(3)];
		caller = (struct rpc_caller) { number(2) ? 0x7f000001 : 0x0a000202, (uint16_t)number(65536), false };
		one_connection(program, &caller);
		one_datagram(program, &caller);
		one_line();
		one_lease();
	}
	printf("fuzz: %lu runs\n", runs);
	return 0;
}
