/* SPDX-License-Identifier: Apache-2.0 */
/* A TCP connection: records (RFC 5531, section 11) in, records out, in memory of fixed size */
#ifndef CONNECTION_H
#define CONNECTION_H

#include <time.h>

#include "rpc.h"

struct connection {
	int socket; /* -1: free */
	const struct rpc_program *program;
	struct rpc_caller caller;
	time_t heard; /* the last traffic, seconds of the monotonic clock */
	uint8_t head[4];
	size_t head_used;
	uint32_t left; /* remaining bytes of the fragment */
	bool last;     /* it is the record's last fragment */
	uint8_t record[RPC_CALL_MOST];
	size_t record_used;
	uint8_t reply[4 + RPC_REPLY_MOST];
	size_t reply_used, reply_sent;
};

/*
 * Takes received bytes: at most one call, and none while a reply is pending. Returns their number; -1 if the connection
 * must be closed because a record is longer than any call.
 */
long connection_take(struct connection *connection, const uint8_t *bytes, size_t length);

#endif
