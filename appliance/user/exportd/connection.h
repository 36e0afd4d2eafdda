/* SPDX-License-Identifier: Apache-2.0 */
/* One TCP connection: records (RFC 5531, section 11) in, records out, in memory of fixed size */
#ifndef CONNECTION_H
#define CONNECTION_H

#include <time.h>

#include "rpc.h"

struct connection {
	int socket; /* -1: free */
	const struct rpc_program *program;
	struct rpc_caller caller;
	time_t heard; /* when anything last came or went, seconds of the monotonic clock */
	uint8_t head[4];
	size_t head_used;
	uint32_t left; /* of the fragment */
	bool last;     /* it is the record's last */
	uint8_t record[RPC_CALL_MOST];
	size_t record_used;
	uint8_t reply[4 + RPC_REPLY_MOST];
	size_t reply_used, reply_sent;
};

/*
 * Takes bytes that came: as many as make one call at most, and none while a reply is still to be sent. How many; -1 if
 * the connection is to be closed, since a record is longer than any call can be.
 */
long connection_take(struct connection *connection, const uint8_t *bytes, size_t length);

#endif
