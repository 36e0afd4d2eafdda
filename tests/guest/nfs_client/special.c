// SPDX-License-Identifier: Apache-2.0
/* What a server that keeps no open files has to be careful with: files that are open are renamed, removed, closed to
 * everybody; two want to be the first; places that there are not
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cases.h"

enum { RACES = 50 };

static int open_and_renamed(void)
{
	char text[16] = "";
	int file = open(at(0, "open"), O_CREAT | O_EXCL | O_RDWR, 0644);

	MUST(file >= 0 && write(file, "abc", 3) == 3 && !rename(at(0, "open"), at(0, "renamed")));
	MUST(make(at(0, "open"), "another") && write(file, "def", 3) == 3 && !fsync(file));
	MUST(pread(file, text, sizeof text, 0) == 6 && !strcmp(text, "abcdef"));
	MUST(!close(file) && holds(at(1, "renamed"), "abcdef") && holds(at(1, "open"), "another"));
	file = open(at(0, "open"), O_RDONLY);
	MUST(file >= 0 && !rename(at(0, "renamed"), at(0, "open"))); /* over one that is open */
	memset(text, 0, sizeof text);
	MUST(pread(file, text, sizeof text, 0) == 7 && !strcmp(text, "another"));
	MUST(!close(file) && holds(at(1, "open"), "abcdef") && !unlink(at(0, "open")));
	return 0;
}

/* The client gives such a file another name until it is closed; nothing may be left of it */
static int open_and_removed(void)
{
	char text[16] = "";
	struct stat about;
	int file;

	MUST(!mkdir(at(0, "removed"), 0755));
	file = open(at(0, "removed/file"), O_CREAT | O_EXCL | O_RDWR, 0644);
	MUST(file >= 0 && write(file, "abc", 3) == 3 && !unlink(at(0, "removed/file")));
	MUST(is_missing(at(0, "removed/file")) && is_missing(at(1, "removed/file")));
	MUST(write(file, "def", 3) == 3 && pread(file, text, sizeof text, 0) == 6 && !strcmp(text, "abcdef"));
	MUST(make(at(0, "removed/file"), "another"));
	MUST(!ftruncate(file, 2) && !fstat(file, &about) && about.st_size == 2);
	MUST(!close(file) && holds(at(1, "removed/file"), "another") && entries_in(at(1, "removed")) == 1);
	MUST(!unlink(at(0, "removed/file")) && !rmdir(at(0, "removed")));
	return 0;
}

/* Of version 2 the client asks nobody who may: it looks at the mode itself, and lets its root pass */
static int open_and_closed_to_all(void)
{
	char text[16] = "";
	int file = open(at(0, "closed"), O_CREAT | O_EXCL | O_RDWR, 0644);

	MUST(file >= 0 && write(file, "abc", 3) == 3 && !fchmod(file, 0));
	MUST(write(file, "def", 3) == 3 && !fsync(file)); /* who has it open goes on */
	MUST(pread(file, text, sizeof text, 0) == 6 && !strcmp(text, "abcdef"));
	MUST(nfs_version == 2 || (open(at(1, "closed"), O_RDONLY) < 0 && errno == EACCES));
	MUST(nfs_version == 2 || (open(at(1, "closed"), O_WRONLY) < 0 && errno == EACCES));
	MUST(!fchmod(file, 0444) && holds(at(1, "closed"), "abcdef"));
	MUST(nfs_version == 2 || (open(at(1, "closed"), O_WRONLY) < 0 && errno == EACCES));
	MUST(!close(file) && !unlink(at(0, "closed")));
	return 0;
}

static int exclusive(void)
{
	int file = open(at(0, "exclusive"), O_CREAT | O_EXCL | O_RDWR, 0);

	MUST(file >= 0 && write(file, "abc", 3) == 3 && !close(file)); /* with a mode that lets nobody write */
	for (int i = 0; i < 2; i++)
		MUST(open(at(i, "exclusive"), O_CREAT | O_EXCL | O_RDWR, 0644) < 0 && errno == EEXIST);
	MUST(size_of(at(1, "exclusive")) == 3 && !unlink(at(0, "exclusive")));
	MUST(!symlink("nowhere", at(0, "exclusive")));
	MUST(open(at(1, "exclusive"), O_CREAT | O_EXCL | O_RDWR, 0644) < 0 && errno == EEXIST);
	MUST(!unlink(at(0, "exclusive")));
	return 0;
}

/* The other process of the race below: the number of files that it was the first to make, as its status; 255: an error */
static void race(int mount, int ready)
{
	char byte;
	int won = 0;

	if (read(ready, &byte, 1) < 0) /* ends when the pipe is closed: both begin at once */
		_exit(255);
	for (int i = 0; i < RACES; i++) {
		int file = open(at(mount, "race.%d", i), O_CREAT | O_EXCL | O_WRONLY, 0644);

		if (file < 0 && errno != EEXIST)
			_exit(255);
		won += file >= 0;
		if (file >= 0 && close(file))
			_exit(255);
	}
	_exit(won);
}

/* Version 2 has no such call: its client looks, and then makes the file, and two may both be told that it is theirs */
static int exclusive_by_two(void)
{
	int ready[2], status, won = 0;

	MUST(!pipe(ready));
	for (int i = 0; i < 2; i++)
		if (!fork()) {
			close(ready[1]);
			race(i, ready[0]);
		}
	close(ready[0]);
	close(ready[1]);
	for (int i = 0; i < 2; i++) {
		MUST(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) <= RACES);
		won += WEXITSTATUS(status);
	}
	MUST(nfs_version == 2 ? won >= RACES : won == RACES);
	for (int i = 0; i < RACES; i++)
		MUST(!unlink(at(0, "race.%d", i)));
	return 0;
}

static int negative_places(void)
{
	char text[8] = "";
	int file = open(at(0, "negative"), O_CREAT | O_EXCL | O_RDWR, 0644);

	MUST(file >= 0 && write(file, "abcdef", 6) == 6 && lseek(file, 2, SEEK_SET) == 2);
	MUST(lseek(file, -1, SEEK_SET) == -1 && errno == EINVAL);
	MUST(lseek(file, -3, SEEK_CUR) == -1 && errno == EINVAL);
	MUST(lseek(file, -7, SEEK_END) == -1 && errno == EINVAL);
	MUST(pread(file, text, 1, -1) == -1 && errno == EINVAL);
	MUST(pwrite(file, "x", 1, -4096) == -1 && errno == EINVAL);
	MUST(ftruncate(file, -1) == -1 && errno == EINVAL);
	MUST(read(file, text, 2) == 2 && !strcmp(text, "cd")); /* the place was kept */
	MUST(!close(file) && holds(at(1, "negative"), "abcdef") && !unlink(at(0, "negative")));
	return 0;
}

/* The file that is replaced has other names: under those it goes on */
static int renamed_over_links(void)
{
	MUST(make(at(0, "first"), "first") && make(at(0, "second"), "second"));
	MUST(!link(at(0, "second"), at(0, "other")) && links_of(at(1, "other")) == 2);
	MUST(!rename(at(0, "first"), at(0, "second")) && is_missing(at(1, "first")));
	MUST(holds(at(1, "second"), "first") && holds(at(1, "other"), "second"));
	MUST(links_of(at(0, "second")) == 1 && links_of(at(0, "other")) == 1 && links_of(at(1, "other")) == 1);
	MUST(!link(at(0, "other"), at(0, "same")) && !rename(at(0, "same"), at(0, "other"))); /* one file: nothing happens */
	MUST(links_of(at(1, "other")) == 2 && is_there(at(1, "same")));
	MUST(!unlink(at(0, "same")) && !unlink(at(0, "other")) && !unlink(at(0, "second")));
	return 0;
}

/* FIFOs, and names of all lengths and bytes */
static int odd_names(void)
{
	char name[260];
	struct stat about;

	MUST(!mkfifo(at(0, "fifo"), 0600) && !stat(at(1, "fifo"), &about) && S_ISFIFO(about.st_mode));
	MUST(!unlink(at(0, "fifo")));
	memset(name, 'n', sizeof name);
	name[255] = '\0';
	MUST(make(at(0, "%s", name), "long") && holds(at(1, "%s", name), "long") && !unlink(at(0, "%s", name)));
	name[255] = 'n';
	name[256] = '\0';
	MUST(open(at(0, "%s", name), O_CREAT | O_WRONLY, 0644) < 0 && errno == ENAMETOOLONG);
	for (int byte = 1; byte < 256; byte++)
		if (byte != '/' && byte != '.') {
			MUST(make(at(0, "%c", byte), "byte") && holds(at(1, "%c", byte), "byte"));
			MUST(!unlink(at(0, "%c", byte)));
		}
	return 0;
}

static bool same_time(const struct timespec *wanted, const struct timespec *found)
{
	long unit = nfs_version == 2 ? 1000 : 1; /* microseconds, or nanoseconds */

	return wanted->tv_sec == found->tv_sec && wanted->tv_nsec / unit == found->tv_nsec / unit;
}

static bool is_later(const struct timespec *one, const struct timespec *other)
{
	return one->tv_sec > other->tv_sec || (one->tv_sec == other->tv_sec && one->tv_nsec > other->tv_nsec);
}

static int times(void)
{
	static const struct timespec wanted[][2] = {
		{ { 0, 0 }, { 1, 1000 } },
		{ { 1000000000, 123456789 }, { 999999999, 987654321 } },
		{ { 2147483647, 999999999 }, { 2147483646, 1 } },
	};
	struct timespec now[2] = { { 0, UTIME_OMIT }, { 0, UTIME_NOW } }, pause = { 0, 50000000 };
	struct stat before, after;
	int file;

	MUST(make(at(0, "times"), "times"));
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		MUST(!utimensat(AT_FDCWD, at(0, "times"), wanted[i], 0) && !stat(at(1, "times"), &after));
		MUST(same_time(&wanted[i][0], &after.st_atim) && same_time(&wanted[i][1], &after.st_mtim));
	}
	MUST(!utimensat(AT_FDCWD, at(0, "times"), now, 0) && !stat(at(1, "times"), &before));
	MUST(before.st_mtim.tv_sec < 2147483646 && before.st_mtim.tv_sec > 1000);
	MUST(same_time(&wanted[2][0], &before.st_atim));
	nanosleep(&pause, NULL);
	MUST(!chmod(at(0, "times"), 0600) && !stat(at(1, "times"), &after)); /* ctime alone */
	MUST(same_time(&before.st_mtim, &after.st_mtim) && is_later(&after.st_ctim, &before.st_ctim));
	before = after;
	nanosleep(&pause, NULL);
	file = open(at(0, "times"), O_WRONLY);
	MUST(write(file, "x", 1) == 1 && !close(file) && !stat(at(1, "times"), &after));
	MUST(is_later(&after.st_mtim, &before.st_mtim) && is_later(&after.st_ctim, &before.st_ctim));
	MUST(!stat("/run/b", &before));
	nanosleep(&pause, NULL);
	MUST(!unlink(at(0, "times")) && !stat("/run/b", &after) && is_later(&after.st_mtim, &before.st_mtim));
	return 0;
}

const struct nfs_case special_cases[] = {
	{ "open_and_renamed", open_and_renamed },
	{ "open_and_removed", open_and_removed },
	{ "open_and_closed_to_all", open_and_closed_to_all },
	{ "exclusive", exclusive },
	{ "exclusive_by_two", exclusive_by_two },
	{ "negative_places", negative_places },
	{ "renamed_over_links", renamed_over_links },
	{ "odd_names", odd_names },
	{ "times", times },
	{ NULL, NULL },
};
