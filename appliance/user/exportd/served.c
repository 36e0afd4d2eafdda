// SPDX-License-Identifier: Apache-2.0
/* The services that the kernel runs already */
#include "served.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NFS_PROGRAM = 100003, LOCK_PROGRAM = 100021, TEXT = 256 };

static const uint32_t lock_versions[] = { 1, 3, 4 };

static void add_nfs(struct portmap *map, const char *versions, struct portmap_entry entry)
{
	for (const char *plus = strchr(versions, '+'); plus; plus = strchr(plus + 1, '+')) {
		entry.version = (uint32_t)strtoul(plus + 1, NULL, 10);
		if (entry.version == 2 || entry.version == 3)
			portmap_set(map, &entry);
	}
}

void served_add(struct portmap *map, const char *versions, const char *ports, unsigned lock_tcp, unsigned lock_udp)
{
	char protocol[8];
	unsigned port;

	for (const char *line = ports; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
		bool tcp;

		if (sscanf(line, "%7s %u", protocol, &port) != 2)
			continue;
		tcp = !strcmp(protocol, "tcp");
		if (!tcp && strcmp(protocol, "udp"))
			continue;
		add_nfs(map, versions, (struct portmap_entry) { NFS_PROGRAM, 0, tcp ? PORTMAP_TCP : PORTMAP_UDP, port });
	}
	if (!*ports)
		return; /* neither NFS nor locks are served yet */
	for (size_t i = 0; i < sizeof lock_versions / sizeof *lock_versions; i++) {
		portmap_set(map, &(struct portmap_entry) { LOCK_PROGRAM, lock_versions[i], PORTMAP_TCP, lock_tcp });
		portmap_set(map, &(struct portmap_entry) { LOCK_PROGRAM, lock_versions[i], PORTMAP_UDP, lock_udp });
	}
}

/* Empty if the file does not exist: at the first start nothing is served */
static void read_text(const char *path, char *text)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = file < 0 ? 0 : read(file, text, TEXT - 1);

	text[length > 0 ? length : 0] = '\0';
	if (file >= 0)
		close(file);
}

void served_learn(struct portmap *map)
{
	char versions[TEXT], ports[TEXT], tcp[TEXT], udp[TEXT];

	read_text("/proc/fs/nfsd/versions", versions);
	read_text("/proc/fs/nfsd/portlist", ports);
	read_text("/sys/module/lockd/parameters/nlm_tcpport", tcp);
	read_text("/sys/module/lockd/parameters/nlm_udpport", udp);
	served_add(map, versions, ports, (unsigned)strtoul(tcp, NULL, 10), (unsigned)strtoul(udp, NULL, 10));
}
