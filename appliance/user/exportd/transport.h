/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets of the programs, and the event loop for them and for the kernel's questions */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include "connection.h"

enum {
	TRANSPORT_SERVICES = 3,
	TRANSPORT_CONNECTIONS = 24,
	TRANSPORT_FILES = 3,
	/* Seconds without traffic after which a connection with a partial call is closed */
	TRANSPORT_IDLE = 30
};

struct transport {
	struct service {
		const struct rpc_program *program;
		uint16_t port;
		int udp, tcp;
	} services[TRANSPORT_SERVICES];
	size_t service_count;
	struct connection connections[TRANSPORT_CONNECTIONS];
	/* Other files to poll, and their handlers */
	int files[TRANSPORT_FILES];
	size_t file_count;
	void (*readable)(void *context, size_t file);
	void *context;
};

void transport_init(struct transport *transport);
/* Listens at a port, 0 for any free one, on all addresses. On failure logs the reason and returns false. */
bool transport_serve(struct transport *transport, const struct rpc_program *program, uint16_t port);
/* Waits up to `timeout` ms (-1: forever), and handles all events */
void transport_step(struct transport *transport, int timeout);

#endif
