/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A remote procedure call (RFC 5531): a message in, a message or nothing out. The layer below is transport.h; nothing
 * here waits or sends.
 */
#ifndef RPC_H
#define RPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xdr.h"

enum {
	/* Header 40 bytes, credential and verifier 400 each, a path of 1,024, a few numbers */
	RPC_CALL_MOST = 2048,
	RPC_REPLY_MOST = 8192
};

enum rpc_result {
	RPC_SUCCESS,
	RPC_PROGRAM_UNAVAILABLE,
	RPC_PROGRAM_MISMATCH,
	RPC_PROCEDURE_UNAVAILABLE,
	RPC_GARBAGE,
	RPC_SYSTEM_ERROR,
	RPC_SILENCE = 100 /* no answer at all */
};

/* The caller and its transport */
struct rpc_caller {
	uint32_t address; /* host's byte order */
	uint16_t port;
	bool tcp;
};

/* Executes one procedure: reads its arguments from `in`, writes its results to `out` */
typedef enum rpc_result rpc_procedure(void *state, const struct rpc_caller *caller, uint32_t version,
				      uint32_t procedure, struct xdr_in *in, struct xdr_out *out);

struct rpc_program {
	uint32_t number, lowest, highest; /* versions */
	rpc_procedure *carry_out;
	void *state;
};

/*
 * Makes the reply to a message and returns its length; 0 if there is none. Arguments that are too short or exceed a
 * limit get the corresponding error, whatever the procedure returned.
 */
size_t rpc_reply(const struct rpc_program *programs, size_t count, const struct rpc_caller *caller,
		 const uint8_t *message, size_t length, uint8_t *reply, size_t size);

#endif
