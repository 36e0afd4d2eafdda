// SPDX-License-Identifier: Apache-2.0
/*
 * launch: runs commands of a user's in a root directory of their own, several at once (docs/programs.md).
 *
 *	launch STEP ROOT LIMIT_S NAME=VALUE... [-- START_MS STOP NICE NAME=VALUE... -c COMMAND]...
 *
 * The shell of ROOT runs each COMMAND, START_MS after the beginning. STOP is the time in ms at which the command gets
 * SIGTERM, "end" (when all commands with "-" have ended), or "-". The variables are all that a command's environment
 * has. What it prints goes to /out/output.STEP, of several commands to /out/output.STEP.NUMBER.
 *
 * It ends when the commands have ended. Programs that they left behind are killed. If a command fails, or if the commands
 * take longer than LIMIT_S, all are killed, the first line of the output says why, and launch fails.
 *
 * /out/launched gets a line for each command of the step "measure": status, begin and end in ns, CPU time in us, and
 * the largest resident set of one of its processes in KiB.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load.h"

enum {
	MAX_COMMANDS = 64,
	MAX_VARIABLES = 256,
	SHOWN = 60, /* of a command, in messages */
	TAIL = 4096, /* of its output */
	LATE = 124, /* exit status */
	BROKEN = 125, /* exit status: launch itself failed */
};

#define NEVER UINT64_MAX
#define NS_PER_MS UINT64_C(1000000)
#define KILL_AFTER_NS (10 * NS_PER_S)

struct command {
	const char *text;
	char *variables[MAX_VARIABLES + 1];
	uint64_t start_ns, stop_ns, begin_ns, end_ns; /* the first two since launch began */
	bool at_end; /* stopped when the others have ended */
	bool asked; /* to end */
	bool ended;
	int nice, status;
	pid_t pid;
	struct rusage used;
};

static struct command commands[MAX_COMMANDS];
static int count;
static const char *step, *root;
static char *common[MAX_VARIABLES + 1];
static int commons;

static void die(const char *what)
{
	printf("error: launch: %s: %s\n", what, strerror(errno));
	exit(BROKEN);
}

static char *output_of(const struct command *command)
{
	static char path[64];

	if (count == 1)
		snprintf(path, sizeof(path), "/out/output.%s", step);
	else
		snprintf(path, sizeof(path), "/out/output.%s.%d", step, (int)(command - commands) + 1);
	return path;
}

/* Parse the commands; false if the words are not as described above. */
static bool parsed(int words, char **word)
{
	int at = 0;

	for (; at < words && strcmp(word[at], "--"); at++) {
		if (commons == MAX_VARIABLES / 2)
			return false;
		common[commons++] = word[at];
	}
	while (at < words) {
		struct command *command = &commands[count++];
		int variables = commons;

		if (count > MAX_COMMANDS || words - at < 6)
			return false;
		command->start_ns = number(word[at + 1]) * NS_PER_MS;
		command->at_end = !strcmp(word[at + 2], "end");
		command->stop_ns = command->at_end || !strcmp(word[at + 2], "-") ? NEVER : number(word[at + 2]) * NS_PER_MS;
		command->nice = atoi(word[at + 3]);
		memcpy(command->variables, common, sizeof(common));
		for (at += 4; at < words && strcmp(word[at], "-c"); at++) {
			if (variables == MAX_VARIABLES)
				return false;
			command->variables[variables++] = word[at];
		}
		if (words - at < 2)
			return false;
		command->text = word[at + 1];
		at += 2;
	}
	return count > 0;
}

static void become(struct command *command)
{
	char *const words[] = { "sh", "-c", (char *)command->text, NULL };
	int out = open(output_of(command), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
	int in = open("/dev/null", O_RDONLY);
	sigset_t none;

	sigemptyset(&none);
	if (out < 0 || in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		_exit(BROKEN);
	close(in);
	close(out);
	if (setpgid(0, 0) || setpriority(PRIO_PROCESS, 0, command->nice) || sigprocmask(SIG_SETMASK, &none, NULL) ||
	    chroot(root) || chdir("/"))
		_exit(BROKEN);
	execve("/bin/sh", words, command->variables);
	_exit(BROKEN);
}

static void start(struct command *command)
{
	command->begin_ns = now_ns();
	command->pid = fork();
	if (command->pid < 0)
		die("fork");
	if (command->pid == 0)
		become(command);
}

/* Kill all children. Orphans of their descendants become children, as launch is their subreaper. */
static void kill_all(void)
{
	for (;;) {
		DIR *processes = opendir("/proc");
		struct dirent *entry;

		if (!processes)
			die("/proc");
		while ((entry = readdir(processes))) {
			char path[300], line[512] = "";
			FILE *file;
			int parent = 0;

			snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
			if (atoi(entry->d_name) <= 0 || !(file = fopen(path, "r")))
				continue;
			if (fgets(line, sizeof(line), file) && strrchr(line, ')'))
				sscanf(strrchr(line, ')'), ") %*c %d", &parent);
			fclose(file);
			if (parent == getpid())
				kill(atoi(entry->d_name), SIGKILL);
		}
		closedir(processes);
		if (waitpid(-1, NULL, 0) < 0)
			return;
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}

/* The last line of a command's output that is not empty */
static const char *last_line(struct command *command)
{
	static char tail[TAIL + 1];
	FILE *file = fopen(output_of(command), "r");
	size_t size = 0;
	char *line;

	if (file) {
		if (fseek(file, -TAIL, SEEK_END))
			rewind(file);
		size = fread(tail, 1, TAIL, file);
		fclose(file);
	}
	while (size && (tail[size - 1] == '\n' || tail[size - 1] == ' '))
		size--;
	tail[size] = '\0';
	line = strrchr(tail, '\n');
	return line ? line + 1 : tail;
}

static const char *hint(const char *line)
{
	static const char *const network[] = { "Network is unreachable", "name resolution", "resolve host", "service not known",
					       "Network unreachable" };
	static const char *const processes[] = { "annot fork", "Resource temporarily unavailable" };

	for (size_t i = 0; i < sizeof(network) / sizeof(*network); i++)
		if (strstr(line, network[i]))
			return " (guests have no network)";
	for (size_t i = 0; i < sizeof(processes) / sizeof(*processes); i++)
		if (strstr(line, processes[i]))
			return " (the guest has no room for more processes)";
	return "";
}

/* Say what became of a command (nothing for a status, which guest/steps says), and what it printed last. */
static void complain(struct command *command, const char *format, ...)
{
	const char *line = last_line(command);
	va_list values;

	printf("error: %.*s%s: ", SHOWN, command->text, strlen(command->text) > SHOWN ? "..." : "");
	va_start(values, format);
	vprintf(format, values);
	va_end(values);
	printf("%s%s%s\n", *format && *line ? ": " : "", line, hint(line));
	fflush(stdout);
}

static void end(pid_t pid, int status, const struct rusage *used)
{
	for (int i = 0; i < count; i++) {
		struct command *command = &commands[i];

		if (command->pid != pid || command->ended)
			continue;
		command->ended = true;
		command->end_ns = now_ns();
		command->status = status;
		command->used = *used;
	}
}

static bool is_bad(const struct command *command)
{
	return command->ended && !command->asked && command->status;
}

static int failure(struct command *command)
{
	int status = command->status;

	kill_all();
	if (WIFSIGNALED(status)) {
		complain(command, "killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
		return 128 + WTERMSIG(status);
	}
	if (*last_line(command))
		complain(command, "");
	else if (WEXITSTATUS(status) == BROKEN)
		complain(command, "could not be started in %s", root);
	else
		complain(command, "printed nothing");
	return WEXITSTATUS(status);
}

static void report(void)
{
	FILE *file = fopen("/out/launched", "w");

	if (!file)
		die("/out/launched");
	for (int i = 0; i < count; i++) {
		struct command *one = &commands[i];
		uint64_t user_us = (uint64_t)one->used.ru_utime.tv_sec * 1000000 + (uint64_t)one->used.ru_utime.tv_usec;
		uint64_t system_us = (uint64_t)one->used.ru_stime.tv_sec * 1000000 + (uint64_t)one->used.ru_stime.tv_usec;

		fprintf(file, "%d %" PRIu64 " %" PRIu64 " %" PRIu64 " %ld\n", one->status, one->begin_ns, one->end_ns,
			user_us + system_us, one->used.ru_maxrss);
	}
	if (fclose(file))
		die("/out/launched");
}

/* Ask a command to end; if it does not, kill it. */
static void stop(struct command *command, uint64_t now)
{
	kill(-command->pid, command->asked ? SIGKILL : SIGTERM);
	command->asked = true;
	command->at_end = false;
	command->stop_ns = now + KILL_AFTER_NS;
}

/* Start and stop what is due. Return when the next is, since launch began; NEVER if all have ended. */
static uint64_t due(uint64_t now)
{
	uint64_t next = NEVER;
	bool others = false, left = false;

	for (int i = 0; i < count; i++) {
		struct command *command = &commands[i];

		if (!command->pid && command->start_ns <= now)
			start(command);
		if (command->pid && !command->ended && command->stop_ns <= now)
			stop(command, now);
		if (!command->ended && !command->at_end)
			others = true;
	}
	for (int i = 0; i < count; i++) {
		struct command *command = &commands[i];

		if (command->at_end && !others) {
			if (command->pid && !command->ended)
				stop(command, now);
			else
				command->ended = true; /* it would have begun later */
		}
		if (command->ended)
			continue;
		left = true;
		if (!command->pid && command->start_ns < next)
			next = command->start_ns;
		if (command->pid && command->stop_ns < next)
			next = command->stop_ns;
	}
	return left && next == NEVER ? NEVER - 1 : next;
}

int main(int words, char **word)
{
	uint64_t began = now_ns(), limit_ns;
	sigset_t child;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (words < 5 || !parsed(words - 4, word + 4)) {
		puts("error: launch: its arguments are not STEP ROOT LIMIT_S NAME=VALUE... -- ...");
		return BROKEN;
	}
	step = word[1];
	root = word[2];
	limit_ns = number(word[3]) * NS_PER_S;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) || sigprocmask(SIG_BLOCK, &child, NULL))
		die("prctl");
	for (;;) {
		uint64_t now = now_ns() - began, next = due(now);
		struct rusage used;
		bool has_changed = false;
		int status;
		pid_t pid;

		if (next == NEVER)
			break;
		while ((pid = wait4(-1, &status, WNOHANG, &used)) > 0) {
			end(pid, status, &used);
			has_changed = true;
		}
		for (int i = 0; i < count; i++)
			if (is_bad(&commands[i]))
				return failure(&commands[i]);
		now = now_ns() - began;
		if (now >= limit_ns) {
			kill_all();
			for (int i = 0; i < count; i++)
				if (!commands[i].ended) {
					complain(&commands[i], "still runs after %" PRIu64 " s of the guest's time (limit)",
						 limit_ns / NS_PER_S);
					break;
				}
			return LATE;
		}
		next = next < limit_ns ? next : limit_ns;
		if (!has_changed && next > now) {
			struct timespec wait = { (time_t)((next - now) / NS_PER_S), (long)((next - now) % NS_PER_S) };

			sigtimedwait(&child, NULL, &wait);
		}
	}
	kill_all();
	if (!strcmp(step, "measure"))
		report();
	return 0;
}
