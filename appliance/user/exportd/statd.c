// SPDX-License-Identifier: Apache-2.0
/* The status monitor */
#include "statd.h"

#include <string.h>

#include "exports.h"

enum { NONE, STAT, MON, UNMON, UNMON_ALL, SIMULATE_CRASH, NOTIFY };
enum { SUCCESS = 0, FAILURE = 1, STATE = 1 /* odd: up */, RPC_VERSION = 2 };

static const uint32_t THIS_MACHINE = 0x7f000001;

/* Parses a name that is an address, as lockd gives them. False for anything else. */
static bool get_name(struct xdr_in *in, uint32_t *address)
{
	char name[STATD_NAME + 1];
	uint32_t length;
	const uint8_t *bytes = xdr_get_opaque(in, STATD_NAME, &length);

	if (!bytes)
		return false;
	memcpy(name, bytes, length);
	name[length] = '\0';
	return strlen(name) == length && address_of(name, address);
}

/* Decodes the listener; the name of this machine in it is ignored */
static void get_listener(struct xdr_in *in, struct watched *listener)
{
	uint32_t length;

	xdr_get_opaque(in, STATD_NAME, &length);
	listener->program = xdr_get_u32(in);
	listener->version = xdr_get_u32(in);
	listener->procedure = xdr_get_u32(in);
}

static bool watch(struct statd *statd, const struct watched *wanted)
{
	for (size_t i = 0; i < statd->count; i++)
		if (statd->watched[i].address == wanted->address && statd->watched[i].program == wanted->program) {
			statd->watched[i] = *wanted;
			return true;
		}
	if (statd->count == STATD_WATCHED)
		return false;
	statd->watched[statd->count++] = *wanted;
	return true;
}

/* `address` 0: all of this listener */
static void unwatch(struct statd *statd, uint32_t address, uint32_t program)
{
	size_t kept = 0;

	for (size_t i = 0; i < statd->count; i++)
		if (statd->watched[i].program != program || (address && statd->watched[i].address != address))
			statd->watched[kept++] = statd->watched[i];
	statd->count = kept;
}

/* Notifies a listener of a restarted client, with the client's new state and the listener's private data */
static void tell(struct statd *statd, const struct watched *listener, uint32_t state)
{
	uint8_t call[STATD_CALL];
	struct xdr_out out = { call, sizeof call, 0, false };
	char name[16];

	address_text(listener->address, name);
	xdr_put_u32(&out, ++statd->xid);
	xdr_put_u32(&out, 0);
	xdr_put_u32(&out, RPC_VERSION);
	xdr_put_u32(&out, listener->program);
	xdr_put_u32(&out, listener->version);
	xdr_put_u32(&out, listener->procedure);
	for (int i = 0; i < 4; i++) /* neither credential nor verifier */
		xdr_put_u32(&out, 0);
	xdr_put_string(&out, name);
	xdr_put_u32(&out, state);
	xdr_put_fixed(&out, listener->private, STATD_PRIVATE);
	statd->tell(statd->context, listener->program, listener->version, call, out.used);
}

/* An untrusted client can only report its own restart: the name that it gives is ignored */
static void notify(struct statd *statd, uint32_t address, struct xdr_in *in)
{
	uint32_t length, state;

	xdr_get_opaque(in, STATD_NAME, &length);
	state = xdr_get_u32(in);
	for (size_t i = 0; !in->bad && i < statd->count; i++)
		if (statd->watched[i].address == address)
			tell(statd, &statd->watched[i], state);
}

static enum rpc_result of_this_machine(struct statd *statd, uint32_t procedure, struct xdr_in *in, struct xdr_out *out)
{
	const uint8_t *private;
	struct watched asked = { 0 };
	bool known = procedure == UNMON_ALL || get_name(in, &asked.address);

	get_listener(in, &asked);
	if (procedure == MON && (private = xdr_get_fixed(in, STATD_PRIVATE)))
		memcpy(asked.private, private, STATD_PRIVATE);
	if (in->bad)
		return RPC_GARBAGE;
	if (procedure == MON)
		xdr_put_u32(out, known && watch(statd, &asked) ? SUCCESS : FAILURE);
	else if (known)
		unwatch(statd, asked.address, asked.program);
	xdr_put_u32(out, STATE);
	return RPC_SUCCESS;
}

enum rpc_result statd_procedure(void *state, const struct rpc_caller *caller, uint32_t version, uint32_t procedure,
				struct xdr_in *in, struct xdr_out *out)
{
	struct statd *statd = state;

	(void)version;
	switch (procedure) {
	case NONE:
		return RPC_SUCCESS;
	case NOTIFY:
		notify(statd, caller->address, in);
		return RPC_SUCCESS;
	case MON:
	case UNMON:
	case UNMON_ALL:
		if (caller->address == THIS_MACHINE)
			return of_this_machine(statd, procedure, in, out);
		break;
	case STAT:
		xdr_put_u32(out, FAILURE); /* there is no monitoring for others */
		xdr_put_u32(out, STATE);
		return RPC_SUCCESS;
	default:
		break;
	}
	return RPC_PROCEDURE_UNAVAILABLE;
}
