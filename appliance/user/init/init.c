// SPDX-License-Identifier: Apache-2.0
/* The first process */
#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "disks.h"
#include "log.h"
#include "mirror.h"
#include "network.h"
#include "nfsd.h"
#include "services.h"
#include "settings.h"
#include "settle.h"

enum { ADDRESS_MS = 10000 };

static void mount_all(void)
{
	static const struct {
		const char *kind, *folder, *options;
	} all[] = {
		{ "proc", "/proc", NULL },
		{ "sysfs", "/sys", NULL },
		{ "devtmpfs", "/dev", NULL },
		{ "devpts", "/dev/pts", "mode=0620" },
		{ "tmpfs", "/run", "mode=0755,size=1m" },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		mkdir(all[i].folder, 0755);
		/* The kernel may have mounted /dev, or lack session terminals */
		if (mount(all[i].kind, all[i].folder, all[i].kind, MS_NOSUID | MS_NOEXEC, all[i].options) &&
		    errno != EBUSY)
			log_line("%s: %s", all[i].folder, strerror(errno));
	}
}

/* True if the kernel's command line has the word */
static bool was_told(const char *word)
{
	char line[2048];
	int file = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t length = file < 0 ? 0 : read(file, line, sizeof line - 1);

	if (file >= 0)
		close(file);
	line[length > 0 ? length : 0] = '\0';
	for (char *found = strtok(line, " \n"); found; found = strtok(NULL, " \n"))
		if (!strcmp(found, word))
			return true;
	return false;
}

static void say_ready(void)
{
	struct timespec time;

	if (!settle_wait_address(ADDRESS_MS))
		log_line("there is no address yet");
	clock_gettime(CLOCK_BOOTTIME, &time);
	log_line("ready %ld.%03ld s after the kernel began", (long)time.tv_sec, time.tv_nsec / 1000000);
}

__attribute__((noreturn)) static void leave(int how)
{
	log_line("going down");
	nfsd_stop();
	services_stop();
	disks_leave();
	mirror_stop_all();
	log_line("down");
	/* A machine that cannot power off can restart, which ends its emulator */
	if (how == RB_POWER_OFF && was_told("nas.off=restart"))
		how = RB_AUTOBOOT;
	reboot(how);
	for (;;)
		pause();
}

/* The signals of busybox's halt, poweroff and reboot */
static void serve(const sigset_t *signals)
{
	struct timespec second = { 1, 0 };

	for (;;) {
		int status, number = sigtimedwait(signals, NULL, &second);
		pid_t pid;

		if (number == SIGUSR2)
			leave(RB_POWER_OFF);
		if (number == SIGUSR1)
			leave(RB_HALT_SYSTEM);
		if (number == SIGTERM || number == SIGINT)
			leave(RB_AUTOBOOT);
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
			services_ended(pid);
		services_start();
	}
}

int init_main(int count, char **arguments)
{
	sigset_t signals;

	(void)count;
	(void)arguments;
	if (getpid() != 1) {
		fputs("init: is the first process or nothing\n", stderr);
		return 1;
	}
	sigemptyset(&signals);
	for (size_t i = 0; i < 5; i++)
		sigaddset(&signals, (int[]) { SIGCHLD, SIGUSR1, SIGUSR2, SIGTERM, SIGINT }[i]);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	umask(022);
	setenv("PATH", "/bin:/sbin", 1);
	setenv("HOME", "/", 1);
	mount_all();
	log_open("nas");
	reboot(RB_DISABLE_CAD);
	network_loopback();
	settings_read(SETTINGS, settle_line, NULL);
	if (mount("", "/", NULL, MS_REMOUNT | MS_RDONLY, NULL))
		log_line("the root stays writable: %s", strerror(errno));
	services_start();
	say_ready();
	serve(&signals);
	return 0;
}
