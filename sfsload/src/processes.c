// SPDX-License-Identifier: Apache-2.0
/* Each process reports readiness by a pipe of its own; all start when the parent closes another */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interrupt.h"
#include "message.h"
#include "processes.h"

struct child {
	pid_t pid;
	int ready;
};

static void make_pipe(int *ends)
{
	if (pipe(ends))
		end_with(EXIT_HOST, "pipe: %s", strerror(errno));
}

/* poll() then wakes on time, instead of up to 50 us late */
static void sleep_exactly(void)
{
	prctl(PR_SET_TIMERSLACK, 1);
}

/* Shared by the load processes, not by their parent: it reports the fate of a process that could not */
static atomic_flag *make_flag(void)
{
	atomic_flag *flag = mmap(NULL, sizeof(*flag), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (flag == MAP_FAILED)
		end_with(EXIT_HOST, "no memory for %zu bytes: %s", sizeof(*flag), strerror(errno));
	atomic_flag_clear(flag);
	return flag;
}

__attribute__((noreturn))
static void live(const struct process_work *work, uint32_t process, int ready, int go)
{
	char byte = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	interrupt_ignore();
	interrupt_release();
	sleep_exactly();
	work->prepare(work->context, process);
	if (write(ready, &byte, 1) != 1)
		end_with(EXIT_HOST, "pipe: %s", strerror(errno));
	while (read(go, &byte, 1) < 0 && errno == EINTR)
		;
	work->run(work->context, process);
	_exit(0);
}

static void end_children(const struct child *children, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (children[i].pid > 0)
			kill(children[i].pid, SIGKILL);
}

static void start(const struct process_work *work, struct child *children, const int *go, atomic_flag *flag)
{
	for (uint32_t i = 0; i < work->count; i++) {
		int ready[2];

		make_pipe(ready);
		children[i].pid = fork();
		if (children[i].pid < 0) {
			int error = errno;

			end_children(children, i);
			end_with(EXIT_HOST, "fork: %s", strerror(error));
		}
		if (!children[i].pid) {
			close(go[1]);
			close(ready[0]);
			say_once(flag);
			live(work, i, ready[1], go[0]);
		}
		close(ready[1]);
		children[i].ready = ready[0];
	}
}

/* The exit status if the program has to end; the child has printed the reason */
static int wait_for(struct child *child)
{
	int status = 0;

	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	child->pid = 0;
	if (WIFSIGNALED(status))
		end_with(EXIT_HOST, "a load process was ended by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

void processes_run(const struct process_work *work)
{
	static struct child *children; /* static: an early exit does not leak it, for the sanitizers */
	atomic_flag *flag = make_flag();
	int go[2], status;
	char byte;

	children = allocate(work->count, sizeof(*children));
	fflush(NULL); /* otherwise each child would write the buffered output again */
	make_pipe(go);
	signal(SIGCHLD, SIG_DFL); /* if an ignored SIGCHLD is inherited, the exit of a load process goes unnoticed */
	interrupt_hold();
	start(work, children, go, flag);
	interrupt_release();
	close(go[0]);
	for (uint32_t i = 0; i < work->count; i++) {
		if (read(children[i].ready, &byte, 1) != 1) {
			status = wait_for(&children[i]);
			end_children(children, work->count);
			exit(status ? status : EXIT_HOST);
		}
		close(children[i].ready);
	}
	if (work->begin)
		work->begin(work->context);
	close(go[1]);
	for (uint32_t i = 0; i < work->count; i++) {
		status = wait_for(&children[i]);
		if (status) {
			end_children(children, work->count);
			exit(status);
		}
	}
	munmap(flag, sizeof(*flag));
	free(children);
}
