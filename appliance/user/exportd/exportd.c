// SPDX-License-Identifier: Apache-2.0
/* Connects the programs with their ports and with the kernel */
#include "exportd.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel.h"
#include "log.h"
#include "portmap.h"
#include "served.h"
#include "settings.h"
#include "statd.h"
#include "transport.h"
#include "words.h"

static struct exports exports;
static struct portmap map;
static struct mount mounts = { .exports = &exports, .handle_of = kernel_handle };
static struct statd statd;
static struct transport transport;

static const struct rpc_program programs[] = {
	{ PORTMAP_PROGRAM, 2, 2, portmap_procedure, &map },
	{ MOUNT_PROGRAM, 1, 3, mount_procedure, &mounts },
	{ STATD_PROGRAM, 1, 1, statd_procedure, &statd },
};
static const uint16_t ports[] = { PORTMAP_PORT, EXPORTD_MOUNT_PORT, EXPORTD_STATD_PORT };

static void question(void *context, size_t cache)
{
	(void)context;
	kernel_answer(transport.files[cache], (enum cache)cache, &exports);
}

/* Sends from the portmapper's socket: lockd accepts reserved ports only */
static void tell(void *context, uint32_t program, uint32_t version, const uint8_t *call, size_t length)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	(void)context;
	to.sin_port = htons((uint16_t)portmap_port(&map, program, version, PORTMAP_UDP));
	if (!to.sin_port || sendto(transport.services[0].udp, call, length, 0, (struct sockaddr *)&to, sizeof to) < 0)
		log_line("the lock manager cannot be told that a client was restarted: its locks stay");
}

/* "THREADS +2,+3,-4 ..." */
static bool offers_version_4(const char *line)
{
	char threads[8], versions[32];

	return words_next(&line, threads, sizeof threads) > 0 && words_next(&line, versions, sizeof versions) > 0 &&
	       strstr(versions, "+4");
}

static void read_line(void *context, const char *line)
{
	const char *wrong;
	char word[16];

	(void)context;
	if (words_next(&line, word, sizeof word) < 0)
		return;
	if (!strcmp(word, "nfsd"))
		exports.version_4 = offers_version_4(line);
	if (strcmp(word, "export"))
		return;
	wrong = exports_add(&exports, line);
	if (!wrong && !kernel_has_disk_at(exports.rules[exports.count - 1].path)) {
		exports.count--;
		wrong = "no disk is mounted there";
	}
	if (wrong)
		log_line("an export is left out: %s:%s", wrong, line);
}

static void announce(void)
{
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
		for (uint32_t version = programs[i].lowest; version <= programs[i].highest; version++) {
			struct portmap_entry entry = { programs[i].number, version, PORTMAP_TCP, ports[i] };

			portmap_set(&map, &entry);
			entry.protocol = PORTMAP_UDP;
			portmap_set(&map, &entry);
		}
}

int exportd_main(int count, char **arguments)
{
	(void)count;
	(void)arguments;
	log_open("exportd");
	signal(SIGPIPE, SIG_IGN);
	settings_read(SETTINGS, read_line, NULL);
	announce();
	/*
	 * Before any client can connect. While a server registers a socket with the portmapper, it holds the lock of
	 * all its files; reading them then would deadlock.
	 */
	served_learn(&map);
	transport_init(&transport);
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
		if (!transport_serve(&transport, &programs[i], ports[i]))
			return 1;
	if (!kernel_open(transport.files))
		return 1;
	transport.file_count = CACHES;
	transport.readable = question;
	statd.tell = tell;
	log_line("%zu rule%s for exports%s", exports.count, exports.count == 1 ? "" : "s",
		 exports.count ? "" : ": nothing is exported");
	for (;;)
		transport_step(&transport, -1);
}
