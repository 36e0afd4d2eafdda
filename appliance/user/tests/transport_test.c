// SPDX-License-Identifier: Apache-2.0
/* Whose connection goes where there is no place for another */
#include "transport.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

static const uint32_t QUIET = 0x7f000002, MANY = 0x7f000003;

static int connect_from(uint32_t address, uint16_t port)
{
	struct sockaddr_in from = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(address) };
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
	int handle = socket(AF_INET, SOCK_STREAM, 0);

	to.sin_addr.s_addr = htonl(0x7f000001);
	CHECK(handle >= 0 && !bind(handle, (struct sockaddr *)&from, sizeof from));
	CHECK(!connect(handle, (struct sockaddr *)&to, sizeof to));
	return handle;
}

static bool is_open(int handle)
{
	char byte;

	return recv(handle, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static void a_client_takes_the_places_of_its_own(void)
{
	static const struct rpc_program program = { .number = 1 };
	static struct transport transport;
	int quiet, many[2 * TRANSPORT_CONNECTIONS];
	unsigned open = 0;

	transport_init(&transport);
	CHECK(transport_serve(&transport, &program, 0));
	quiet = connect_from(QUIET, transport.services[0].port);
	transport_step(&transport, 1000);
	transport.connections[0].heard -= TRANSPORT_IDLE / 2; /* the quietest of all */
	for (size_t i = 0; i < 2 * TRANSPORT_CONNECTIONS; i++) {
		many[i] = connect_from(MANY, transport.services[0].port);
		transport_step(&transport, 1000);
	}
	CHECK(is_open(quiet));
	for (size_t i = 0; i < 2 * TRANSPORT_CONNECTIONS; i++) {
		open += is_open(many[i]);
		close(many[i]);
	}
	CHECK_EQUAL(TRANSPORT_CONNECTIONS - 1, open);
	close(quiet);
	close(transport.services[0].tcp);
	close(transport.services[0].udp);
	for (size_t i = 0; i < TRANSPORT_CONNECTIONS; i++)
		if (transport.connections[i].socket >= 0)
			close(transport.connections[i].socket);
}

const struct test transport_tests[] = {
	TEST(a_client_takes_the_places_of_its_own),
	END_OF_TESTS,
};
