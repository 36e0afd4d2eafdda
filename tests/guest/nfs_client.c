// SPDX-License-Identifier: Apache-2.0
/*
 * Asks an NFS server, through Linux's own client, what test suites of NFS ask: files and folders, renames, what is
 * special (open files that are removed, holes, more than 4 GB), locks between two mounts, folders of many files.
 *
 *	nfs_client SERVER EXPORT FILES VERSION
 *
 * Mounts the export twice, without anything shared, so that the second is a stranger to the first: of version 4 once
 * as 4.0 and once as 4.2, since Linux is one client to a server whatever it mounts by one of them. Prints "ok NAME" a
 * test, "FAILED NAME LINE ERROR" for one that failed, and "all done" at the end; then the machine goes down.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define MUST(condition) \
	do { \
		errno = 0; \
		if (!(condition)) \
			return __LINE__; \
	} while (0)

enum { BLOCK = 65536 };
static const char *const mounts[] = { "/run/a", "/run/b" };
static int files;

static char *at(int mount, const char *name)
{
	static char paths[4][256];
	static int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof paths[0], "%s/%s", mounts[mount], name);
	return path;
}

static int make(const char *path, const char *content)
{
	int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644), wrong;

	wrong = file < 0 || write(file, content, strlen(content)) != (ssize_t)strlen(content);
	return close(file) || wrong;
}

static int holds(const char *path, const char *content)
{
	char found[256] = "";
	int file = open(path, O_RDONLY), length = file < 0 ? -1 : (int)read(file, found, sizeof found - 1);

	close(file);
	return length == (int)strlen(content) && !strcmp(found, content);
}

static int files_and_folders(void)
{
	struct stat found;
	struct statvfs whole;

	MUST(!mkdir(at(0, "folder"), 0755));
	MUST(mkdir(at(0, "folder"), 0755) && errno == EEXIST);
	MUST(!make(at(0, "folder/file"), "one"));
	MUST(holds(at(1, "folder/file"), "one"));
	MUST(!stat(at(0, "folder/file"), &found) && found.st_size == 3 && S_ISREG(found.st_mode));
	MUST(!chmod(at(0, "folder/file"), 0600) && !stat(at(0, "folder/file"), &found));
	MUST((found.st_mode & 07777) == 0600);
	MUST(!symlink("file", at(0, "folder/link")) && holds(at(0, "folder/link"), "one"));
	MUST(!link(at(0, "folder/file"), at(0, "folder/second")) && !stat(at(0, "folder/second"), &found));
	MUST(found.st_nlink == 2);
	MUST(rmdir(at(0, "folder")) && errno == ENOTEMPTY);
	MUST(!unlink(at(0, "folder/link")) && !unlink(at(0, "folder/second")) && !unlink(at(0, "folder/file")));
	MUST(!rmdir(at(0, "folder")) && stat(at(0, "folder"), &found) && errno == ENOENT);
	MUST(!statvfs(at(0, ""), &whole) && whole.f_blocks > 0);
	return 0;
}

static int renames(void)
{
	struct stat found;

	MUST(!make(at(0, "from"), "from") && !make(at(0, "to"), "to") && !mkdir(at(0, "below"), 0755));
	MUST(!rename(at(0, "from"), at(0, "to")) && holds(at(0, "to"), "from"));
	MUST(stat(at(0, "from"), &found) && errno == ENOENT);
	MUST(!rename(at(0, "to"), at(0, "below/to")) && holds(at(0, "below/to"), "from"));
	MUST(rename(at(0, "below"), at(0, "below/inside")) && errno == EINVAL);
	MUST(!rename(at(0, "below"), at(0, "above")) && holds(at(0, "above/to"), "from"));
	MUST(!unlink(at(0, "above/to")) && !rmdir(at(0, "above")));
	return 0;
}

static int large_content(void)
{
	static unsigned char block[BLOCK], found[BLOCK];
	int file = open(at(0, "large"), O_CREAT | O_RDWR, 0644);

	MUST(file >= 0);
	for (int i = 0; i < 64; i++) {
		for (int j = 0; j < BLOCK; j++)
			block[j] = (unsigned char)(i * 7 + j / 251 + j);
		MUST(write(file, block, BLOCK) == BLOCK);
	}
	MUST(!fsync(file) && !close(file));
	file = open(at(1, "large"), O_RDONLY);
	for (int i = 0; i < 64; i++) {
		for (int j = 0; j < BLOCK; j++)
			block[j] = (unsigned char)(i * 7 + j / 251 + j);
		MUST(read(file, found, BLOCK) == BLOCK && !memcmp(block, found, BLOCK));
	}
	MUST(!close(file) && !unlink(at(0, "large")));
	return 0;
}

static int special_files(void)
{
	struct stat found;
	char byte;
	int file = open(at(0, "special"), O_CREAT | O_EXCL | O_RDWR, 0644);

	MUST(file >= 0);
	MUST(open(at(0, "special"), O_CREAT | O_EXCL | O_RDWR, 0644) < 0 && errno == EEXIST);
	MUST(write(file, "abc", 3) == 3 && !unlink(at(0, "special"))); /* removed while it is open */
	MUST(pread(file, &byte, 1, 1) == 1 && byte == 'b');
	MUST(!close(file) && stat(at(0, "special"), &found) && errno == ENOENT);
	file = open(at(0, "hole"), O_CREAT | O_RDWR | O_APPEND, 0644);
	MUST(file >= 0 && !ftruncate(file, 100000) && write(file, "z", 1) == 1);
	MUST(pread(file, &byte, 1, 50000) == 1 && !byte && pread(file, &byte, 1, 100000) == 1 && byte == 'z');
	MUST(!ftruncate(file, 10) && !fstat(file, &found) && found.st_size == 10);
	MUST(!close(file) && !unlink(at(0, "hole")));
	return 0;
}

static int more_than_4_gb(void)
{
	const off_t far = 5LL * 1024 * 1024 * 1024 + 17;
	struct stat found;
	char text[8] = "";
	int file = open(at(0, "huge"), O_CREAT | O_RDWR, 0644);

	MUST(file >= 0 && pwrite(file, "far", 3, far) == 3 && !fsync(file) && !close(file));
	MUST(!stat(at(1, "huge"), &found) && found.st_size == far + 3);
	file = open(at(1, "huge"), O_RDONLY);
	MUST(pread(file, text, 3, far) == 3 && !strcmp(text, "far") && pread(file, text, 1, far - 1) == 1 && !text[0]);
	MUST(!close(file) && !unlink(at(0, "huge")));
	return 0;
}

static int set_lock(int file, short type, off_t start, off_t length, int how)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length };

	return fcntl(file, how, &lock);
}

static short who_holds(int file, off_t start, off_t length)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length };

	return fcntl(file, F_GETLK, &lock) ? -1 : lock.l_type;
}

static int refused(int file, short type, off_t start, off_t length)
{
	return set_lock(file, type, start, length, F_SETLK) && (errno == EAGAIN || errno == EACCES);
}

/*
 * Another process, with the file open through the second mount. It has to be a process of its own, since locks belong
 * to processes; and a mount of its own, since else its kernel would know the answer without asking the server.
 */
struct stranger {
	int to, from;
};

struct question {
	char what; /* l: lock, without waiting; w: lock; r: is it refused?; h: who holds it? */
	short type;
	off_t start, length;
};

static int carry_out(int file, const struct question *asked)
{
	if (asked->what == 'h')
		return who_holds(file, asked->start, asked->length);
	if (asked->what == 'r')
		return refused(file, asked->type, asked->start, asked->length);
	return set_lock(file, asked->type, asked->start, asked->length, asked->what == 'w' ? F_SETLKW : F_SETLK);
}

static int begin_stranger(struct stranger *stranger, const char *path)
{
	int to[2], from[2], file;
	struct question asked;

	if (pipe(to) || pipe(from))
		return -1;
	stranger->to = to[1];
	stranger->from = from[0];
	if (fork())
		return close(to[0]) || close(from[1]);
	close(to[1]);
	close(from[0]);
	file = open(path, O_RDWR);
	while (read(to[0], &asked, sizeof asked) == sizeof asked) {
		int answer = carry_out(file, &asked);

		if (write(from[1], &answer, sizeof answer) < 0)
			break;
	}
	_exit(0);
}

static int ask(const struct stranger *stranger, char what, short type, off_t start, off_t length)
{
	struct question asked = { what, type, start, length };

	return write(stranger->to, &asked, sizeof asked) == sizeof asked ? 0 : -1;
}

static int answer(const struct stranger *stranger)
{
	int value = -2;

	return read(stranger->from, &value, sizeof value) == sizeof value ? value : -2;
}

static int other(const struct stranger *stranger, char what, short type, off_t start, off_t length)
{
	return ask(stranger, what, type, start, length) ? -2 : answer(stranger);
}

static int locks(void)
{
	int a = open(at(0, "locked"), O_CREAT | O_RDWR, 0644);
	struct stranger b;

	MUST(a >= 0 && !begin_stranger(&b, at(1, "locked")));
	MUST(!set_lock(a, F_WRLCK, 0, 100, F_SETLK));
	MUST(other(&b, 'r', F_WRLCK, 50, 10) == 1);
	MUST(other(&b, 'r', F_RDLCK, 99, 10) == 1);
	MUST(other(&b, 'h', 0, 0, 1) == F_WRLCK && other(&b, 'h', 0, 100, 1) == F_UNLCK);
	MUST(other(&b, 'l', F_WRLCK, 100, 0) == 0 && refused(a, F_WRLCK, 1000000, 1));
	MUST(!set_lock(a, F_UNLCK, 40, 20, F_SETLK)); /* in the middle */
	MUST(other(&b, 'l', F_WRLCK, 40, 20) == 0);
	MUST(other(&b, 'r', F_WRLCK, 39, 1) == 1 && other(&b, 'r', F_WRLCK, 60, 1) == 1);
	MUST(other(&b, 'l', F_UNLCK, 0, 0) == 0);
	MUST(!set_lock(a, F_RDLCK, 0, 0, F_SETLK) && other(&b, 'l', F_RDLCK, 0, 0) == 0);
	MUST(other(&b, 'r', F_WRLCK, 0, 1) == 1);
	MUST(!close(a) && other(&b, 'l', F_WRLCK, 0, 0) == 0); /* closing gives locks up */
	close(b.to);
	close(b.from);
	MUST(wait(NULL) > 0);
	return 0;
}

/* A process waits for a lock, and gets it when the other gives it up */
static int locks_are_waited_for(void)
{
	int a = open(at(0, "locked"), O_RDWR);
	struct stranger b;
	struct pollfd polled;

	MUST(a >= 0 && !begin_stranger(&b, at(1, "locked")));
	MUST(!set_lock(a, F_WRLCK, 0, 0, F_SETLK) && !ask(&b, 'w', F_WRLCK, 0, 0));
	polled = (struct pollfd) { b.from, POLLIN, 0 };
	MUST(!poll(&polled, 1, 2000)); /* it waits */
	MUST(!set_lock(a, F_UNLCK, 0, 0, F_SETLK));
	MUST(poll(&polled, 1, 120000) == 1 && answer(&b) == 0);
	close(b.to);
	close(b.from);
	MUST(wait(NULL) > 0 && !close(a) && !unlink(at(0, "locked")));
	return 0;
}

static int many_files(void)
{
	char name[64], *seen = calloc(1, (size_t)files);
	struct dirent *entry;
	int count = 0, number;
	DIR *folder;

	MUST(seen && !mkdir(at(0, "many"), 0755));
	for (int i = 0; i < files; i++) {
		int file;

		snprintf(name, sizeof name, "many/a rather long name of a file %d", i);
		file = open(at(0, name), O_CREAT | O_EXCL | O_WRONLY, 0644);
		MUST(file >= 0 && !close(file));
	}
	folder = opendir(at(1, "many"));
	MUST(folder);
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		MUST(sscanf(entry->d_name, "a rather long name of a file %d", &number) == 1);
		MUST(number >= 0 && number < files && !seen[number]++);
		count++;
	}
	MUST(!closedir(folder) && count == files);
	for (int i = 0; i < files; i++) {
		snprintf(name, sizeof name, "many/a rather long name of a file %d", i);
		MUST(!unlink(at(0, name)));
	}
	MUST(!rmdir(at(0, "many")));
	free(seen);
	return 0;
}

static void write_options(char *options, size_t size, const char *server, int version, int mount)
{
	if (version == 4)
		snprintf(options, size, "vers=4.%d,proto=tcp,nosharecache,noac,addr=%s", 2 * mount, server);
	else
		snprintf(options, size, "vers=3,proto=tcp,mountproto=tcp,nosharecache,noac,addr=%s,mountaddr=%s", server,
			 server);
}

static int mount_all(const char *server, const char *export, int version)
{
	char from[256], options[256];

	snprintf(from, sizeof from, "%s:%s", server, export);
	for (int i = 0; i < 2; i++) {
		int tries = 0;

		write_options(options, sizeof options, server, version, i);
		mkdir(mounts[i], 0755);
		while (mount(from, mounts[i], "nfs", 0, options)) {
			if (++tries == 60)
				return __LINE__;
			sleep(1); /* the server may not be there yet */
		}
	}
	return 0;
}

static void report(const char *name, int line)
{
	if (line)
		printf("FAILED %s line %d: %s\n", name, line, strerror(errno));
	else
		printf("ok %s\n", name);
	fflush(stdout);
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} tests[] = {
		{ "files_and_folders", files_and_folders },
		{ "renames", renames },
		{ "large_content", large_content },
		{ "special_files", special_files },
		{ "more_than_4_gb", more_than_4_gb },
		{ "locks", locks },
		{ "locks_are_waited_for", locks_are_waited_for },
		{ "many_files", many_files },
	};
	int failed = count < 5 ? __LINE__ : mount_all(arguments[1], arguments[2], atoi(arguments[4]));

	files = count < 5 ? 0 : atoi(arguments[3]);
	report("mount", failed);
	for (size_t i = 0; !failed && i < sizeof tests / sizeof *tests; i++)
		report(tests[i].name, tests[i].run());
	for (int i = 0; i < 2; i++)
		umount(mounts[i]);
	puts("all done");
	fflush(stdout);
	kill(1, SIGUSR2);
	for (;;)
		pause();
}
