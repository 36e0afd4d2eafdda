// SPDX-License-Identifier: Apache-2.0
/* Runs a program, and logs its output */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"

enum { LINE = 256, NOT_STARTED = 127 };

__attribute__((noreturn)) static void become(const char *const arguments[], int output)
{
	char *words[16] = { NULL };
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	for (size_t i = 0; arguments[i] && i < sizeof words / sizeof *words - 1; i++)
		words[i] = (char *)arguments[i]; /* execv() does not modify them */
	execv(words[0], words);
	dprintf(STDERR_FILENO, "%s: %s\n", words[0], strerror(errno));
	_exit(NOT_STARTED);
}

/* Reads everything, logged or not: a full pipe would block the program */
static void hear(int input, bool tell)
{
	FILE *lines = fdopen(input, "r");
	char line[LINE];

	while (lines && fgets(line, sizeof line, lines)) {
		line[strcspn(line, "\n")] = '\0';
		if (tell && line[0])
			log_line("%s", line + strspn(line, " "));
	}
	if (lines)
		fclose(lines);
	else
		close(input);
}

int program_run(const char *const arguments[], bool tell)
{
	int ends[2], status;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC)) {
		log_line("%s: %s", arguments[0], strerror(errno));
		return -1;
	}
	child = fork();
	if (!child)
		become(arguments, ends[1]);
	if (child < 0)
		log_line("%s: %s", arguments[0], strerror(errno));
	close(ends[1]);
	hear(ends[0], tell);
	if (child < 0)
		return -1;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) && WEXITSTATUS(status) != NOT_STARTED ? WEXITSTATUS(status) : -1;
}
