/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The portmapper, version 2 (RFC 1833, section 3): maps programs to ports. Only local programs may register. The
 * indirect call is not offered: it would pass calls of untrusted clients to local services, and answer to forged
 * addresses.
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

/* False if it has another port already, or the table is full */
bool portmap_set(struct portmap *map, const struct portmap_entry *entry);
/* 0: none */
uint32_t portmap_port(const struct portmap *map, uint32_t program, uint32_t version, uint32_t protocol);

rpc_procedure portmap_procedure; /* state: struct portmap */

#endif
