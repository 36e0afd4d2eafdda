// SPDX-License-Identifier: Apache-2.0
/* The end of all services, as process 1 of a name space of the test's own */
#include "services.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

enum { FINE, SLOW, REFUSED };

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int stop_as_process_1(void)
{
	double begun = seconds();

	if (getpid() != 1) /* kill(-1) would reach the host's processes */
		return REFUSED;
	services_stop();
	return seconds() - begun < 1 ? FINE : SLOW;
}

/* Beside a process that is no child of process 1's, hears no signal and never ends, as threads of the kernel are */
static int stop_beside_an_unrelated_process(void)
{
	int status, how = 0, go[2];
	pid_t init, unrelated, ended;
	char byte;

	if (unshare(CLONE_NEWUSER | CLONE_NEWPID) || pipe(go))
		return REFUSED;
	init = fork();
	if (!init)
		_exit(read(go[0], &byte, 1) == 1 ? stop_as_process_1() : REFUSED);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	unrelated = fork();
	while (!unrelated)
		pause();
	if (init < 0 || unrelated < 0 || write(go[1], "", 1) != 1)
		return REFUSED;
	while ((ended = wait(&status)) > 0) /* a name space ends only when all its processes are waited for */
		if (ended == init)
			how = status;
	return WIFEXITED(how) ? WEXITSTATUS(how) : REFUSED;
}

static void nobody_waits_for_the_kernels_threads(void)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(stop_beside_an_unrelated_process());
	CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
	if (WEXITSTATUS(status) == REFUSED)
		puts("  not run: this host refuses name spaces");
	else
		CHECK_EQUAL(FINE, (uint64_t)WEXITSTATUS(status));
}

const struct test services_tests[] = {
	TEST(nobody_waits_for_the_kernels_threads),
	END_OF_TESTS,
};
