// SPDX-License-Identifier: Apache-2.0
/*
 * replay: repeats the system calls of a trace (docs/traces.md) in a directory.
 *
 *	replay prepare TRACE DIRECTORY RANDOM_PERCENT SEED
 *	replay recorded|fast TRACE DIRECTORY RANDOM_PERCENT SEED RECORDS
 *
 * `prepare` makes the directories and files that the trace finds. Of each 4 KiB that any file gets, RANDOM_PERCENT are
 * random, and the rest are zero.
 *
 * Each thread of the trace is a thread here, and makes its calls one after another. A call begins once all calls have
 * ended that had ended in the trace before it began; with "recorded", also not before its time. So two calls that
 * overlapped in the trace may overlap here, and no others do. That cannot deadlock: in the trace's order, calls only
 * wait for calls before them.
 *
 * Long because one program holds the text, the order of calls and the calls.
 *
 * RECORDS gets a struct record for each call, in the trace's order. A call that returns something else than in the trace
 * is marked, and the replay goes on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "load.h"

enum {
	ARGUMENTS = 4,
	PAGE = 4096,
	CHUNK = 1 << 20,
	MAX_THREADS = 256,
	MAX_HANDLES = 1 << 16,
	STACK = 256 << 10, /* arm64's least is 128 KiB */
};

#define NO_FILE (-1)

struct path {
	char *name;
	char kind; /* f, d, n: file, directory, none */
	uint64_t size;
};

struct call {
	uint64_t begin_us, end_us;
	uint64_t awaits; /* the number of ended calls, in the order of ends in the trace, without which it cannot begin */
	uint64_t place; /* its own place in that order */
	int64_t arguments[ARGUMENTS];
	const char *text;
	int64_t result; /* or a negative errno */
	uint32_t thread, kind;
};

struct record {
	uint64_t begin_ns, took_ns; /* since the first call */
	int64_t result;
	uint32_t kind, differs;
};

/* In the order of CALLS in src/flashbed/traces/call_trace.py, with the same letters for arguments */
static const struct {
	const char *name, *arguments;
} kinds[] = {
	{ "open", "hpfm" }, { "close", "h" }, { "read", "hn" }, { "write", "hn" }, { "pread", "hnn" },
	{ "pwrite", "hnn" }, { "lseek", "hnn" }, { "fsync", "h" }, { "fdatasync", "h" }, { "syncfs", "h" },
	{ "sync", "" }, { "sync_file_range", "hnnn" }, { "ftruncate", "hn" }, { "truncate", "pn" },
	{ "fallocate", "hnnn" }, { "rename", "ppn" }, { "unlink", "p" }, { "mkdir", "pm" }, { "rmdir", "p" },
	{ "link", "pp" }, { "symlink", "tp" }, { "stat", "p" }, { "fchmod", "hm" }, { "chmod", "pm" },
	{ "fchown", "hnn" }, { "chown", "pnn" },
};

enum kind {
	OPEN, CLOSE, READ, WRITE, PREAD, PWRITE, LSEEK, FSYNC, FDATASYNC, SYNCFS, SYNC, SYNC_FILE_RANGE, FTRUNCATE,
	TRUNCATE, FALLOCATE, RENAME, UNLINK, MKDIR, RMDIR, LINK, SYMLINK, STAT, FCHMOD, CHMOD, FCHOWN, CHOWN, KINDS
};

static const struct {
	const char *name;
	int flag;
} open_flags[] = {
	{ "O_RDONLY", O_RDONLY }, { "O_WRONLY", O_WRONLY }, { "O_RDWR", O_RDWR }, { "O_CREAT", O_CREAT },
	{ "O_EXCL", O_EXCL }, { "O_TRUNC", O_TRUNC }, { "O_APPEND", O_APPEND }, { "O_DIRECT", O_DIRECT },
	{ "O_DSYNC", O_DSYNC }, { "O_SYNC", O_SYNC }, { "O_DIRECTORY", O_DIRECTORY }, { "O_NOFOLLOW", O_NOFOLLOW },
	{ "O_NOATIME", O_NOATIME }, { "O_PATH", O_PATH }, { "O_TMPFILE", O_TMPFILE },
};

static struct {
	const char *file;
	struct path *paths;
	struct call *calls;
	size_t path_count, call_count, threads, line;
	uint64_t longest;
} trace;

static struct {
	bool paced;
	uint64_t start_ns, seed;
	char *content; /* longest call and a chunk, page by page */
	struct record *records;
	char *ended; /* by place */
	uint64_t prefix; /* so many calls, in the order of ends in the trace, have ended */
	int handles[MAX_HANDLES];
	pthread_mutex_t lock;
	pthread_cond_t moved;
} run = { .lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER };

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "replay: %s: %s\n", what, strerror(errno));
	exit(1);
}

static _Noreturn void bad_line(const char *what)
{
	fprintf(stderr, "replay: %s:%zu: %s\n", trace.file, trace.line, what);
	exit(1);
}

/* Memory whose pages are there: a page fault would take time of the replay */
static void *room(size_t many, size_t bytes)
{
	volatile char *memory = calloc(many ? many : 1, bytes);

	if (!memory)
		die("no memory");
	for (size_t at = 0; at < many * bytes; at += PAGE)
		memory[at] = 0;
	return (void *)memory;
}

static void *pages(size_t bytes)
{
	void *memory;

	if (posix_memalign(&memory, PAGE, bytes))
		die("no memory");
	return memset(memory, 0, bytes);
}

/* The trace's text */

static char *word(char **rest)
{
	char *found = strsep(rest, " ");

	if (!found)
		bad_line("a word is missing");
	return found;
}

static int64_t whole(const char *text, int base)
{
	char *end;
	int64_t value;

	errno = 0;
	value = strtoll(text, &end, base);
	if (errno || end == text || *end)
		bad_line("a number is expected");
	return value;
}

static char *unquoted(char *text)
{
	char *to = text;

	for (char *from = text; *from; from++) {
		unsigned int byte;

		if (*from != '%') {
			*to++ = *from;
			continue;
		}
		if (sscanf(from + 1, "%2x", &byte) != 1)
			bad_line("% without two digits");
		*to++ = (char)byte;
		from += 2;
	}
	*to = 0;
	return text;
}

static int64_t flags_of(char *text)
{
	int64_t flags = 0;

	for (char *name; (name = strsep(&text, "|"));) {
		size_t i = 0;

		while (i < sizeof(open_flags) / sizeof(*open_flags) && strcmp(open_flags[i].name, name))
			i++;
		if (i == sizeof(open_flags) / sizeof(*open_flags))
			bad_line("unknown flag of open()");
		flags |= open_flags[i].flag;
	}
	return flags;
}

static int64_t result_of(const char *text)
{
	if (*text != 'E')
		return whole(text, 10);
	for (int error = 1; error < 200; error++) {
		const char *name = strerrorname_np(error);

		if (name && !strcmp(name, text))
			return -error;
	}
	bad_line("unknown error");
}

static void read_path(char *rest)
{
	struct path *path = &trace.paths[trace.path_count++];

	if (whole(word(&rest), 10) != (int64_t)trace.path_count - 1)
		bad_line("paths are not in order");
	path->kind = *word(&rest);
	if (path->kind == 'f')
		path->size = (uint64_t)whole(word(&rest), 10);
	path->name = unquoted(word(&rest));
}

static int64_t argument(struct call *call, char letter, char *text)
{
	int64_t value;

	switch (letter) {
	case 'h':
		value = strcmp(text, "-") ? whole(text, 10) : NO_FILE;
		if (value >= MAX_HANDLES)
			bad_line("too many open files");
		return value;
	case 'p':
		value = whole(text, 10);
		if (value < 0 || value >= (int64_t)trace.path_count)
			bad_line("no such path");
		return value;
	case 'f':
		return flags_of(text);
	case 'm':
		return whole(text, 8);
	case 't':
		call->text = unquoted(text);
		return 0;
	}
	return whole(text, 10);
}

static bool transfers(const struct call *call)
{
	return call->kind >= READ && call->kind <= PWRITE;
}

static uint64_t length_of(const struct call *call)
{
	return (uint64_t)call->arguments[call->kind == READ || call->kind == WRITE ? 1 : 2];
}

static void read_call(char *first, char *rest)
{
	struct call *call = &trace.calls[trace.call_count++];
	const char *name;

	call->thread = (uint32_t)whole(first, 10);
	call->begin_us = (uint64_t)whole(word(&rest), 10);
	call->end_us = call->begin_us + (uint64_t)whole(word(&rest), 10);
	name = word(&rest);
	while (call->kind < KINDS && strcmp(kinds[call->kind].name, name))
		call->kind++;
	if (call->kind == KINDS || call->thread >= MAX_THREADS)
		bad_line("no call");
	for (size_t i = 0; i < strlen(kinds[call->kind].arguments); i++)
		call->arguments[i] = argument(call, kinds[call->kind].arguments[i], word(&rest));
	if (strcmp(word(&rest), "="))
		bad_line("= is missing");
	call->result = result_of(word(&rest));
	if (call->thread >= trace.threads)
		trace.threads = call->thread + 1;
	if (transfers(call) && length_of(call) > trace.longest)
		trace.longest = length_of(call);
}

static char *content_of(const char *name)
{
	struct stat status;
	char *text;
	int fd = open(name, O_RDONLY);
	off_t at = 0;

	if (fd < 0 || fstat(fd, &status))
		die(name);
	text = room((size_t)status.st_size + 1, 1);
	while (at < status.st_size) {
		ssize_t done = read(fd, text + at, (size_t)(status.st_size - at));

		if (done <= 0)
			die(name);
		at += done;
	}
	close(fd);
	return text;
}

static void read_trace(const char *name)
{
	char *text = content_of(name), *line;
	size_t lines = 1;

	trace.file = name;
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	trace.paths = room(lines, sizeof(*trace.paths));
	trace.calls = room(lines, sizeof(*trace.calls));
	while ((line = strsep(&text, "\n"))) {
		char *first;

		if (!trace.line++ || !*line || *line == '#')
			continue;
		first = word(&line);
		if (strcmp(first, "path"))
			read_call(first, line);
		else
			read_path(line);
	}
}

/* Which calls a call awaits: all that ended before it began. In the order of (end, number) these come first. */

static int by_end(const void *left, const void *right)
{
	const struct call *a = *(struct call *const *)left, *b = *(struct call *const *)right;

	if (a->end_us != b->end_us)
		return a->end_us < b->end_us ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void find_order(void)
{
	struct call **order = room(trace.call_count, sizeof(*order));
	uint64_t ended = 0;

	for (size_t i = 0; i < trace.call_count; i++)
		order[i] = &trace.calls[i];
	qsort(order, trace.call_count, sizeof(*order), by_end);
	for (size_t i = 0; i < trace.call_count; i++)
		order[i]->place = i;
	for (size_t i = 0; i < trace.call_count; i++) { /* begins never decrease */
		struct call *call = &trace.calls[i];

		while (ended < trace.call_count && order[ended]->end_us <= call->begin_us)
			ended++;
		call->awaits = ended < call->place ? ended : call->place;
	}
	free(order);
}

/* Content: pages of which a part is random */

static void make_content(uint64_t random_percent)
{
	uint64_t bytes = (trace.longest + CHUNK + PAGE - 1) / PAGE * PAGE, noise = PAGE / 8 * random_percent / 100;
	uint64_t state = random_state(run.seed, 1, 0), *words;

	run.content = pages(bytes);
	words = (uint64_t *)run.content;
	for (uint64_t page = 0; page < bytes / PAGE; page++)
		for (uint64_t i = 0; i < noise; i++) {
			uint64_t high = random_below(&state, UINT64_C(1) << 32) << 32;

			words[page * (PAGE / 8) + i] = high | random_below(&state, UINT64_C(1) << 32);
		}
}

static const char *content_for(uint64_t number)
{
	return run.content + number * 7 % (CHUNK / PAGE) * PAGE;
}

static void prepare_file(const struct path *path)
{
	int fd = open(path->name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0)
		die(path->name);
	for (uint64_t at = 0; at < path->size;) {
		size_t part = path->size - at < CHUNK ? path->size - at : CHUNK;

		if (!is_whole(write(fd, run.content, part), part, ENOSPC))
			die(path->name);
		at += part;
	}
	if (close(fd))
		die(path->name);
}

static void prepare(void)
{
	for (size_t i = 0; i < trace.path_count; i++) {
		const struct path *path = &trace.paths[i];

		if (path->kind == 'd' && mkdir(path->name, 0755) && errno != EEXIST)
			die(path->name);
		if (path->kind == 'f')
			prepare_file(path);
	}
}

/* The calls */

struct thread {
	pthread_t id;
	uint32_t number;
	char *buffer;
};

static int64_t made_on_file(const struct call *call, const struct thread *me, size_t number)
{
	const int64_t *a = call->arguments;
	int fd = a[0] == NO_FILE ? NO_FILE : run.handles[a[0]];

	switch ((enum kind)call->kind) {
	case OPEN:
		return open(trace.paths[a[1]].name, (int)a[2] | O_CLOEXEC, (mode_t)a[3]);
	case CLOSE:
		return close(fd);
	case READ:
		return read(fd, me->buffer, (size_t)a[1]);
	case WRITE:
		return write(fd, content_for(number), (size_t)a[1]);
	case PREAD:
		return pread(fd, me->buffer, (size_t)a[2], a[1]);
	case PWRITE:
		return pwrite(fd, content_for(number), (size_t)a[2], a[1]);
	case LSEEK:
		return lseek(fd, a[1], (int)a[2]);
	case FSYNC:
		return fsync(fd);
	case FDATASYNC:
		return fdatasync(fd);
	case SYNCFS:
		return syncfs(fd);
	case SYNC_FILE_RANGE:
		return sync_file_range(fd, a[1], a[2], (unsigned int)a[3]);
	case FTRUNCATE:
		return ftruncate(fd, a[1]);
	case FALLOCATE:
		return fallocate(fd, (int)a[1], a[2], a[3]);
	case FCHMOD:
		return fchmod(fd, (mode_t)a[1]);
	default:
		return fchown(fd, (uid_t)a[1], (gid_t)a[2]);
	}
}

static int64_t made_on_names(const struct call *call)
{
	const int64_t *a = call->arguments;
	const char *path = trace.paths[a[0]].name;
	struct stat status;

	switch ((enum kind)call->kind) {
	case TRUNCATE:
		return truncate(path, a[1]);
	case RENAME:
		return renameat2(AT_FDCWD, path, AT_FDCWD, trace.paths[a[1]].name, (unsigned int)a[2]);
	case UNLINK:
		return unlink(path);
	case MKDIR:
		return mkdir(path, (mode_t)a[1]);
	case RMDIR:
		return rmdir(path);
	case LINK:
		return link(path, trace.paths[a[1]].name);
	case STAT:
		return lstat(path, &status);
	case CHMOD:
		return chmod(path, (mode_t)a[1]);
	default:
		return chown(path, (uid_t)a[1], (gid_t)a[2]);
	}
}

static int64_t made(const struct call *call, const struct thread *me, size_t number)
{
	switch (*kinds[call->kind].arguments) {
	case 'h':
		return made_on_file(call, me, number);
	case 'p':
		return made_on_names(call);
	case 't':
		return symlink(call->text, trace.paths[call->arguments[1]].name);
	}
	sync();
	return 0;
}

/* The result as a trace has it; keeps the descriptor of an open file */
static int64_t settled(const struct call *call, int64_t result)
{
	int64_t handle = call->arguments[0];

	if (call->kind == CLOSE)
		run.handles[handle] = NO_FILE;
	if (call->kind != OPEN || result < 0)
		return result;
	if (handle == NO_FILE)
		close((int)result);
	else
		run.handles[handle] = (int)result;
	return 0;
}

static void await_others(const struct call *call)
{
	pthread_mutex_lock(&run.lock);
	while (run.prefix < call->awaits)
		pthread_cond_wait(&run.moved, &run.lock);
	pthread_mutex_unlock(&run.lock);
}

static void await_time(const struct call *call)
{
	uint64_t at_ns = run.start_ns + call->begin_us * 1000;
	struct timespec at = { .tv_sec = (time_t)(at_ns / NS_PER_S), .tv_nsec = (long)(at_ns % NS_PER_S) };

	while (run.paced && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

static void end(const struct call *call)
{
	uint64_t before;

	pthread_mutex_lock(&run.lock);
	run.ended[call->place] = 1;
	before = run.prefix;
	while (run.prefix < trace.call_count && run.ended[run.prefix])
		run.prefix++;
	if (run.prefix > before)
		pthread_cond_broadcast(&run.moved);
	pthread_mutex_unlock(&run.lock);
}

static void *repeat(void *of)
{
	struct thread *me = of;

	for (size_t i = 0; i < trace.call_count; i++) {
		const struct call *call = &trace.calls[i];
		struct record *record = &run.records[i];
		uint64_t begin_ns, end_ns;
		int64_t result;

		if (call->thread != me->number)
			continue;
		await_others(call);
		await_time(call);
		begin_ns = now_ns();
		result = made(call, me, i);
		end_ns = now_ns();
		result = settled(call, result < 0 ? -errno : result);
		*record = (struct record){
			.begin_ns = begin_ns - run.start_ns, .took_ns = end_ns - begin_ns, .result = result,
			.kind = call->kind, .differs = result != call->result,
		};
		end(call);
	}
	return NULL;
}

static void replay(void)
{
	struct thread *threads = room(trace.threads, sizeof(*threads));
	pthread_attr_t attributes;

	run.records = room(trace.call_count, sizeof(*run.records));
	run.ended = room(trace.call_count, 1);
	for (size_t i = 0; i < MAX_HANDLES; i++)
		run.handles[i] = NO_FILE;
	find_order();
	for (size_t i = 0; i < trace.threads; i++) {
		threads[i].number = (uint32_t)i;
		threads[i].buffer = pages(trace.longest + PAGE);
	}
	if (pthread_attr_init(&attributes) || pthread_attr_setstacksize(&attributes, STACK))
		die("threads");
	run.start_ns = now_ns();
	for (size_t i = 0; i < trace.threads; i++) {
		errno = pthread_create(&threads[i].id, &attributes, repeat, &threads[i]);
		if (errno)
			die("a thread");
	}
	for (size_t i = 0; i < trace.threads; i++)
		pthread_join(threads[i].id, NULL);
}

static void write_records(const char *name)
{
	FILE *file = fopen(name, "w");

	if (!file || fwrite(run.records, sizeof(*run.records), trace.call_count, file) != trace.call_count || fclose(file))
		die(name);
}

int main(int count, char **arguments)
{
	bool prepares = count == 6 && !strcmp(arguments[1], "prepare");

	if (!prepares && (count != 7 || (strcmp(arguments[1], "recorded") && strcmp(arguments[1], "fast")))) {
		fputs("usage: replay prepare TRACE DIRECTORY RANDOM_PERCENT SEED\n"
		      "       replay recorded|fast TRACE DIRECTORY RANDOM_PERCENT SEED RECORDS\n", stderr);
		return 2;
	}
	run.paced = !strcmp(arguments[1], "recorded");
	run.seed = number(arguments[5]);
	umask(0);
	read_trace(arguments[2]);
	make_content(number(arguments[4]));
	if (chdir(arguments[3]))
		die(arguments[3]);
	if (prepares) {
		prepare();
		return 0;
	}
	replay();
	write_records(arguments[6]);
	return 0;
}
