// SPDX-License-Identifier: Apache-2.0
/*
 * bonnie: one phase of Tim Bray's Bonnie on one file, reimplemented from its description.
 *
 *	bonnie PHASE FILE BYTES CHUNK SEEKS SEEKERS SEED FLUSH FORGET
 *
 *	char_output	a new file, with putc()
 *	rewrite		each chunk is read, changed and written back in its place
 *	block_output	a new file, chunk by chunk
 *	char_input	all of the file, with getc()
 *	block_input	all of the file, chunk by chunk
 *	random_seeks	SEEKERS processes read SEEKS chunks anywhere, together; each writes every tenth of its own back, changed
 *
 * FLUSH is 1 if the phase ends when all data is on the medium, and 0 if it ends with the last call, as in Bonnie.
 * FORGET is 1 if a seeker drops each chunk that it read and did not change from the page cache, so that the medium
 * serves the chunk when it is drawn again; 0 leaves it there, as Bonnie does. If a phase makes a new file, an existing
 * file is removed before it, outside its time. Prints PHASE, its begin and end (CLOCK_MONOTONIC), the CPU time of its
 * processes in between, all in ns, and the number of bytes or seeks.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

enum { CHANGED_OF = 10, MAX_SEEKERS = 64 };

static struct {
	const char *path;
	uint64_t bytes, chunk, seeks, seekers, seed;
	bool flush, forget;
} job;

static unsigned char *block;
static uint64_t began_ns, cpu_before_ns;
static volatile bool *changed; /* of each chunk: a seeker has changed it; shared by all seekers */

static void die(const char *what)
{
	fprintf(stderr, "bonnie: %s: %s: %s\n", job.path, what, strerror(errno));
	exit(1);
}

static uint64_t cpu_ns(int who)
{
	struct rusage used;

	getrusage(who, &used);
	return (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * NS_PER_S +
	       (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000u;
}

/* Excludes the program's start from the phase. The CPU time is taken within the phase's time. */
static void begin(void)
{
	began_ns = now_ns();
	cpu_before_ns += cpu_ns(RUSAGE_SELF);
}

static int file(bool fresh)
{
	int fd;

	if (fresh && unlink(job.path) && errno != ENOENT)
		die("cannot be removed");
	fd = open(job.path, fresh ? O_RDWR | O_CREAT | O_EXCL : O_RDWR, 0600);
	if (fd < 0)
		die("cannot be opened");
	return fd;
}

static FILE *stream(bool fresh)
{
	FILE *opened = fdopen(file(fresh), fresh ? "w" : "r");

	if (!opened)
		die("fdopen");
	return opened;
}

static void flush(int fd)
{
	if (job.flush && fsync(fd))
		die("fsync");
}

static void finish(int fd)
{
	flush(fd);
	if (close(fd))
		die("close");
}

static void write_block(int fd)
{
	if (!is_whole(write(fd, block, job.chunk), job.chunk, ENOSPC))
		die("write");
}

static void read_block(int fd)
{
	if (!is_whole(read(fd, block, job.chunk), job.chunk, ENODATA))
		die("read");
}

static void seek(int fd, off_t offset, int whence)
{
	if (lseek(fd, offset, whence) < 0)
		die("lseek");
}

/* Not for changed chunks: the kernel would write them back now, and not when it would by itself */
static void forget(int fd, uint64_t chunk)
{
	if (!job.forget || changed[chunk])
		return;
	errno = posix_fadvise(fd, (off_t)(chunk * job.chunk), (off_t)job.chunk, POSIX_FADV_DONTNEED);
	if (errno)
		die("posix_fadvise");
}

static uint64_t char_output(void)
{
	FILE *to = stream(true);

	begin();
	for (uint64_t i = 0; i < job.bytes; i++)
		if (putc((int)(i & 0x7f), to) == EOF)
			die("putc");
	if (fflush(to))
		die("fflush");
	flush(fileno(to));
	if (fclose(to))
		die("fclose");
	return job.bytes;
}

static uint64_t rewrite(void)
{
	int fd = file(false);

	begin();
	for (uint64_t at = 0; at < job.bytes; at += job.chunk) {
		read_block(fd);
		block[at / job.chunk % job.chunk]++;
		seek(fd, -(off_t)job.chunk, SEEK_CUR);
		write_block(fd);
	}
	finish(fd);
	return job.bytes;
}

static uint64_t block_output(void)
{
	int fd = file(true);

	begin();
	for (uint64_t at = 0; at < job.bytes; at += job.chunk) {
		block[at / job.chunk % job.chunk]++;
		write_block(fd);
	}
	finish(fd);
	return job.bytes;
}

static uint64_t char_input(void)
{
	FILE *from = stream(false);
	static uint64_t seen[256];
	uint64_t count = 0;
	int character;

	begin();
	for (; (character = getc(from)) != EOF; count++)
		seen[character]++;
	if (ferror(from) || fclose(from))
		die("getc");
	if (count != job.bytes || seen[0] > count) {
		errno = ENODATA;
		die("getc");
	}
	return count;
}

static uint64_t block_input(void)
{
	int fd = file(false);
	volatile unsigned char touched = 0;

	begin();
	for (uint64_t at = 0; at < job.bytes; at += job.chunk) {
		read_block(fd);
		touched ^= block[at / job.chunk % job.chunk];
	}
	if (close(fd))
		die("close");
	return job.bytes;
}

/* One ticket per seek, taken from the pipe; an end of file means that none are left */
static void seeker(int tickets, int ready, uint64_t number)
{
	uint64_t state = random_state(job.seed, MAX_SEEKERS, number);
	uint64_t chunks = job.bytes / job.chunk, at;
	int fd = file(false);
	uint64_t start_ns = cpu_ns(RUSAGE_SELF);
	char ticket;

	if (write(ready, &start_ns, sizeof(start_ns)) != sizeof(start_ns))
		die("pipe");
	close(ready);
	for (uint64_t count = 0; read(tickets, &ticket, 1) == 1; count++) {
		at = random_below(&state, chunks);
		seek(fd, (off_t)(at * job.chunk), SEEK_SET);
		read_block(fd);
		if (count % CHANGED_OF) {
			forget(fd, at);
			continue;
		}
		changed[at] = true;
		block[count % job.chunk]++;
		seek(fd, -(off_t)job.chunk, SEEK_CUR);
		write_block(fd);
	}
	finish(fd);
	exit(0);
}

static uint64_t random_seeks(void)
{
	int tickets[2], ready[2], status;
	uint64_t start_ns;
	char ticket = 0;

	if (pipe(tickets) || pipe(ready))
		die("pipe");
	changed = mmap(NULL, job.bytes / job.chunk, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (changed == MAP_FAILED)
		die("no memory");
	for (uint64_t i = 0; i < job.seekers; i++) {
		pid_t child = fork();

		if (child < 0)
			die("fork");
		if (!child) {
			close(tickets[1]);
			seeker(tickets[0], ready[1], i);
		}
	}
	close(tickets[0]);
	close(ready[1]); /* so that the end of file reveals a lost seeker */
	for (uint64_t i = 0; i < job.seekers; i++) {
		if (read(ready[0], &start_ns, sizeof(start_ns)) != sizeof(start_ns))
			exit(1); /* it has printed the reason */
		cpu_before_ns += start_ns;
	}
	begin();
	for (uint64_t i = 0; i < job.seeks; i++)
		if (write(tickets[1], &ticket, 1) != 1)
			die("pipe");
	close(tickets[1]);
	for (uint64_t i = 0; i < job.seekers; i++)
		if (wait(&status) < 0 || status)
			exit(1); /* it has printed the reason */
	return job.seeks;
}

static const struct {
	const char *name;
	uint64_t (*run)(void);
} phases[] = {
	{ "char_output", char_output }, { "rewrite", rewrite },		{ "block_output", block_output },
	{ "char_input", char_input },	{ "block_input", block_input }, { "random_seeks", random_seeks },
};

int main(int argc, char **argv)
{
	uint64_t done, used_ns;

	if (argc == 10) {
		job.path = argv[2];
		job.bytes = number(argv[3]);
		job.chunk = number(argv[4]);
		job.seeks = number(argv[5]);
		job.seekers = number(argv[6]);
		job.seed = number(argv[7]);
		job.flush = number(argv[8]);
		job.forget = number(argv[9]);
	}
	for (size_t i = 0; argc == 10 && job.chunk && i < sizeof(phases) / sizeof(*phases); i++) {
		if (strcmp(argv[1], phases[i].name))
			continue;
		block = calloc(1, job.chunk);
		if (!block)
			die("no memory");
		done = phases[i].run();
		used_ns = cpu_ns(RUSAGE_SELF) + cpu_ns(RUSAGE_CHILDREN) - cpu_before_ns;
		printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", argv[1], began_ns, now_ns(), used_ns, done);
		return 0;
	}
	fputs("usage: bonnie PHASE FILE BYTES CHUNK SEEKS SEEKERS SEED FLUSH FORGET: see the head of its source\n", stderr);
	return 2;
}
