// SPDX-License-Identifier: Apache-2.0
/* Services */
#include "services.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "monotonic.h"
#include "words.h"

enum { WORD = 128, SOON_S = 1, STOP_MS = 2000 };

struct running {
	char words[SERVICE_WORDS][WORD];
	int count;
	bool console;
	void (*run)(void);
	pid_t pid; /* 0: not running */
	time_t begun;
};

static struct running services[SERVICES_MOST];
static int count;

void service_add(const char *line, bool console)
{
	struct running *service = &services[count];

	if (count == SERVICES_MOST) {
		log_line("more than %d services: left out: %s", SERVICES_MOST, line);
		return;
	}
	while (service->count < SERVICE_WORDS && words_next(&line, service->words[service->count], WORD) > 0)
		service->count++;
	service->console = console;
	service->begun = -1 - SOON_S;
	if (service->count)
		count++;
}

void service_add_function(const char *name, void (*run)(void))
{
	service_add(name, false);
	services[count - 1].run = run;
}

static void take_console(void)
{
	int console = open("/dev/console", O_RDWR);

	setsid();
	if (console < 0)
		return;
	ioctl(console, TIOCSCTTY, 1);
	for (int handle = 0; handle < 3; handle++)
		dup2(console, handle);
	if (console > 2)
		close(console);
}

/*
 * If memory runs out, the kernel should kill other processes first: a service has less than half a megabyte, and takes
 * time to restart. It is not exempt: if nothing else is left, the kernel may kill it.
 */
static void keep_from_killer(void)
{
	static const char LAST[] = "-900";
	int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (file >= 0 && write(file, LAST, strlen(LAST)) < 0)
		log_line("oom_score_adj: %s", strerror(errno));
	if (file >= 0)
		close(file);
}

static void run(struct running *service)
{
	char *arguments[SERVICE_WORDS + 1] = { NULL };
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (service->console) {
		take_console();
	} else {
		setsid();
		keep_from_killer();
	}
	if (service->run) {
		service->run();
		_exit(1);
	}
	for (int i = 0; i < service->count; i++)
		arguments[i] = service->words[i];
	execv(arguments[0], arguments);
	log_line("%s: %s", arguments[0], strerror(errno));
	_exit(127);
}

void services_start(void)
{
	for (int i = 0; i < count; i++) {
		struct running *service = &services[i];

		if (service->pid || now_s() - service->begun <= SOON_S)
			continue;
		service->begun = now_s();
		service->pid = fork();
		if (!service->pid)
			run(service);
		if (service->pid < 0) {
			log_line("%s: %s", service->words[0], strerror(errno));
			service->pid = 0;
		}
	}
}

void services_ended(int pid)
{
	for (int i = 0; i < count; i++)
		if (services[i].pid == pid) {
			services[i].pid = 0;
			if (!services[i].console)
				log_line("%s has ended; it is started again", services[i].words[0]);
		}
}

void services_stop(void)
{
	kill(-1, SIGTERM);
	kill(-1, SIGHUP); /* shells ignore the other signal */
	for (int waited = 0; waited < STOP_MS; waited += 20) {
		pid_t ended;

		while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (ended < 0)
			return; /* no child is left; kill(-1, 0) would count the kernel's threads too */
		usleep(20000);
	}
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		;
}
