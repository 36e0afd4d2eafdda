// SPDX-License-Identifier: Apache-2.0
/* Records of a TCP connection */
#include "connection.h"

#include <string.h>

enum { LAST_FRAGMENT = 0x80 };

static void answer(struct connection *connection)
{
	struct xdr_out head = { connection->reply, 4, 0, false };
	size_t length = rpc_reply(connection->program, 1, &connection->caller, connection->record,
				  connection->record_used, connection->reply + 4, RPC_REPLY_MOST);

	connection->record_used = 0;
	if (!length)
		return;
	xdr_put_u32(&head, (uint32_t)LAST_FRAGMENT << 24 | (uint32_t)length);
	connection->reply_used = 4 + length;
	connection->reply_sent = 0;
}

/* A fragment's header is complete. False: the fragment is too long. */
static bool begin_fragment(struct connection *connection)
{
	struct xdr_in head = { connection->head, 4, 0, false };
	uint32_t value = xdr_get_u32(&head);

	connection->last = value >> 31;
	connection->left = value & 0x7fffffff;
	connection->head_used = 0;
	if (connection->left > RPC_CALL_MOST - connection->record_used)
		return false;
	/* Empty fragments could keep the server busy forever */
	return connection->left || connection->last;
}

long connection_take(struct connection *connection, const uint8_t *bytes, size_t length)
{
	size_t used = 0;

	while (used < length && !connection->reply_used) {
		if (!connection->left) {
			connection->head[connection->head_used++] = bytes[used++];
			if (connection->head_used < 4)
				continue;
			if (!begin_fragment(connection))
				return -1;
		} else {
			size_t part = length - used < connection->left ? length - used : connection->left;

			memcpy(connection->record + connection->record_used, bytes + used, part);
			connection->record_used += part;
			connection->left -= (uint32_t)part;
			used += part;
		}
		if (!connection->left && !connection->head_used && connection->last) {
			connection->last = false;
			answer(connection);
		}
	}
	return (long)used;
}
