// SPDX-License-Identifier: Apache-2.0
/* Messages of DHCP */
#include "dhcp_message.h"

#include <string.h>

enum { ASKS = 1, ANSWERS = 2, ETHERNET = 1, HARDWARE_LENGTH = 6 };
/* Offsets of fields */
enum { AT_XID = 4, AT_FLAGS = 10, AT_CLIENTS = 12, AT_YOURS = 16, AT_HARDWARE = 28, AT_COOKIE = 236, AT_OPTIONS = 240 };
enum { PAD = 0, MASK = 1, ROUTER = 3, WANTED = 50, LEASE = 51, KIND = 53, SERVER = 54, LIST = 55, END = 255 };

static const uint8_t cookie[] = { 99, 130, 83, 99 };

static void put(uint8_t *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> (24 - 8 * i));
}

static uint32_t get(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint8_t *put_option(uint8_t *at, uint8_t option, uint32_t value)
{
	*at++ = option;
	*at++ = 4;
	put(at, value);
	return at + 4;
}

size_t dhcp_ask(uint8_t *message, int kind, uint32_t xid, const uint8_t hardware[6], const struct dhcp_lease *lease,
		bool held)
{
	uint8_t *at = message + AT_OPTIONS;

	memset(message, 0, DHCP_SHORTEST);
	message[0] = ASKS;
	message[1] = ETHERNET;
	message[2] = HARDWARE_LENGTH;
	put(message + AT_XID, xid);
	if (held)
		put(message + AT_CLIENTS, lease->address);
	else
		message[AT_FLAGS] = 0x80; /* broadcast flag: there is no address yet */
	memcpy(message + AT_HARDWARE, hardware, HARDWARE_LENGTH);
	memcpy(message + AT_COOKIE, cookie, sizeof cookie);
	*at++ = KIND;
	*at++ = 1;
	*at++ = (uint8_t)kind;
	if (lease && !held) {
		at = put_option(at, WANTED, lease->address);
		at = put_option(at, SERVER, lease->server);
	}
	*at++ = LIST;
	*at++ = 3;
	*at++ = MASK;
	*at++ = ROUTER;
	*at++ = LEASE;
	*at = END;
	return DHCP_SHORTEST;
}

static void take_option(uint8_t option, const uint8_t *value, uint8_t length, int *kind, struct dhcp_lease *lease)
{
	if (option == KIND && length == 1)
		*kind = value[0];
	if (length < 4)
		return;
	if (option == MASK)
		lease->mask = get(value);
	else if (option == ROUTER)
		lease->gateway = get(value);
	else if (option == LEASE)
		lease->seconds = get(value);
	else if (option == SERVER)
		lease->server = get(value);
}

int dhcp_answer(const uint8_t *message, size_t length, uint32_t xid, const uint8_t hardware[6],
		struct dhcp_lease *lease)
{
	int kind = 0;

	if (length < AT_OPTIONS || message[0] != ANSWERS || get(message + AT_XID) != xid ||
	    memcmp(message + AT_HARDWARE, hardware, HARDWARE_LENGTH) ||
	    memcmp(message + AT_COOKIE, cookie, sizeof cookie))
		return 0;
	memset(lease, 0, sizeof *lease);
	lease->address = get(message + AT_YOURS);
	for (size_t at = AT_OPTIONS; at < length && message[at] != END;) {
		if (message[at] == PAD) {
			at++;
			continue;
		}
		if (length - at < 2 || message[at + 1] > length - at - 2)
			return 0;
		take_option(message[at], message + at + 2, message[at + 1], &kind, lease);
		at += 2 + message[at + 1];
	}
	return kind;
}
