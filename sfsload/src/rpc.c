// SPDX-License-Identifier: Apache-2.0
/* ONC RPC version 2 (RFC 5531), sections 9 and appendix A */
#include "rpc.h"

enum {
	CALL = 0,
	REPLY = 1,
	RPC_VERSION = 2,
	AUTH_NONE = 0,
	AUTH_SYS = 1,
	AUTH_BODY = 400, /* the longest allowed */
};

static const char *const names[RPC_OUTCOMES] = {
	[RPC_SUCCESS] = "success",
	[RPC_PROGRAM_UNAVAILABLE] = "program-unavailable",
	[RPC_PROGRAM_MISMATCH] = "program-mismatch",
	[RPC_PROCEDURE_UNAVAILABLE] = "procedure-unavailable",
	[RPC_GARBAGE_ARGUMENTS] = "garbage-arguments",
	[RPC_SYSTEM_ERROR] = "system-error",
	[RPC_VERSION_DENIED] = "rpc-version-denied",
	[RPC_AUTH_DENIED] = "auth-denied",
	[RPC_MALFORMED] = "malformed-reply",
};

static void put_credential(struct xdr_out *out, const struct rpc_identity *who)
{
	uint8_t bytes[AUTH_BODY];
	struct xdr_out body = { .bytes = bytes, .size = sizeof(bytes) };

	xdr_put_u32(&body, 0); /* stamp: constant, so that a run is reproducible */
	xdr_put_string(&body, who->machine);
	xdr_put_u32(&body, who->uid);
	xdr_put_u32(&body, who->gid);
	xdr_put_u32(&body, 0); /* no supplementary groups */
	xdr_put_u32(out, AUTH_SYS);
	xdr_put_opaque(out, bytes, body.used);
}

void rpc_put_call(struct xdr_out *out, uint32_t xid, const struct rpc_procedure *procedure,
		  const struct rpc_identity *who)
{
	xdr_put_u32(out, xid);
	xdr_put_u32(out, CALL);
	xdr_put_u32(out, RPC_VERSION);
	xdr_put_u32(out, procedure->program);
	xdr_put_u32(out, procedure->version);
	xdr_put_u32(out, procedure->number);
	put_credential(out, who);
	xdr_put_u32(out, AUTH_NONE);
	xdr_put_u32(out, 0);
}

static enum rpc_outcome accepted(struct xdr_in *in)
{
	uint32_t length, status;

	xdr_get_u32(in);
	xdr_get_opaque(in, AUTH_BODY, &length);
	status = xdr_get_u32(in);
	if (in->bad || status > 5)
		return RPC_MALFORMED;
	/* Our outcomes have the numbers of accept_stat */
	return (enum rpc_outcome)status;
}

enum rpc_outcome rpc_get_reply(struct xdr_in *in)
{
	uint32_t why;

	if (xdr_get_u32(in) != REPLY || in->bad)
		return RPC_MALFORMED;
	if (!xdr_get_bool(in))
		return in->bad ? RPC_MALFORMED : accepted(in);
	why = xdr_get_u32(in);
	if (in->bad || why > 1)
		return RPC_MALFORMED;
	return why ? RPC_AUTH_DENIED : RPC_VERSION_DENIED;
}

const char *rpc_outcome_name(enum rpc_outcome outcome)
{
	return names[outcome];
}
