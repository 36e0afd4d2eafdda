// SPDX-License-Identifier: Apache-2.0
/* Remote procedure calls, server side */
#include "rpc.h"

enum { CALL = 0, REPLY = 1, RPC_VERSION = 2, ACCEPTED = 0, DENIED = 1, RPC_MISMATCH = 0, CREDENTIAL_MOST = 400 };

struct call {
	uint32_t xid, rpc_version, program, version, procedure;
};

/* False for a message that is no call */
static bool get_call(struct xdr_in *in, struct call *call)
{
	uint32_t type, length;

	call->xid = xdr_get_u32(in);
	type = xdr_get_u32(in);
	call->rpc_version = xdr_get_u32(in);
	if (in->bad || type != CALL)
		return false;
	if (call->rpc_version != RPC_VERSION)
		return true; /* the rest may be anything */
	call->program = xdr_get_u32(in);
	call->version = xdr_get_u32(in);
	call->procedure = xdr_get_u32(in);
	for (int i = 0; i < 2; i++) { /* credential and verifier: only addresses matter here */
		xdr_get_u32(in);
		xdr_get_opaque(in, CREDENTIAL_MOST, &length);
	}
	return !in->bad;
}

static void put_accepted(struct xdr_out *out, uint32_t xid, enum rpc_result result)
{
	out->used = 0;
	out->full = false;
	xdr_put_u32(out, xid);
	xdr_put_u32(out, REPLY);
	xdr_put_u32(out, ACCEPTED);
	xdr_put_u32(out, 0); /* no verifier */
	xdr_put_u32(out, 0);
	xdr_put_u32(out, result);
}

static void put_other_rpc(struct xdr_out *out, uint32_t xid)
{
	xdr_put_u32(out, xid);
	xdr_put_u32(out, REPLY);
	xdr_put_u32(out, DENIED);
	xdr_put_u32(out, RPC_MISMATCH);
	xdr_put_u32(out, RPC_VERSION);
	xdr_put_u32(out, RPC_VERSION);
}

static const struct rpc_program *find(const struct rpc_program *programs, size_t count, uint32_t number)
{
	for (size_t i = 0; i < count; i++)
		if (programs[i].number == number)
			return &programs[i];
	return NULL;
}

static enum rpc_result carry_out(const struct rpc_program *program, const struct rpc_caller *caller,
				 const struct call *call, struct xdr_in *in, struct xdr_out *out)
{
	enum rpc_result result;

	if (call->version < program->lowest || call->version > program->highest) {
		put_accepted(out, call->xid, RPC_PROGRAM_MISMATCH);
		xdr_put_u32(out, program->lowest);
		xdr_put_u32(out, program->highest);
		return RPC_SUCCESS;
	}
	put_accepted(out, call->xid, RPC_SUCCESS);
	result = program->carry_out(program->state, caller, call->version, call->procedure, in, out);
	if (result == RPC_SUCCESS && in->bad)
		return RPC_GARBAGE;
	return result == RPC_SUCCESS && out->full ? RPC_SYSTEM_ERROR : result;
}

size_t rpc_reply(const struct rpc_program *programs, size_t count, const struct rpc_caller *caller,
		 const uint8_t *message, size_t length, uint8_t *reply, size_t size)
{
	struct xdr_in in = { message, length, 0, false };
	struct xdr_out out = { reply, size, 0, false };
	const struct rpc_program *program;
	enum rpc_result result;
	struct call call;

	if (!get_call(&in, &call))
		return 0;
	if (call.rpc_version != RPC_VERSION) {
		put_other_rpc(&out, call.xid);
		return out.used;
	}
	program = find(programs, count, call.program);
	result = program ? carry_out(program, caller, &call, &in, &out) : RPC_PROGRAM_UNAVAILABLE;
	if (result == RPC_SILENCE)
		return 0;
	if (result != RPC_SUCCESS)
		put_accepted(&out, call.xid, result);
	return out.used;
}
