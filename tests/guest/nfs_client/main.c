// SPDX-License-Identifier: Apache-2.0
/*
 * Asks an NFS server, through Linux's own client, what test suites of NFS ask.
 *
 *	nfs_client SERVER EXPORT FILES OPTIONS OPTIONS [cuts]
 *
 * Mounts the export twice, each with OPTIONS of its own and without anything shared, so that the second is a stranger to
 * the first. FILES are in the largest folder. With "cuts" it works until a line comes on the console, and takes it that the
 * server's power goes meanwhile. Prints "ok NAME" a case, "FAILED NAME LINE ERROR" for one that failed, and
 * "all done" at the end; then the machine goes down. Each case is a process, so that one that hangs or breaks takes no
 * other with it.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cases.h"

enum { CASE_S = 1200, MOUNT_TRIES = 60, PAUSE_NS = 20000000 };

int nfs_version, many;
const char *server_address;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void report(const char *name, int line)
{
	if (line)
		printf("FAILED %s line %d: %s\n", name, line, strerror(errno));
	else
		printf("ok %s\n", name);
	fflush(stdout);
}

static void run_case(const struct nfs_case *one)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	double begun = now();
	int status;
	pid_t child = fork();

	if (!child) {
		setpgid(0, 0);
		report(one->name, one->run());
		_exit(0);
	}
	setpgid(child, child);
	while (!waitpid(child, &status, WNOHANG) && now() < begun + CASE_S)
		nanosleep(&pause, NULL);
	if (now() >= begun + CASE_S)
		printf("FAILED %s takes longer than %d s\n", one->name, CASE_S);
	else if (!WIFEXITED(status))
		printf("FAILED %s signal %d\n", one->name, WTERMSIG(status));
	kill(-child, SIGKILL);
	printf("took %s %.1f s\n", one->name, now() - begun);
	fflush(stdout);
	while (waitpid(-1, &status, WNOHANG) > 0)
		;
}

static int mount_at(const char *folder, const char *export, const char *options)
{
	char from[256], all[512];
	int tries = 0;

	snprintf(from, sizeof from, "%s:%s", server_address, export);
	snprintf(all, sizeof all, "%s,nosharecache,addr=%s", options, server_address);
	mkdir(folder, 0755);
	while (mount(from, folder, "nfs", 0, all)) {
		if (++tries == MOUNT_TRIES)
			return __LINE__;
		sleep(1); /* the server may not be there yet */
	}
	return 0;
}

static void run_kind(const struct nfs_case *one)
{
	for (; one->name; one++)
		run_case(one);
}

static void run_all(const char *options)
{
	static const struct nfs_case *const kinds[] = {
		basic_cases, folder_cases,	general_cases, special_cases,	 content_cases, size_cases,
		lock_cases,  far_lock_cases, waiting_cases, many_lock_cases, again_cases,	NULL,
	};

	for (int i = 0; kinds[i]; i++)
		run_kind(kinds[i]);
	if (strstr(options, "proto=udp"))
		run_kind(datagram_cases);
}

int main(int count, char **arguments)
{
	int failed = count < 6 ? __LINE__ : 0;
	const char *version = failed ? NULL : strstr(arguments[4], "vers=");

	signal(SIGPIPE, SIG_IGN); /* a stranger that died answers nothing, and a case says so */
	if (!failed) {
		server_address = arguments[1];
		many = atoi(arguments[3]);
		nfs_version = version ? atoi(version + 5) : 3;
		failed = mount_at("/run/a", arguments[2], arguments[4]);
	}
	if (!failed)
		failed = mount_at("/run/b", arguments[2], arguments[5]);
	report("mount", failed);
	if (!failed && count > 6)
		run_kind(cut_cases);
	else if (!failed)
		run_all(arguments[4]);
	umount("/run/a");
	umount("/run/b");
	puts("all done");
	fflush(stdout);
	kill(1, SIGUSR2);
	for (;;)
		pause();
}
