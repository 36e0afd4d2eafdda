/* SPDX-License-Identifier: Apache-2.0 */
/* DHCP messages (RFC 2131, options of RFC 2132): encoded and decoded, not sent. Addresses are in host byte order. */
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
 * Encodes a request to a buffer of at least DHCP_SHORTEST bytes; returns the length. `lease`: the requested one, NULL
 * in a DISCOVER. `held`: extends it, asking all servers (RFC 2131, 4.3.2, "rebinding": the client's address is filled
 * in, and no server is named).
 */
size_t dhcp_ask(uint8_t *message, int kind, uint32_t xid, const uint8_t hardware[6], const struct dhcp_lease *lease,
		bool held);

/* Returns the kind of an answer to `xid`, and decodes its offer; 0 if it is no answer, or is incomplete */
int dhcp_answer(const uint8_t *message, size_t length, uint32_t xid, const uint8_t hardware[6],
		struct dhcp_lease *lease);

#endif
