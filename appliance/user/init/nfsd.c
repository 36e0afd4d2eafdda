// SPDX-License-Identifier: Apache-2.0
/* Starts and stops the kernel's NFS server, through its file system */
#include "nfsd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "words.h"

enum { PORT = 2049, WAITING = 64, PORTMAPPER = 111, TRIES = 500 };

/* The version 4 client records: in memory, so that a restart drops them */
#define CLIENTS "/run/nfs4-clients"
#define LOCK_PORT "32768" /* the module's value, from src/flashbed_appliance/nas/compiling.py */

static bool tell(const char *name, const char *text)
{
	char path[64];
	int file;
	bool done;

	snprintf(path, sizeof path, "/proc/fs/nfsd/%s", name);
	file = open(path, O_WRONLY | O_CLOEXEC);
	done = file >= 0 && write(file, text, strlen(text)) >= 0;
	if (!done)
		log_line("%s does not take %.*s: %s", path, (int)strcspn(text, "\n"), text, strerror(errno));
	if (file >= 0)
		close(file);
	return done;
}

/* A built-in lock manager has no module parameter for its port; a module has got the same port by its parameter */
static void set_lock_ports(void)
{
	static const char *const files[] = { "/sys/module/lockd/parameters/nlm_tcpport",
					     "/sys/module/lockd/parameters/nlm_udpport" };

	for (int i = 0; i < 2; i++) {
		int file = open(files[i], O_WRONLY | O_CLOEXEC);

		if (file >= 0 && write(file, LOCK_PORT, strlen(LOCK_PORT)) < 0)
			log_line("%s: %s", files[i], strerror(errno));
		if (file >= 0)
			close(file);
	}
}

/* A version that the kernel lacks cannot be disabled, and need not be */
static void leave_out(const char *text)
{
	int file = open("/proc/fs/nfsd/versions", O_WRONLY | O_CLOEXEC);

	if (file >= 0 && write(file, text, strlen(text)) < 0)
		errno = 0;
	if (file >= 0)
		close(file);
}

/* Sets versions one by one: a kernel without some of them serves the others. False if it has none. */
static bool set_versions(char *list)
{
	char text[16];
	bool any = false;

	for (char *version = strtok(list, ","); version; version = strtok(NULL, ",")) {
		snprintf(text, sizeof text, "%s\n", version);
		if (version[0] == '+' && tell("versions", text))
			any = true;
		else if (version[0] == '-')
			leave_out(text);
	}
	return any;
}

/*
 * The server registers each socket with the portmapper at once, and refuses the socket on failure. exportd has just
 * been started and may not listen yet, so this waits for it up to five seconds.
 */
static bool portmapper_listens(void)
{
	struct sockaddr_in there = { .sin_family = AF_INET, .sin_port = htons(PORTMAPPER) };
	struct timespec pause = { .tv_nsec = 10000000 };
	bool found = false;

	there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (int i = 0; i < TRIES && !found; i++) {
		int handle = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		found = handle >= 0 && !connect(handle, (struct sockaddr *)&there, sizeof there);
		if (handle >= 0)
			close(handle);
		if (!found)
			nanosleep(&pause, NULL);
	}
	if (!found)
		log_line("port %d: nobody listens", PORTMAPPER);
	return found;
}

/*
 * Passes a socket to the server. If it got a port instead, the kernel would open the socket itself, but not register it
 * with the portmapper.
 */
static bool listen_on(const char *transport)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	bool tcp = !strcmp(transport, "tcp");
	int handle = socket(AF_INET, (tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0), yes = 1;
	char text[16];
	bool done = handle >= 0;

	if (done && tcp)
		setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	done = done && !bind(handle, (struct sockaddr *)&any, sizeof any) && (!tcp || !listen(handle, WAITING));
	if (!done)
		log_line("port %d, %s: %s", PORT, transport, strerror(errno));
	snprintf(text, sizeof text, "%d\n", handle);
	done = done && tell("portlist", text);
	if (handle >= 0)
		close(handle); /* the server keeps it */
	return done;
}

/*
 * After a start the kernel denies opens for 90 s, while recorded clients reclaim their state. There are no records
 * here, so this ends the grace period; the kernel accepts that only from a server that keeps records.
 */
static void keep_clients_in_memory(void)
{
	mkdir(CLIENTS, 0700);
	tell("nfsv4recoverydir", CLIENTS "\n");
}

static void end_wait(void)
{
	tell("v4_end_grace", "Y\n");
}

bool nfsd_start(const char *line)
{
	char threads[8], versions[32], transport[8], text[24];
	bool version_4;

	if (words_next(&line, threads, sizeof threads) <= 0 || words_next(&line, versions, sizeof versions) <= 0)
		return false;
	if (mount("nfsd", "/proc/fs/nfsd", "nfsd", MS_NODEV | MS_NOSUID | MS_NOEXEC, NULL) && errno != EBUSY) {
		log_line("/proc/fs/nfsd: %s; has the kernel an NFS server?", strerror(errno));
		return false;
	}
	version_4 = strstr(versions, "+4") != NULL; /* before strtok() cuts them */
	if (!set_versions(versions) || !portmapper_listens())
		return false;
	set_lock_ports();
	if (version_4)
		keep_clients_in_memory();
	while (words_next(&line, transport, sizeof transport) > 0)
		if (!listen_on(transport))
			return false;
	snprintf(text, sizeof text, "%s\n", threads);
	if (!tell("threads", text))
		return false;
	if (version_4)
		end_wait();
	return true;
}

void nfsd_stop(void)
{
	if (!access("/proc/fs/nfsd/threads", W_OK))
		tell("threads", "0\n");
}
