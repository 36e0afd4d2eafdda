/* SPDX-License-Identifier: Apache-2.0 */
/* Network interfaces: state, address and default route. Addresses are in host byte order. */
#ifndef NETWORK_H
#define NETWORK_H

#include <stdbool.h>
#include <stdint.h>

struct network {
	uint32_t address, mask, gateway; /* gateway 0: none */
};

/* Brings an interface up; waits up to `wait_ms` for it to appear */
bool network_up(const char *interface, int wait_ms);
/* Address 0 removes the address */
bool network_set(const char *interface, const struct network *network);
bool network_hardware(const char *interface, uint8_t address[6]);
/* Brings up lo, with its address */
void network_loopback(void);
/* Parses "10.0.0.2/24", and the gateway's address or "" */
bool network_of(const char *address, const char *gateway, struct network *network);

#endif
