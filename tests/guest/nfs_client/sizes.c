// SPDX-License-Identifier: Apache-2.0
/* Where numbers end: files of more than 2 and 4 GB, and a file system that is full, and is not any more */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "cases.h"

enum { BLOCK = 65536 };

/* Writes over a border and reads it back through the other mount. In version 2 sizes end at 2 GB: it is refused. */
static int over(long long border)
{
	char text[16] = "";
	int file = open(at(0, "huge"), O_CREAT | O_EXCL | O_RDWR, 0644);

	MUST(file >= 0);
	if (nfs_version == 2) {
		MUST(pwrite(file, "over", 4, border) < 0 && errno == EFBIG);
		MUST(!close(file) && size_of(at(1, "huge")) == 0 && !unlink(at(0, "huge")));
		return 0;
	}
	MUST(pwrite(file, "border", 6, border - 3) == 6 && !fsync(file) && size_of(at(1, "huge")) == border + 3);
	MUST(!ftruncate(file, border + 10) && size_of(at(1, "huge")) == border + 10 && !close(file));
	file = open(at(1, "huge"), O_RDONLY);
	MUST(pread(file, text, sizeof text, border - 3) == 13 && !memcmp(text, "border\0\0\0\0\0\0\0", 13));
	MUST(pread(file, text, 1, border - 4) == 1 && !text[0] && lseek(file, -1, SEEK_END) == border + 9);
	MUST(pread(file, text, 4, border % (1LL << 31) + 64) == 4 && !text[0]); /* not where a smaller number leads */
	MUST(!close(file) && !truncate(at(0, "huge"), border - 1) && size_of(at(1, "huge")) == border - 1);
	MUST(!unlink(at(0, "huge")));
	return 0;
}

static int more_than_2_gb(void)
{
	return over(1LL << 31);
}

static int more_than_4_gb(void)
{
	MUST_PASS(over(1LL << 32));
	return over(5LL * 1024 * 1024 * 1024 + 17);
}

/* Version 2 has files up to its last byte */
static int up_to_2_gb(void)
{
	const long long last = (1LL << 31) - 2;
	char byte = 'x';
	int file = open(at(0, "large"), O_CREAT | O_EXCL | O_RDWR, 0644);

	MUST(file >= 0 && pwrite(file, "!", 1, last) == 1 && !fsync(file) && size_of(at(1, "large")) == last + 1);
	MUST(pread(file, &byte, 1, last - 1) == 1 && !byte && pread(file, &byte, 1, last) == 1 && byte == '!');
	MUST(!close(file) && !unlink(at(0, "large")));
	return 0;
}

static long long room(void)
{
	struct statvfs found;

	return statvfs("/run/b", &found) ? -1 : (long long)(found.f_bfree * found.f_frsize);
}

/* The server's file system may give room back a little later */
static bool has_room_again(long long wanted)
{
	struct timespec pause = { .tv_nsec = 200000000 };

	for (int i = 0; i < 300 && room() < wanted; i++)
		nanosleep(&pause, NULL);
	return room() >= wanted;
}

static int room_comes_back(void)
{
	static unsigned char block[BLOCK];
	long long before;
	int file;

	MUST(!mkdir(at(0, "room"), 0755)); /* with what it takes itself */
	before = room();
	file = open(at(0, "room/file"), O_CREAT | O_EXCL | O_RDWR, 0644);
	for (int i = 0; i < 128; i++)
		MUST(write(file, block, BLOCK) == BLOCK);
	MUST(!fsync(file) && room() <= before - 128 * BLOCK);
	MUST(!ftruncate(file, 64 * BLOCK) && has_room_again(before - 65 * BLOCK) && room() <= before - 64 * BLOCK);
	MUST(!unlink(at(0, "room/file")) && room() <= before - 64 * BLOCK); /* it is open yet */
	MUST(!close(file) && has_room_again(before));
	MUST(!rmdir(at(0, "room")));
	return 0;
}

/* The client learns of it when it writes, or at the latest when it closes */
static int a_full_disk(void)
{
	static unsigned char block[BLOCK];
	long long before = room();
	int file = open(at(0, "full"), O_CREAT | O_EXCL | O_RDWR, 0644), why = 0;

	MUST(file >= 0);
	for (long long i = 0; !why && i <= before / BLOCK + 1; i++)
		if (write(file, block, BLOCK) < 0 || (i % 64 == 63 && fsync(file)))
			why = errno;
	if (fsync(file) && !why)
		why = errno;
	if (close(file) && !why)
		why = errno;
	errno = why;
	if (why != ENOSPC)
		return __LINE__;
	MUST(is_there(at(1, "full")) && !unlink(at(0, "full")) && has_room_again(before));
	MUST(make(at(0, "full"), "not any more") && holds(at(1, "full"), "not any more") && !unlink(at(0, "full")));
	return 0;
}

const struct nfs_case size_cases[] = {
	{ "up_to_2_gb", up_to_2_gb },
	{ "more_than_2_gb", more_than_2_gb },
	{ "more_than_4_gb", more_than_4_gb },
	{ "room_comes_back", room_comes_back },
	{ "a_full_disk", a_full_disk },
	{ NULL, NULL },
};
