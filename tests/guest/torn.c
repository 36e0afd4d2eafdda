// SPDX-License-Identifier: Apache-2.0
/*
 * torn: reads of a file past the page cache, beside writes of the same bytes.
 *
 *	torn FILE BYTES SECONDS
 *
 * One process writes all BYTES of FILE again and again, each time with another value of a byte; another reads them. A
 * read whose bytes are not all alike was torn: a write changed the bytes while it read them. Prints "writes N", "reads
 * N" and "torn N". Exit status 1 if a request fails.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static size_t bytes;
static double end;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static int write_all(int file, char *block)
{
	unsigned long writes = 0;

	for (; now() < end; writes++) {
		memset(block, writes & 0xff, bytes);
		if (pwrite(file, block, bytes, 0) != (ssize_t)bytes)
			return 1;
	}
	printf("writes %lu\n", writes);
	return 0;
}

static int read_all(int file, char *block)
{
	unsigned long reads = 0, torn = 0;

	for (; now() < end; reads++) {
		/* Else both would come to go in step, never at the same moment */
		for (double until = now() + reads % 101 / 1e6; now() < until;)
			;
		if (pread(file, block, bytes, 0) != (ssize_t)bytes)
			return 1;
		torn += memcmp(block, block + 1, bytes - 1) != 0;
	}
	printf("reads %lu\ntorn %lu\n", reads, torn);
	return 0;
}

int main(int count, char **words)
{
	int file, status;
	char *block;
	pid_t writer;

	if (count != 4)
		return 2;
	bytes = strtoul(words[2], NULL, 10);
	end = now() + strtod(words[3], NULL);
	file = open(words[1], O_RDWR | O_CREAT | O_DIRECT, 0600);
	block = aligned_alloc(4096, bytes);
	if (file < 0 || !block)
		return 1;
	memset(block, 0, bytes);
	if (pwrite(file, block, bytes, 0) != (ssize_t)bytes || fsync(file))
		return 1;
	writer = fork();
	if (!writer)
		return write_all(file, block);
	if (writer < 0 || read_all(file, block))
		return 1;
	return wait(&status) < 0 || status;
}
