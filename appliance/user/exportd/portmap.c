// SPDX-License-Identifier: Apache-2.0
/* The portmapper */
#include "portmap.h"

enum { NONE, SET, UNSET, GETPORT, DUMP };

static const uint32_t THIS_MACHINE = 0x7f000001;

static struct portmap_entry *find(struct portmap *map, const struct portmap_entry *wanted)
{
	for (size_t i = 0; i < map->count; i++) {
		struct portmap_entry *entry = &map->entries[i];

		if (entry->program == wanted->program && entry->version == wanted->version &&
		    entry->protocol == wanted->protocol)
			return entry;
	}
	return NULL;
}

bool portmap_set(struct portmap *map, const struct portmap_entry *entry)
{
	struct portmap_entry *there = find(map, entry);

	if (there)
		return there->port == entry->port;
	if (map->count == PORTMAP_ENTRIES || !entry->port || entry->port > UINT16_MAX)
		return false;
	map->entries[map->count++] = *entry;
	return true;
}

/* Removes all protocols of a program's version, as RFC 1833 requires */
static bool unset(struct portmap *map, const struct portmap_entry *wanted)
{
	size_t kept = 0, before = map->count;

	for (size_t i = 0; i < before; i++)
		if (map->entries[i].program != wanted->program || map->entries[i].version != wanted->version)
			map->entries[kept++] = map->entries[i];
	map->count = kept;
	return kept < before;
}

/* For an unregistered version, returns the port of another one, so that its server can report its versions */
uint32_t portmap_port(const struct portmap *map, uint32_t program, uint32_t version, uint32_t protocol)
{
	uint32_t port = 0;

	for (size_t i = 0; i < map->count; i++) {
		const struct portmap_entry *entry = &map->entries[i];

		if (entry->program != program || entry->protocol != protocol)
			continue;
		port = entry->port;
		if (entry->version == version)
			break;
	}
	return port;
}

static void put_all(const struct portmap *map, struct xdr_out *out)
{
	for (size_t i = 0; i < map->count; i++) {
		xdr_put_u32(out, 1);
		xdr_put_u32(out, map->entries[i].program);
		xdr_put_u32(out, map->entries[i].version);
		xdr_put_u32(out, map->entries[i].protocol);
		xdr_put_u32(out, map->entries[i].port);
	}
	xdr_put_u32(out, 0);
}

enum rpc_result portmap_procedure(void *state, const struct rpc_caller *caller, uint32_t version, uint32_t procedure,
				  struct xdr_in *in, struct xdr_out *out)
{
	bool ours = caller->address == THIS_MACHINE && caller->port < 1024;
	struct portmap *map = state;
	struct portmap_entry asked;

	(void)version;
	if (procedure == NONE)
		return RPC_SUCCESS;
	if (procedure == DUMP && caller->tcp) {
		put_all(map, out);
		return RPC_SUCCESS;
	}
	if (procedure >= DUMP)
		return RPC_PROCEDURE_UNAVAILABLE; /* UDP: a forged sender address would direct the list at a victim */
	asked.program = xdr_get_u32(in);
	asked.version = xdr_get_u32(in);
	asked.protocol = xdr_get_u32(in);
	asked.port = xdr_get_u32(in);
	if (in->bad)
		return RPC_GARBAGE;
	if (procedure == GETPORT)
		xdr_put_u32(out, portmap_port(map, asked.program, asked.version, asked.protocol));
	else
		xdr_put_u32(out, ours && (procedure == SET ? portmap_set(map, &asked) : unset(map, &asked)));
	return RPC_SUCCESS;
}
