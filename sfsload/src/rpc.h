/* SPDX-License-Identifier: Apache-2.0 */
/* ONC RPC version 2 (RFC 5531): the header of a call with AUTH_SYS, and the header of a reply */
#ifndef RPC_H
#define RPC_H

#include "xdr.h"

enum {
	PORTMAP_PROGRAM = 100000,
	NFS_PROGRAM = 100003,
	MOUNT_PROGRAM = 100005,
};

enum rpc_outcome {
	RPC_SUCCESS,
	RPC_PROGRAM_UNAVAILABLE,
	RPC_PROGRAM_MISMATCH,
	RPC_PROCEDURE_UNAVAILABLE,
	RPC_GARBAGE_ARGUMENTS,
	RPC_SYSTEM_ERROR,
	RPC_VERSION_DENIED,
	RPC_AUTH_DENIED,
	RPC_MALFORMED, /* the reply violates the RFC */
	RPC_OUTCOMES,
};

/* The caller's identity in AUTH_SYS */
struct rpc_identity {
	const char *machine;
	uint32_t uid, gid;
};

struct rpc_procedure {
	uint32_t program, version, number;
};

void rpc_put_call(struct xdr_out *out, uint32_t xid, const struct rpc_procedure *procedure,
		  const struct rpc_identity *who);

/* Parses a reply behind its xid; leaves `in` at the results */
enum rpc_outcome rpc_get_reply(struct xdr_in *in);

/* The name in JSON: "program-unavailable" */
const char *rpc_outcome_name(enum rpc_outcome outcome);

#endif
