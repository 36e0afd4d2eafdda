// SPDX-License-Identifier: Apache-2.0
/* Another process that locks when it is told to */
#include "stranger.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

struct question {
	char what;
	short type;
	off_t start, length;
};

int set_lock(int file, short type, off_t start, off_t length, int how)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length };

	return fcntl(file, how, &lock);
}

short who_holds(int file, off_t start, off_t length)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length };

	return fcntl(file, F_GETLK, &lock) ? -1 : lock.l_type;
}

bool is_refused(int file, short type, off_t start, off_t length)
{
	return set_lock(file, type, start, length, F_SETLK) && (errno == EAGAIN || errno == EACCES);
}

static int carry_out(int file, const struct question *asked)
{
	switch (asked->what) {
	case 'h':
		return who_holds(file, asked->start, asked->length);
	case 'r':
		return is_refused(file, asked->type, asked->start, asked->length);
	case 'c':
		return close(file);
	default:
		return set_lock(file, asked->type, asked->start, asked->length, asked->what == 'w' ? F_SETLKW : F_SETLK) ?
			       -errno :
			       0;
	}
}

bool begin_stranger(struct stranger *stranger, const char *path)
{
	int to[2], from[2], file;
	struct question asked;

	if (pipe(to) || pipe(from))
		return false;
	stranger->to = to[1];
	stranger->from = from[0];
	stranger->pid = fork();
	if (stranger->pid)
		return !close(to[0]) && !close(from[1]) && stranger->pid > 0;
	for (int handle = 3; handle < 64; handle++) /* ends of others' pipes, too */
		if (handle != to[0] && handle != from[1])
			close(handle);
	file = open(path, O_RDWR);
	while (read(to[0], &asked, sizeof asked) == sizeof asked) {
		int value = carry_out(file, &asked);

		if (write(from[1], &value, sizeof value) < 0)
			break;
	}
	_exit(0);
}

bool ask(const struct stranger *stranger, char what, short type, off_t start, off_t length)
{
	struct question asked = { what, type, start, length };

	return write(stranger->to, &asked, sizeof asked) == sizeof asked;
}

bool answers_within(const struct stranger *stranger, int wait_ms)
{
	struct pollfd polled = { stranger->from, POLLIN, 0 };

	return poll(&polled, 1, wait_ms) == 1;
}

int answer(const struct stranger *stranger)
{
	int value = -1000;

	return read(stranger->from, &value, sizeof value) == sizeof value ? value : -1000;
}

int other(const struct stranger *stranger, char what, short type, off_t start, off_t length)
{
	return ask(stranger, what, type, start, length) ? answer(stranger) : -1000;
}

static bool forget(const struct stranger *stranger)
{
	int status;

	return !close(stranger->to) && !close(stranger->from) && waitpid(stranger->pid, &status, 0) == stranger->pid;
}

bool end_stranger(const struct stranger *stranger)
{
	return forget(stranger);
}

bool kill_stranger(const struct stranger *stranger)
{
	return !kill(stranger->pid, SIGKILL) && forget(stranger);
}
