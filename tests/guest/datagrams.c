// SPDX-License-Identifier: Apache-2.0
/*
 * datagrams: what a link does to UDP.
 *
 *	datagrams receive        prints how many came until there was silence for a second, and ns from first to last
 *	datagrams send TO MANY BYTES
 *	datagrams echo MANY      sends each back
 *	datagrams ping TO MANY BYTES    prints the mean time until one is back, ns
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PORT = 5000, MOST = 65536 };

static char buffer[MOST];

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void receive(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	int64_t first = 0, last = 0;
	long many = 0;

	while (poll(&wait, 1, many ? 1000 : 10000) > 0 && recv(fd, buffer, MOST, 0) > 0) {
		last = now_ns();
		first = many++ ? first : last;
	}
	printf("%ld %lld\n", many, (long long)(last - first));
}

static void echo(int fd, long many)
{
	struct sockaddr_in from;
	socklen_t length = sizeof(from);

	while (many--) {
		ssize_t got = recvfrom(fd, buffer, MOST, 0, (struct sockaddr *)&from, &length);

		if (got < 0 || sendto(fd, buffer, got, 0, (struct sockaddr *)&from, length) < 0)
			exit(1);
	}
}

static void ping(int fd, long many, long bytes)
{
	int64_t began = now_ns();

	for (long i = 0; i < many; i++)
		if (send(fd, buffer, bytes, 0) < 0 || recv(fd, buffer, MOST, 0) < 0)
			exit(1);
	printf("%lld\n", (long long)((now_ns() - began) / many));
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), large = 8 << 20;
	const char *what = argc > 1 ? argv[1] : "";

	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &large, sizeof(large));
	if (!strcmp(what, "receive") || !strcmp(what, "echo")) {
		if (bind(fd, (struct sockaddr *)&address, sizeof(address)))
			return 1;
		argc > 2 ? echo(fd, atol(argv[2])) : receive(fd);
		return 0;
	}
	if (argc != 5 || !inet_aton(argv[2], &address.sin_addr) ||
	    connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return 1;
	if (!strcmp(what, "ping"))
		ping(fd, atol(argv[3]), atol(argv[4]));
	for (long i = 0; i < atol(argv[3]) && !strcmp(what, "send"); i++)
		send(fd, buffer, atol(argv[4]), 0);
	return 0;
}
