// SPDX-License-Identifier: Apache-2.0
/*
 * calls: system calls that are hard to follow. Threads write files, a child is spawned in the parent's memory, a signal
 * restarts a read, and numbers that no call has look like notes of the emulator or like exit in their lowest 16 bits.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3 };

static const long no_calls[] = { 0xffff, 0xfffe, 0xfffd, 0x1005d, 0x1005e, 0x100dc, 0x7fff003f };

static int ends[2];

static void put(const char *name, size_t bytes)
{
	int file = open(name, O_WRONLY | O_CREAT, 0644);

	if (file < 0 || write(file, "0123456789", bytes) != (ssize_t)bytes || close(file))
		exit(1);
}

static void *in_thread(void *number)
{
	char name[32];

	snprintf(name, sizeof(name), "/mnt/thread.%ld", (long)number);
	put(name, 1 + (long)number);
	return NULL;
}

static void *forever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void feed(int signal)
{
	if (write(ends[1], "x", 1) != 1)
		_exit(2);
	(void)signal;
}

int main(void)
{
	struct sigaction action = { .sa_handler = feed, .sa_flags = SA_RESTART };
	struct itimerval soon = { .it_value.tv_usec = 5000 };
	char *words[] = { "busybox", "true", NULL };
	pthread_t threads[THREADS], waiting;
	pid_t child;
	char byte;

	for (size_t i = 0; i < sizeof(no_calls) / sizeof(no_calls[0]); i++)
		if (syscall(no_calls[i], 0, 0, 0) != -1)
			return 3;
	put("/mnt/first", 4);
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, in_thread, (void *)i))
			return 4;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	if (posix_spawn(&child, "/bin/busybox", NULL, NULL, words, NULL) || waitpid(child, NULL, 0) != child)
		return 5;
	if (pipe(ends) || sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &soon, NULL) ||
	    read(ends[0], &byte, 1) != 1)
		return 6;
	if (pthread_create(&waiting, NULL, forever, NULL))
		return 7;
	usleep(1000);
	put("/mnt/last", 5);
	return 0;
}
