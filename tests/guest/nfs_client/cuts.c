// SPDX-License-Identifier: Apache-2.0
/*
 * Work that goes on while the server's power goes and comes back. Nothing may fail: the client waits, and asks again. What
 * it was told is done has to be there, also by the other mount, which reads past its own memory.
 *
 * A server that starts anew has forgotten which calls it carried out. If its answer was lost with it, the call that is
 * sent again finds a folder there already, or a file gone: so says version 3 (RFC 1813, 4.9), and so this takes it.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cases.h"

enum { LONG = 100000, DIRECT = 4096, KEPT = 8, RECORD = 65536 };

/* The host says by a line on the console that it will cut no more */
static bool told_to_end(void)
{
	struct pollfd console = { .fd = 0, .events = POLLIN };

	return poll(&console, 1, 0) > 0;
}

/* True if it was carried out now, or before an answer that was lost */
static bool done(int result, int if_it_was_done)
{
	return !result || errno == if_it_was_done;
}

static bool is_on_the_server(const char *path, const unsigned char *wanted, size_t length)
{
	unsigned char *found = aligned_alloc(DIRECT, (length / DIRECT + 1) * DIRECT);
	int file = open(path, O_RDONLY | O_DIRECT);
	size_t got = 0;
	ssize_t count;
	bool same;

	while ((count = pread(file, found + got, DIRECT, (off_t)got)) > 0)
		got += (size_t)count;
	same = !count && got == length && !memcmp(found, wanted, length);
	free(found);
	return !close(file) && same;
}

static bool write_whole(const char *path, const unsigned char *bytes)
{
	int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);

	return file >= 0 && write(file, bytes, LONG) == LONG && !close(file);
}

/* As an editor saves a file: under another name, then into place; and a folder comes and goes */
static int one_round(unsigned number)
{
	static unsigned char bytes[LONG];

	fill(bytes, LONG, number);
	MUST(write_whole(at(0, "cut/new"), bytes));
	MUST(done(rename(at(0, "cut/new"), at(0, "cut/%u", number % KEPT)), ENOENT) && is_missing(at(1, "cut/new")));
	MUST(is_on_the_server(at(1, "cut/%u", number % KEPT), bytes, LONG));
	MUST(done(mkdir(at(0, "cut/folder"), 0755), EEXIST) && is_there(at(1, "cut/folder")));
	MUST(done(rmdir(at(0, "cut/folder")), ENOENT) && is_missing(at(1, "cut/folder")));
	return 0;
}

static int all_is_there(unsigned rounds)
{
	static unsigned char bytes[LONG];

	for (unsigned number = rounds < KEPT ? 0 : rounds - KEPT; number < rounds; number++) {
		fill(bytes, LONG, number);
		MUST(is_on_the_server(at(1, "cut/%u", number % KEPT), bytes, LONG));
	}
	return 0;
}

/* A file stays open all the while, is written to each round, and made sure now and then */
static int work_over_cuts(void)
{
	static unsigned char record[RECORD], all[4 * RECORD];
	unsigned rounds = 0;
	int kept;

	MUST(!mkdir(at(0, "cut"), 0755));
	MUST((kept = open(at(0, "kept"), O_CREAT | O_EXCL | O_RDWR, 0644)) >= 0);
	for (; rounds < KEPT || !told_to_end(); rounds++) {
		off_t place = rounds % 4 * RECORD;

		fill(record, RECORD, rounds);
		memcpy(all + place, record, RECORD);
		MUST(pwrite(kept, record, RECORD, place) == RECORD);
		MUST(rounds % 3 || !fsync(kept));
		MUST_PASS(one_round(rounds));
		printf("round %u\n", rounds);
		fflush(stdout);
	}
	MUST(!close(kept) && is_on_the_server(at(1, "kept"), all, sizeof all));
	return all_is_there(rounds);
}

const struct nfs_case cut_cases[] = {
	{ "work_over_cuts", work_over_cuts },
	{ NULL, NULL },
};
