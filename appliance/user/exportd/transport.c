// SPDX-License-Identifier: Apache-2.0
/* Sockets, and the event loop */
#include "transport.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "log.h"
#include "monotonic.h"

enum { POLLED = 2 * TRANSPORT_SERVICES + TRANSPORT_FILES + TRANSPORT_CONNECTIONS };

void transport_init(struct transport *transport)
{
	memset(transport, 0, sizeof *transport);
	for (size_t i = 0; i < TRANSPORT_CONNECTIONS; i++)
		transport->connections[i].socket = -1;
}

static int listen_at(int type, uint16_t *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(*port) };
	int handle = socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), yes = 1;
	socklen_t length = sizeof address;

	if (handle < 0)
		return -1;
	if (type == SOCK_STREAM)
		setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (bind(handle, (struct sockaddr *)&address, sizeof address) ||
	    (type == SOCK_STREAM && listen(handle, TRANSPORT_CONNECTIONS)) ||
	    getsockname(handle, (struct sockaddr *)&address, &length)) {
		close(handle);
		return -1;
	}
	*port = ntohs(address.sin_port);
	return handle;
}

bool transport_serve(struct transport *transport, const struct rpc_program *program, uint16_t port)
{
	struct service *service = &transport->services[transport->service_count];

	service->program = program;
	service->port = port;
	service->tcp = listen_at(SOCK_STREAM, &service->port);
	service->udp = listen_at(SOCK_DGRAM, &service->port);
	if (service->tcp < 0 || service->udp < 0) {
		log_line("port %u: %s", service->port, strerror(errno));
		return false;
	}
	transport->service_count++;
	return true;
}

static void serve_datagram(const struct service *service)
{
	uint8_t message[RPC_CALL_MOST + 1], reply[RPC_REPLY_MOST];
	struct sockaddr_in from;
	socklen_t size = sizeof from;
	ssize_t length = recvfrom(service->udp, message, sizeof message, 0, (struct sockaddr *)&from, &size);
	struct rpc_caller caller;
	size_t answer;

	if (length < 0 || length > RPC_CALL_MOST)
		return;
	caller = (struct rpc_caller) { ntohl(from.sin_addr.s_addr), ntohs(from.sin_port), false };
	answer = rpc_reply(service->program, 1, &caller, message, (size_t)length, reply, sizeof reply);
	if (answer && sendto(service->udp, reply, answer, 0, (struct sockaddr *)&from, size) < 0)
		return; /* the caller retries */
}

static void drop(struct connection *connection)
{
	close(connection->socket);
	connection->socket = -1;
}

static unsigned connections_of(const struct transport *transport, uint32_t address)
{
	unsigned count = 0;

	for (size_t i = 0; i < TRANSPORT_CONNECTIONS; i++)
		count += transport->connections[i].socket >= 0 && transport->connections[i].caller.address == address;
	return count;
}

/*
 * Returns a free slot, else one of the client with the most connections: the one that has been idle longest. So a
 * client that opens many connections displaces its own.
 */
static struct connection *place(struct transport *transport)
{
	struct connection *chosen = NULL;
	unsigned most = 0;

	for (size_t i = 0; i < TRANSPORT_CONNECTIONS; i++) {
		struct connection *connection = &transport->connections[i];
		unsigned has = connections_of(transport, connection->caller.address);

		if (connection->socket < 0)
			return connection;
		if (has > most || (has == most && connection->heard < chosen->heard)) {
			most = has;
			chosen = connection;
		}
	}
	drop(chosen);
	return chosen;
}

static void accept_one(struct transport *transport, const struct service *service)
{
	struct sockaddr_in from;
	socklen_t size = sizeof from;
	int handle = accept4(service->tcp, (struct sockaddr *)&from, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct connection *connection;

	if (handle < 0)
		return;
	connection = place(transport);
	memset(connection, 0, sizeof *connection);
	connection->socket = handle;
	connection->program = service->program;
	connection->caller = (struct rpc_caller) { ntohl(from.sin_addr.s_addr), ntohs(from.sin_port), true };
	connection->heard = now_s();
}

/* False: the connection is broken or closed */
static bool send_reply(struct connection *connection)
{
	ssize_t sent;

	if (!connection->reply_used)
		return true;
	sent = send(connection->socket, connection->reply + connection->reply_sent,
		    connection->reply_used - connection->reply_sent, MSG_NOSIGNAL);
	if (sent < 0)
		return errno == EAGAIN || errno == EINTR;
	connection->heard = now_s();
	connection->reply_sent += (size_t)sent;
	if (connection->reply_sent == connection->reply_used)
		connection->reply_used = 0;
	return true;
}

static bool receive(struct connection *connection)
{
	uint8_t bytes[RPC_CALL_MOST];
	ssize_t length = recv(connection->socket, bytes, sizeof bytes, MSG_PEEK);
	long taken;

	if (length <= 0)
		return length < 0 && (errno == EAGAIN || errno == EINTR);
	connection->heard = now_s();
	taken = connection_take(connection, bytes, (size_t)length);
	if (taken < 0)
		return false;
	return recv(connection->socket, bytes, (size_t)taken, 0) == taken;
}

static void serve_connection(struct connection *connection, short events)
{
	bool fine = true;

	if (events & POLLIN)
		fine = receive(connection);
	if (fine)
		fine = send_reply(connection);
	if (!fine || (events & (POLLERR | POLLHUP) && !(events & POLLIN)))
		drop(connection);
}

static size_t add(struct pollfd *polled, size_t count, int handle, short events)
{
	polled[count] = (struct pollfd) { handle, events, 0 };
	return count + 1;
}

static size_t all_files(const struct transport *transport, struct pollfd *polled)
{
	size_t count = 0;

	for (size_t i = 0; i < transport->service_count; i++) {
		count = add(polled, count, transport->services[i].udp, POLLIN);
		count = add(polled, count, transport->services[i].tcp, POLLIN);
	}
	for (size_t i = 0; i < transport->file_count; i++)
		count = add(polled, count, transport->files[i], POLLIN);
	for (size_t i = 0; i < TRANSPORT_CONNECTIONS; i++) { /* free ones have -1, which poll() ignores */
		const struct connection *connection = &transport->connections[i];

		count = add(polled, count, connection->socket, connection->reply_used ? POLLOUT : POLLIN);
	}
	return count;
}

void transport_step(struct transport *transport, int timeout)
{
	struct pollfd polled[POLLED];
	size_t count = all_files(transport, polled), at = 0;
	time_t oldest = now_s() - TRANSPORT_IDLE;

	if (poll(polled, count, timeout) < 0)
		return;
	for (size_t i = 0; i < transport->service_count; i++) {
		if (polled[at++].revents & POLLIN)
			serve_datagram(&transport->services[i]);
		if (polled[at++].revents & POLLIN)
			accept_one(transport, &transport->services[i]);
	}
	for (size_t i = 0; i < transport->file_count; i++)
		if (polled[at++].revents & POLLIN)
			transport->readable(transport->context, i);
	for (size_t i = 0; i < TRANSPORT_CONNECTIONS; i++, at++) {
		struct connection *connection = &transport->connections[i];

		if (connection->socket < 0 || connection->socket != polled[at].fd)
			continue; /* it has just arrived, or is closed */
		if (polled[at].revents)
			serve_connection(connection, polled[at].revents);
		else if (connection->heard < oldest && connection->record_used + connection->head_used)
			drop(connection); /* half a call, and then silence */
	}
}
