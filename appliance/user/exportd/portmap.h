/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The portmapper, version 2 (RFC 1833, section 3): which program listens at which port. Programs of this machine alone
 * may add to the table. The indirect call is not offered: it would carry calls of untrusted clients in by the back
 * door, and answer to a forged address.
 */
#ifndef PORTMAP_H
#define PORTMAP_H

#include "rpc.h"

enum { PORTMAP_PROGRAM = 100000, PORTMAP_PORT = 111, PORTMAP_ENTRIES = 64, PORTMAP_TCP = 6, PORTMAP_UDP = 17 };

struct portmap_entry {
	uint32_t program, version, protocol, port;
};

struct portmap {
	struct portmap_entry entries[PORTMAP_ENTRIES];
	size_t count;
};

/* False if there is another port for it already, or no room */
bool portmap_set(struct portmap *map, const struct portmap_entry *entry);
/* 0: none */
uint32_t portmap_port(const struct portmap *map, uint32_t program, uint32_t version, uint32_t protocol);

rpc_procedure portmap_procedure; /* state: struct portmap */

#endif
