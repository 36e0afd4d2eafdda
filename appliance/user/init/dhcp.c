// SPDX-License-Identifier: Apache-2.0
/* A DHCP client on an ordinary socket: answers are broadcast, because there is no address yet */
#include "dhcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dhcp_message.h"
#include "log.h"
#include "monotonic.h"
#include "network.h"

enum { SERVER_PORT = 67, CLIENT_PORT = 68, FIRST_WAIT_MS = 1000, LONGEST_WAIT_MS = 32000, SHORTEST_LEASE_S = 60 };

struct client {
	const char *interface;
	uint8_t hardware[6];
	uint32_t xid;
	int socket;
};

static bool open_socket(struct client *client)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(CLIENT_PORT) };
	int yes = 1;

	client->socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return client->socket >= 0 && !setsockopt(client->socket, SOL_SOCKET, SO_BROADCAST, &yes, sizeof yes) &&
	       !setsockopt(client->socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) &&
	       !setsockopt(client->socket, SOL_SOCKET, SO_BINDTODEVICE, client->interface,
			   (socklen_t)strlen(client->interface) + 1) &&
	       !bind(client->socket, (struct sockaddr *)&any, sizeof any);
}

/* Sends a request, and waits up to `wait_ms` for an answer of one of two kinds. 0: none came. */
static int ask(struct client *client, int kind, const struct dhcp_lease *wanted, bool held, struct dhcp_lease *lease,
	       int wait_ms)
{
	struct sockaddr_in all = { .sin_family = AF_INET, .sin_port = htons(SERVER_PORT) };
	struct pollfd polled = { client->socket, POLLIN, 0 };
	long long end = now_ms() + wait_ms;
	uint8_t message[DHCP_LONGEST];
	size_t length = dhcp_ask(message, kind, client->xid, client->hardware, wanted, held);

	all.sin_addr.s_addr = htonl(INADDR_BROADCAST);
	if (sendto(client->socket, message, length, 0, (struct sockaddr *)&all, sizeof all) < 0) {
		poll(NULL, 0, wait_ms);
		return 0;
	}
	for (;;) {
		long long left = end - now_ms();
		ssize_t got;
		int found;

		if (left <= 0 || poll(&polled, 1, (int)left) <= 0)
			return 0;
		got = recv(client->socket, message, sizeof message, 0);
		found = got < 0 ? 0 : dhcp_answer(message, (size_t)got, client->xid, client->hardware, lease);
		if (kind == DHCP_DISCOVER ? found == DHCP_OFFER : found == DHCP_ACK || found == DHCP_NAK)
			return found;
	}
}

/* Gets a first lease, retrying forever */
static struct dhcp_lease get_lease(struct client *client)
{
	struct dhcp_lease offer, lease;

	for (int wait = FIRST_WAIT_MS;; wait = wait < LONGEST_WAIT_MS ? 2 * wait : wait) {
		client->xid++;
		if (ask(client, DHCP_DISCOVER, NULL, false, &offer, wait) == DHCP_OFFER &&
		    ask(client, DHCP_REQUEST, &offer, false, &lease, wait) == DHCP_ACK && lease.address)
			return lease;
		if (wait == FIRST_WAIT_MS)
			log_line("%s: no answer of a DHCP server yet", client->interface);
	}
}

/* Renews a lease until the server ends it */
static void keep(struct client *client, struct dhcp_lease lease)
{
	for (;;) {
		struct dhcp_lease again;
		unsigned half = lease.seconds / 2 < SHORTEST_LEASE_S ? SHORTEST_LEASE_S : lease.seconds / 2;
		long long end = now_ms() + 2000LL * half;
		int found = 0;

		if (lease.seconds == UINT32_MAX)
			for (;;)
				pause();
		for (unsigned left = half; left;)
			left = sleep(left);
		client->xid++;
		for (int wait = FIRST_WAIT_MS; !found && now_ms() < end; wait = wait < LONGEST_WAIT_MS ? 2 * wait : wait)
			found = ask(client, DHCP_REQUEST, &lease, true, &again, wait);
		if (found != DHCP_ACK || again.address != lease.address)
			return;
		lease = again;
	}
}

void dhcp_run(const char *interface, int told)
{
	struct client client = { .interface = interface };

	if (!network_hardware(interface, client.hardware) || !open_socket(&client)) {
		log_line("%s: DHCP is not possible: %s", interface, strerror(errno));
		return;
	}
	memcpy(&client.xid, client.hardware + 2, sizeof client.xid);
	for (;;) {
		static const struct network none;
		struct dhcp_lease lease = get_lease(&client);
		struct network network = { lease.address, lease.mask ? lease.mask : 0xffffff00, lease.gateway };

		if (network_set(interface, &network)) {
			log_line("%s: address %u.%u.%u.%u for %u s", interface, lease.address >> 24,
				 lease.address >> 16 & 255, lease.address >> 8 & 255, lease.address & 255,
				 lease.seconds);
			if (write(told, "", 1) < 0)
				log_line("%s: nobody waits for the address", interface);
			keep(&client, lease);
		} else {
			poll(NULL, 0, LONGEST_WAIT_MS); /* the next lease may be no better */
		}
		network_set(interface, &none);
		log_line("%s: the address is gone", interface);
	}
}
