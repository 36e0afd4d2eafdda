/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another process, with the file open through one of the mounts. It has to be a process of its own, since locks belong to
 * processes; by the other mount, since else its kernel would know the answer without asking the server.
 */
#ifndef STRANGER_H
#define STRANGER_H

#include <stdbool.h>
#include <sys/types.h>

struct stranger {
	int to, from;
	pid_t pid;
};

/* Of this process: fcntl's own answers, and whether a lock is refused because another has it */
int set_lock(int file, short type, off_t start, off_t length, int how);
short who_holds(int file, off_t start, off_t length);
bool is_refused(int file, short type, off_t start, off_t length);

bool begin_stranger(struct stranger *stranger, const char *path);

/* `what`: l: lock, without waiting; w: lock; r: is it refused?; h: which lock is in the way?; c: close the file */
bool ask(const struct stranger *stranger, char what, short type, off_t start, off_t length);
bool answers_within(const struct stranger *stranger, int wait_ms);
int answer(const struct stranger *stranger);
int other(const struct stranger *stranger, char what, short type, off_t start, off_t length);

bool end_stranger(const struct stranger *stranger);
bool kill_stranger(const struct stranger *stranger);

#endif
