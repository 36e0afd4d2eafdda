// SPDX-License-Identifier: Apache-2.0
/* The mount protocol */
#include "mount.h"

#include <stdio.h>
#include <string.h>

#include "log.h"

enum { NONE, MNT, DUMP, UMNT, UMNTALL, EXPORT };
enum { AUTH_NONE = 0, AUTH_SYS = 1, RESERVED_PORTS = 1024 };

/* Decodes a path with a NUL, without trailing slashes. False if it is invalid. */
static bool get_path(struct xdr_in *in, char *path)
{
	uint32_t length;
	const uint8_t *bytes = xdr_get_opaque(in, MOUNT_PATH, &length);

	if (!bytes || memchr(bytes, '\0', length))
		return false;
	memcpy(path, bytes, length);
	while (length > 1 && path[length - 1] == '/')
		length--;
	path[length] = '\0';
	return true;
}

static void note(struct mount *mount, uint32_t address, const char *path)
{
	struct mount_entry *entry;

	for (size_t i = 0; i < mount->count; i++)
		if (mount->entries[i].address == address && !strcmp(mount->entries[i].path, path))
			return;
	entry = &mount->entries[mount->next];
	entry->address = address;
	snprintf(entry->path, sizeof entry->path, "%.*s", EXPORT_PATH - 1, path);
	mount->next = (mount->next + 1) % MOUNT_LISTED;
	if (mount->count < MOUNT_LISTED)
		mount->count++;
}

/* `path` NULL: all of the client's entries */
static void forget(struct mount *mount, uint32_t address, const char *path)
{
	size_t kept = 0;

	for (size_t i = 0; i < mount->count; i++) {
		const struct mount_entry *entry = &mount->entries[i];

		if (entry->address != address || (path && strcmp(entry->path, path)))
			mount->entries[kept++] = *entry;
	}
	mount->count = kept;
	mount->next = kept % MOUNT_LISTED;
}

static enum mount_status mount_handle(struct mount *mount, const struct rpc_caller *caller, const char *path,
				      size_t most, uint8_t *handle, size_t *length)
{
	const struct export_rule *rule = exports_around(mount->exports, path, caller->address);
	enum mount_status status = MOUNT_ACCESS;
	char client[16];

	address_text(caller->address, client);
	if (!rule)
		log_untrusted("%s may not mount %s", client, path);
	else if (caller->port >= RESERVED_PORTS && !(rule->flags & EXPORT_ANY_PORT))
		log_untrusted("%s may not mount %s from port %u: it is not a reserved one", client, path, caller->port);
	else
		status = mount->handle_of(rule, caller->address, path, most, handle, length);
	return status;
}

static void mnt(struct mount *mount, const struct rpc_caller *caller, uint32_t version, struct xdr_in *in,
		struct xdr_out *out)
{
	uint8_t handle[MOUNT_HANDLE_3] = { 0 };
	enum mount_status status = MOUNT_ACCESS;
	char path[MOUNT_PATH + 1];
	size_t length = 0;

	if (get_path(in, path))
		status = mount_handle(mount, caller, path, version == 3 ? MOUNT_HANDLE_3 : MOUNT_HANDLE_2, handle,
				      &length);
	xdr_put_u32(out, status);
	if (status)
		return;
	note(mount, caller->address, path);
	if (version < 3) { /* handles of NFS version 2 have a fixed length */
		xdr_put_fixed(out, handle, MOUNT_HANDLE_2);
		return;
	}
	xdr_put_opaque(out, handle, length);
	xdr_put_u32(out, 2); /* the accepted authentication flavours, best first */
	xdr_put_u32(out, AUTH_SYS);
	xdr_put_u32(out, AUTH_NONE);
}

static void dump(const struct mount *mount, uint32_t asking, struct xdr_out *out)
{
	char client[16];

	for (size_t i = 0; i < mount->count; i++) {
		if (mount->entries[i].address != asking) /* clients may not see the mounts of others */
			continue;
		address_text(mount->entries[i].address, client);
		xdr_put_u32(out, 1);
		xdr_put_string(out, client);
		xdr_put_string(out, mount->entries[i].path);
	}
	xdr_put_u32(out, 0);
}

/* Lists the exports that the caller may mount, each with the addresses of the matching rule */
static void list(const struct mount *mount, uint32_t asking, struct xdr_out *out)
{
	for (size_t i = 0; i < mount->exports->count; i++) {
		const struct export_rule *rule = &mount->exports->rules[i];
		char client[16], clients[32];
		int bits = 0;

		if (exports_find(mount->exports, rule->path, asking) != rule)
			continue;
		if (out->size - out->used < EXPORT_PATH + 64)
			break; /* more than a reply holds */
		for (uint32_t mask = rule->mask; mask; mask <<= 1)
			bits++;
		address_text(rule->address, client);
		snprintf(clients, sizeof clients, "%s/%d", client, bits);
		xdr_put_u32(out, 1);
		xdr_put_string(out, rule->path);
		xdr_put_u32(out, 1);
		xdr_put_string(out, clients);
		xdr_put_u32(out, 0);
	}
	xdr_put_u32(out, 0);
}

enum rpc_result mount_procedure(void *state, const struct rpc_caller *caller, uint32_t version, uint32_t procedure,
				struct xdr_in *in, struct xdr_out *out)
{
	char path[MOUNT_PATH + 1];
	struct mount *mount = state;

	/* Over UDP, a list many times as long as its call would go to the victim of a forged sender address */
	if ((procedure == DUMP || procedure == EXPORT) && !caller->tcp)
		return RPC_PROCEDURE_UNAVAILABLE;
	switch (procedure) {
	case NONE:
		break;
	case MNT:
		mnt(mount, caller, version, in, out);
		break;
	case DUMP:
		dump(mount, caller->address, out);
		break;
	case UMNT:
		if (get_path(in, path))
			forget(mount, caller->address, path);
		break;
	case UMNTALL:
		forget(mount, caller->address, NULL);
		break;
	case EXPORT:
		list(mount, caller->address, out);
		break;
	default:
		return RPC_PROCEDURE_UNAVAILABLE;
	}
	return RPC_SUCCESS;
}
