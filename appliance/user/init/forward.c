// SPDX-License-Identifier: Apache-2.0
/* Forwards the log to a syslog server */
#include "forward.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PORT = 514, SIZE = 1024, SEVERITIES = 8, DAEMON = 3 };

size_t forward_message(const char *record, const char *hostname, char *message, size_t size)
{
	const char *text = strchr(record, ';');
	long priority;
	char *end;
	int length;

	priority = strtol(record, &end, 10);
	if (!text || end == record || *end != ',' || priority < 0)
		return 0;
	text++;
	/* Lines that are not the kernel's have a facility, as written to /dev/kmsg: user, because ours specify none */
	priority = priority < SEVERITIES ? priority : DAEMON * SEVERITIES + priority % SEVERITIES;
	length = snprintf(message, size, "<%ld>%s %.*s", priority, hostname, (int)strcspn(text, "\n"), text);
	return length < 0 ? 0 : (size_t)length < size ? (size_t)length : size - 1;
}

void forward_log(uint32_t server, const char *hostname)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = htonl(server) };
	int log = open("/dev/kmsg", O_RDONLY | O_CLOEXEC), out = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char record[8 * SIZE], message[SIZE];

	while (log >= 0 && out >= 0) {
		ssize_t length = read(log, record, sizeof record - 1);
		size_t used;

		if (length < 0 && errno == EPIPE)
			continue; /* lines were overwritten before they were read */
		if (length <= 0)
			return;
		record[length] = '\0';
		used = forward_message(record, hostname, message, sizeof message);
		/* Without an address nothing can be sent: the lines wait */
		while (used && sendto(out, message, used, 0, (struct sockaddr *)&to, sizeof to) < 0 &&
		       (errno == ENETUNREACH || errno == ENETDOWN))
			sleep(1);
	}
}
