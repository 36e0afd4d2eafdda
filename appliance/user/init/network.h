/* SPDX-License-Identifier: Apache-2.0 */
/* Network interfaces: up, with an address and a way out. Addresses are in host's byte order. */
#ifndef NETWORK_H
#define NETWORK_H

#include <stdbool.h>
#include <stdint.h>

struct network {
	uint32_t address, mask, gateway; /* gateway 0: none */
};

/* Waits up to `wait_ms` for it to be there */
bool network_up(const char *interface, int wait_ms);
/* Address 0 takes it away */
bool network_set(const char *interface, const struct network *network);
bool network_hardware(const char *interface, uint8_t address[6]);
/* lo, with its address */
void network_loopback(void);
/* "10.0.0.2/24" and the gateway's address or "" */
bool network_of(const char *address, const char *gateway, struct network *network);

#endif
