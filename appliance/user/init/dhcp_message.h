/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of DHCP (RFC 2131, options of RFC 2132): made and read, nothing sent. Addresses in host's byte order. */
#ifndef DHCP_MESSAGE_H
#define DHCP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DHCP_DISCOVER = 1, DHCP_OFFER = 2, DHCP_REQUEST = 3, DHCP_ACK = 5, DHCP_NAK = 6 };
enum { DHCP_LONGEST = 1500, DHCP_SHORTEST = 300 };

struct dhcp_lease {
	uint32_t address, mask, gateway, server;
	uint32_t seconds;
};

/*
 * Of `size` bytes at least DHCP_SHORTEST. `lease`: what is asked for, NULL in a DISCOVER; `held`: to go on with it, asked
 * of all servers (RFC 2131, 4.3.2, "rebinding": the address stands as the client's, and no server is named). Gives back
 * the length.
 */
size_t dhcp_ask(uint8_t *message, int kind, uint32_t xid, const uint8_t hardware[6], const struct dhcp_lease *lease,
		bool held);

/* What kind of answer to `xid` it is, and what it offers; 0 if it is none, or is not whole */
int dhcp_answer(const uint8_t *message, size_t length, uint32_t xid, const uint8_t hardware[6],
		struct dhcp_lease *lease);

#endif
