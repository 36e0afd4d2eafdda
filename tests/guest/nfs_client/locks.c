// SPDX-License-Identifier: Apache-2.0
/* Locks of ranges, between the mounts and between two processes of one: who may, who may not, and who is told to be in
 * the way
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "cases.h"
#include "stranger.h"

enum { FREE = F_UNLCK };

/* With the stranger on each of the mounts, one after the other */
static int by_both(int (*run)(int file, const struct stranger *stranger))
{
	for (int mount = 1; mount >= 0; mount--) {
		int file = open(at(0, "locked"), O_CREAT | O_RDWR, 0644);
		struct stranger stranger;

		MUST(file >= 0 && begin_stranger(&stranger, at(mount, "locked")));
		MUST_PASS(run(file, &stranger));
		MUST(end_stranger(&stranger) && !close(file) && !unlink(at(0, "locked")));
	}
	return 0;
}

static int try_ranges(int a, const struct stranger *b)
{
	MUST(!set_lock(a, F_WRLCK, 0, 100, F_SETLK));
	MUST(other(b, 'r', F_WRLCK, 50, 10) == 1);
	MUST(other(b, 'r', F_RDLCK, 99, 10) == 1);
	MUST(other(b, 'h', 0, 0, 1) == F_WRLCK && other(b, 'h', 0, 100, 1) == FREE);
	MUST(other(b, 'l', F_WRLCK, 100, 0) == 0 && is_refused(a, F_WRLCK, 1000000, 1));
	MUST(!set_lock(a, F_UNLCK, 40, 20, F_SETLK)); /* in the middle */
	MUST(other(b, 'l', F_WRLCK, 40, 20) == 0);
	MUST(other(b, 'r', F_WRLCK, 39, 1) == 1 && other(b, 'r', F_WRLCK, 60, 1) == 1);
	MUST(other(b, 'l', F_UNLCK, 0, 0) == 0);
	MUST(!set_lock(a, F_RDLCK, 0, 0, F_SETLK) && other(b, 'l', F_RDLCK, 0, 0) == 0);
	MUST(other(b, 'r', F_WRLCK, 0, 1) == 1);
	return 0;
}

static int locks(void)
{
	return by_both(try_ranges);
}

/* Length 0: to the end, wherever that is, and wherever it will be */
static int try_whole(int a, const struct stranger *b)
{
	static const off_t places[] = { 0, 1, 4096, 0x3fffffff };

	MUST(who_holds(a, 0, 0) == FREE && other(b, 'h', 0, 0, 0) == FREE);
	MUST(!set_lock(a, F_WRLCK, 0, 0, F_SETLK));
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		MUST(other(b, 'r', F_WRLCK, places[i], 1) == 1 && other(b, 'r', F_RDLCK, places[i], 0) == 1);
	MUST(!set_lock(a, F_WRLCK, 0, 0, F_SETLK)); /* once more, by who has it */
	MUST(!set_lock(a, F_UNLCK, 0, 0, F_SETLK) && other(b, 'h', 0, 0, 0) == FREE);
	MUST(!set_lock(a, F_UNLCK, 0, 0, F_SETLK)); /* there was none */
	MUST(other(b, 'l', F_WRLCK, 0, 0) == 0 && is_refused(a, F_RDLCK, 17, 1) && other(b, 'l', F_UNLCK, 0, 0) == 0);
	MUST(!set_lock(a, F_WRLCK, 100, 0, F_SETLK));
	MUST(other(b, 'l', F_WRLCK, 0, 100) == 0 && other(b, 'r', F_WRLCK, 0, 101) == 1);
	MUST(!ftruncate(a, 1000) && other(b, 'r', F_RDLCK, 5000, 1) == 1);
	return 0;
}

static int locks_of_the_whole(void)
{
	return by_both(try_whole);
}

/* What F_GETLK tells: kind, place and holder of a lock that is in the way. Version 4 has no number for one elsewhere. */
static int who_is_in_the_way(void)
{
	for (int mount = 0; mount < 2; mount++) {
		struct flock lock;
		struct stranger stranger;
		int file = open(at(0, "who"), O_CREAT | O_RDWR, 0644);

		MUST(file >= 0 && begin_stranger(&stranger, at(mount, "who")));
		lock = (struct flock) { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 5, .l_len = 6, .l_pid = 77 };
		MUST(!fcntl(file, F_GETLK, &lock) && lock.l_type == FREE);
		MUST(lock.l_start == 5 && lock.l_len == 6 && lock.l_pid == 77); /* all else as it was */
		MUST(!other(&stranger, 'l', F_WRLCK, 100, 50) && !other(&stranger, 'l', F_WRLCK, 1000, 0));
		lock = (struct flock) { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 120, .l_len = 1 };
		MUST(!fcntl(file, F_GETLK, &lock) && lock.l_type == F_WRLCK && lock.l_start == 100 && lock.l_len == 50);
		MUST(lock.l_pid != getpid() && (mount ? lock.l_pid || nfs_version == 4 : lock.l_pid == stranger.pid));
		lock = (struct flock) { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 900, .l_len = 0 };
		MUST(!fcntl(file, F_GETLK, &lock) && lock.l_type == F_WRLCK && lock.l_start == 1000 && !lock.l_len);
		MUST(end_stranger(&stranger) && !close(file) && !unlink(at(0, "who")));
	}
	return 0;
}

/* What is told of a reader who has bytes 100 to 149 to one who wants to write byte 120 */
static int is_named(int file)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 120, .l_len = 1 };

	MUST(!fcntl(file, F_GETLK, &lock));
	MUST(lock.l_type != FREE); /* NOBODY IS IN THE WAY: test_appliance_client.py knows the case by this line */
	MUST(lock.l_type == F_RDLCK && lock.l_start == 100 && lock.l_len == 50);
	return 0;
}

/* The same of a reader: in the way of who wants to write, and not of who wants to read */
static int readers_in_the_way(void)
{
	for (int mount = 0; mount < 2; mount++) {
		struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 120, .l_len = 1 };
		struct stranger stranger;
		int file = open(at(0, "readers"), O_CREAT | O_RDWR, 0644);

		MUST(file >= 0 && begin_stranger(&stranger, at(mount, "readers")));
		MUST(!other(&stranger, 'l', F_RDLCK, 100, 50));
		MUST(!fcntl(file, F_GETLK, &lock) && lock.l_type == FREE);
		MUST(is_refused(file, F_WRLCK, 120, 1) && is_refused(file, F_WRLCK, 149, 0));
		if (!mount)
			MUST_PASS(is_named(file));
		MUST(!set_lock(file, F_RDLCK, 120, 1, F_SETLK) && !set_lock(file, F_WRLCK, 150, 10, F_SETLK));
		MUST(end_stranger(&stranger) && !close(file) && !unlink(at(0, "readers")));
	}
	return 0;
}

/* A reader of another client, whom only the server knows */
static int readers_elsewhere_are_named(void)
{
	struct stranger stranger;
	int file = open(at(0, "elsewhere"), O_CREAT | O_RDWR, 0644);

	MUST(file >= 0 && begin_stranger(&stranger, at(1, "elsewhere")));
	MUST(!other(&stranger, 'l', F_RDLCK, 100, 50));
	MUST_PASS(is_named(file));
	MUST(end_stranger(&stranger) && !close(file) && !unlink(at(0, "elsewhere")));
	return 0;
}

static int try_touching(int a, const struct stranger *b)
{
	MUST(!set_lock(a, F_WRLCK, 10, 10, F_SETLK));
	MUST(!other(b, 'l', F_WRLCK, 0, 10) && !other(b, 'l', F_WRLCK, 20, 10)); /* on both sides */
	MUST(other(b, 'r', F_WRLCK, 0, 11) == 1 && other(b, 'r', F_WRLCK, 19, 1) == 1);
	MUST(other(b, 'r', F_WRLCK, 5, 20) == 1 && other(b, 'r', F_WRLCK, 12, 3) == 1); /* around it, and within */
	MUST(is_refused(a, F_WRLCK, 9, 1) && is_refused(a, F_WRLCK, 20, 1));
	MUST(!set_lock(a, F_UNLCK, 10, 10, F_SETLK) && !other(b, 'l', F_WRLCK, 10, 10));
	MUST(is_refused(a, F_RDLCK, 29, 1) && who_holds(a, 30, 0) == FREE);
	return 0;
}

static int locks_that_touch(void)
{
	return by_both(try_touching);
}

/* A lock's first and last byte, as seen by another */
static int spans(int file, off_t place, short type, off_t start, off_t length)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = place, .l_len = 1 };

	MUST(!fcntl(file, F_GETLK, &lock));
	MUST(lock.l_type == type);
	MUST(type == FREE || (lock.l_start == start && lock.l_len == length));
	return 0;
}

static int try_splitting(int a, const struct stranger *b)
{
	MUST(!other(b, 'l', F_WRLCK, 0, 100) && !other(b, 'l', F_UNLCK, 40, 20));
	MUST_PASS(spans(a, 39, F_WRLCK, 0, 40));
	MUST_PASS(spans(a, 40, FREE, 0, 0));
	MUST_PASS(spans(a, 60, F_WRLCK, 60, 40));
	MUST(!other(b, 'l', F_WRLCK, 40, 20)); /* joined again */
	MUST_PASS(spans(a, 50, F_WRLCK, 0, 100));
	MUST(!other(b, 'l', F_RDLCK, 40, 20)); /* three, of two kinds */
	MUST_PASS(spans(a, 39, F_WRLCK, 0, 40));
	MUST(is_refused(a, F_WRLCK, 40, 1) && is_refused(a, F_WRLCK, 59, 1)); /* the middle lets others read */
	MUST(!set_lock(a, F_RDLCK, 40, 20, F_SETLK) && !set_lock(a, F_UNLCK, 40, 20, F_SETLK));
	MUST(is_refused(a, F_RDLCK, 39, 1) && is_refused(a, F_RDLCK, 60, 1));
	MUST_PASS(spans(a, 99, F_WRLCK, 60, 40));
	MUST(!other(b, 'l', F_WRLCK, 100, 100) && !other(b, 'l', F_WRLCK, 30, 100)); /* touches, and overlaps */
	MUST_PASS(spans(a, 0, F_WRLCK, 0, 200));
	MUST(!other(b, 'l', F_UNLCK, 0, 10) && !other(b, 'l', F_UNLCK, 190, 0)); /* from both ends */
	MUST_PASS(spans(a, 100, F_WRLCK, 10, 180));
	MUST_PASS(spans(a, 9, FREE, 0, 0));
	MUST_PASS(spans(a, 190, FREE, 0, 0));
	return 0;
}

static int locks_split_and_join(void)
{
	return by_both(try_splitting);
}

static int try_changing(int a, const struct stranger *b)
{
	MUST(!set_lock(a, F_RDLCK, 0, 100, F_SETLK) && !other(b, 'l', F_RDLCK, 0, 100));
	MUST(is_refused(a, F_WRLCK, 0, 100) && other(b, 'r', F_WRLCK, 0, 1) == 1); /* who is refused keeps what he had */
	MUST(!other(b, 'l', F_UNLCK, 0, 100) && other(b, 'r', F_WRLCK, 50, 1) == 1);
	MUST(!set_lock(a, F_WRLCK, 0, 100, F_SETLK) && other(b, 'r', F_RDLCK, 50, 1) == 1);
	MUST(!set_lock(a, F_RDLCK, 0, 100, F_SETLK) && !other(b, 'l', F_RDLCK, 50, 1));
	MUST(!other(b, 'l', F_UNLCK, 0, 0) && !set_lock(a, F_WRLCK, 20, 10, F_SETLK)); /* a part */
	MUST(other(b, 'r', F_RDLCK, 25, 1) == 1 && !other(b, 'l', F_RDLCK, 0, 20) && !other(b, 'l', F_RDLCK, 30, 0));
	return 0;
}

static int locks_change_kind(void)
{
	return by_both(try_changing);
}

/* Closing any of a process's handles of the file gives all of its locks up */
static int locks_go_with_a_close(void)
{
	for (int mount = 0; mount < 2; mount++) {
		int file = open(at(0, "closed"), O_CREAT | O_RDWR, 0644), second = open(at(0, "closed"), O_RDONLY);
		struct stranger stranger;

		MUST(file >= 0 && second >= 0 && begin_stranger(&stranger, at(mount, "closed")));
		MUST(!set_lock(file, F_WRLCK, 0, 0, F_SETLK) && other(&stranger, 'r', F_WRLCK, 0, 0) == 1);
		MUST(!close(second) && !other(&stranger, 'l', F_WRLCK, 0, 0) && is_refused(file, F_WRLCK, 0, 0));
		MUST(!other(&stranger, 'c', 0, 0, 0) && !set_lock(file, F_WRLCK, 0, 0, F_SETLK));
		MUST(end_stranger(&stranger) && !close(file) && !unlink(at(0, "closed")));
	}
	return 0;
}

static int locks_go_with_their_holder(void)
{
	for (int mount = 0; mount < 2; mount++) {
		int file = open(at(0, "held"), O_CREAT | O_RDWR, 0644);
		struct stranger stranger;

		MUST(file >= 0 && begin_stranger(&stranger, at(mount, "held")));
		MUST(!other(&stranger, 'l', F_WRLCK, 0, 100) && !other(&stranger, 'l', F_RDLCK, 200, 0));
		MUST(is_refused(file, F_RDLCK, 0, 1) && is_refused(file, F_WRLCK, 1000, 1));
		MUST(kill_stranger(&stranger) && !set_lock(file, F_WRLCK, 0, 0, F_SETLK));
		MUST(!close(file) && !unlink(at(0, "held")));
	}
	return 0;
}

const struct nfs_case lock_cases[] = {
	{ "locks", locks },
	{ "locks_of_the_whole", locks_of_the_whole },
	{ "who_is_in_the_way", who_is_in_the_way },
	{ "readers_in_the_way", readers_in_the_way },
	{ "readers_elsewhere_are_named", readers_elsewhere_are_named },
	{ "locks_that_touch", locks_that_touch },
	{ "locks_split_and_join", locks_split_and_join },
	{ "locks_change_kind", locks_change_kind },
	{ "locks_go_with_a_close", locks_go_with_a_close },
	{ "locks_go_with_their_holder", locks_go_with_their_holder },
	{ NULL, NULL },
};
