/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets of the programs, and the loop that waits for all of them and for the kernel's questions */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include "connection.h"

enum {
	TRANSPORT_SERVICES = 3,
	TRANSPORT_CONNECTIONS = 24,
	TRANSPORT_FILES = 3,
	/* Seconds without a byte, then a connection with half a call goes */
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
	/* Other files to wait for, and what to do when one can be read */
	int files[TRANSPORT_FILES];
	size_t file_count;
	void (*readable)(void *context, size_t file);
	void *context;
};

void transport_init(struct transport *transport);
/* Listens at a port, 0 for any free one, on all addresses. False, and a line of the log, if it cannot. */
bool transport_serve(struct transport *transport, const struct rpc_program *program, uint16_t port);
/* Waits up to `timeout` ms (-1: for ever), and serves what there is */
void transport_step(struct transport *transport, int timeout);

#endif
