// SPDX-License-Identifier: Apache-2.0
/* Many locks, and locks that people use: who has one adds to a file, and nothing of anybody is lost */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "stranger.h"

enum { LOCKS = 300, FILES = 200, WRITERS = 4, LINES = 25, LINE = 12 };

static int many_locks_of_one_file(void)
{
	int file = open(at(0, "many"), O_CREAT | O_RDWR, 0644);
	struct stranger stranger;

	MUST(file >= 0 && begin_stranger(&stranger, at(1, "many")));
	for (int i = 0; i < LOCKS; i++)
		MUST(!set_lock(file, i % 3 ? F_WRLCK : F_RDLCK, i * 2, 1, F_SETLK)); /* with a gap between each two */
	for (int i = 0; i < LOCKS; i++) {
		MUST(other(&stranger, 'r', i % 3 ? F_RDLCK : F_WRLCK, i * 2, 1) == 1);
		MUST(!(i % 3) || other(&stranger, 'h', 0, i * 2, 1) == F_WRLCK);
		MUST(other(&stranger, 'l', F_WRLCK, i * 2 + 1, 1) == 0);
	}
	for (int i = 0; i < LOCKS; i++)
		MUST(!set_lock(file, F_UNLCK, i * 2, 1, F_SETLK) && other(&stranger, 'h', 0, i * 2, 1) == F_UNLCK);
	MUST(is_refused(file, F_WRLCK, 0, 0) && other(&stranger, 'l', F_UNLCK, 0, 0) == 0);
	MUST(!set_lock(file, F_WRLCK, 0, 0, F_SETLK));
	MUST(end_stranger(&stranger) && !close(file) && !unlink(at(0, "many")));
	return 0;
}

static int locks_of_many_files(void)
{
	static int here[FILES], there[FILES];
	pid_t child;

	MUST(!mkdir(at(0, "locks"), 0755));
	for (int i = 0; i < FILES; i++) {
		here[i] = open(at(0, "locks/%d", i), O_CREAT | O_EXCL | O_RDWR, 0644);
		MUST(here[i] >= 0 && !set_lock(here[i], F_WRLCK, i, 1 + i, F_SETLK));
	}
	child = fork();
	MUST(child >= 0);
	if (!child) {
		for (int i = 0; i < FILES; i++) {
			there[i] = open(at(1, "locks/%d", i), O_RDWR);
			if (there[i] < 0 || !is_refused(there[i], F_RDLCK, 2 * i, 1) ||
			    set_lock(there[i], F_WRLCK, 2 * i + 1, 0, F_SETLK))
				_exit(1);
		}
		_exit(0);
	}
	MUST(ended_well(child));
	for (int i = 0; i < FILES; i++)
		MUST(!set_lock(here[i], F_WRLCK, 0, 0, F_SETLK) && !close(here[i]) && !unlink(at(0, "locks/%d", i)));
	MUST(!rmdir(at(0, "locks")));
	return 0;
}

/* Adds lines to one file, and counts in another: what is read under a lock is what the last holder wrote */
static int write_lines(int mount, int writer)
{
	for (int i = 0; i < LINES; i++) {
		char line[LINE + 1], number[16] = "";
		int lock = open(at(mount, "lock"), O_RDWR), file, counter;

		MUST(lock >= 0 && !set_lock(lock, F_WRLCK, 0, 0, F_SETLKW));
		file = open(at(mount, "lines"), O_WRONLY | O_APPEND);
		snprintf(line, sizeof line, "%2d %8d\n", writer, i);
		MUST(file >= 0 && write(file, line, LINE) == LINE && !close(file));
		counter = open(at(mount, "counter"), O_RDWR);
		MUST(counter >= 0 && read(counter, number, sizeof number - 1) >= 0);
		snprintf(number, sizeof number, "%d", atoi(number) + 1);
		MUST(pwrite(counter, number, strlen(number), 0) == (ssize_t)strlen(number) && !close(counter));
		MUST(!set_lock(lock, F_UNLCK, 0, 0, F_SETLK) && !close(lock));
	}
	return 0;
}

static int locks_and_appends(void)
{
	static char all[WRITERS * LINES * LINE + 1];
	int next[WRITERS] = { 0 }, writer, number, file;
	char wanted[16];
	pid_t writers[WRITERS];

	MUST(make(at(0, "lines"), "") && make(at(0, "counter"), "") && make(at(0, "lock"), ""));
	for (int i = 0; i < WRITERS; i++) {
		writers[i] = fork();
		MUST(writers[i] >= 0);
		if (!writers[i])
			_exit(write_lines(i % 2, i) ? 1 : 0);
	}
	for (int i = 0; i < WRITERS; i++)
		MUST(ended_well(writers[i]));
	snprintf(wanted, sizeof wanted, "%d", WRITERS * LINES);
	MUST(holds(at(1, "counter"), wanted));
	file = open(at(0, "lines"), O_RDONLY);
	MUST(file >= 0 && read(file, all, sizeof all) == sizeof all - 1 && !close(file));
	for (int i = 0; i < WRITERS * LINES; i++) { /* each writer's lines, in its order */
		MUST(sscanf(all + i * LINE, "%d %d", &writer, &number) == 2 && writer >= 0 && writer < WRITERS);
		MUST(number == next[writer]++ && all[i * LINE + LINE - 1] == '\n');
	}
	MUST(!unlink(at(0, "lines")) && !unlink(at(0, "counter")) && !unlink(at(0, "lock")));
	return 0;
}

const struct nfs_case many_lock_cases[] = {
	{ "many_locks_of_one_file", many_locks_of_one_file },
	{ "locks_of_many_files", locks_of_many_files },
	{ "locks_and_appends", locks_and_appends },
	{ NULL, NULL },
};
