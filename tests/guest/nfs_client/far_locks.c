// SPDX-License-Identifier: Apache-2.0
/* Locks where numbers end, or count from elsewhere. With version 2 goes a lock manager whose numbers have 32 bits. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "cases.h"
#include "stranger.h"

#define END INT64_MAX

/* A byte, and what is on both sides of it */
static int lock_at(int a, const struct stranger *b, off_t place)
{
	MUST(!set_lock(a, F_WRLCK, place, 1, F_SETLK));
	MUST(other(b, 'r', F_WRLCK, place, 1) == 1 && other(b, 'r', F_RDLCK, 0, 0) == 1);
	MUST(other(b, 'h', 0, place - 1, 1) == F_UNLCK && other(b, 'l', F_WRLCK, place - 1, 1) == 0);
	if (place < END)
		MUST(!other(b, 'l', F_WRLCK, place + 1, place + 1 < END) && is_refused(a, F_WRLCK, place + 1, 1));
	MUST(is_refused(a, F_WRLCK, place - 1, 1) && other(b, 'l', F_UNLCK, 0, 0) == 0);
	MUST(!set_lock(a, F_UNLCK, place, 1, F_SETLK) && other(b, 'h', 0, place, 1) == F_UNLCK);
	return 0;
}

static int far_locks(void)
{
	static const off_t places[] = {
		(1LL << 31) - 2, (1LL << 31) - 1, 1LL << 31,	   (1LL << 32) - 2, (1LL << 32) - 1, 1LL << 32,
		(1LL << 33) + 1, 1LL << 62,	  END - 2,	   END - 1,	    END,
	};
	int file = open(at(0, "far"), O_CREAT | O_RDWR, 0644);
	struct stranger stranger;

	MUST(file >= 0 && begin_stranger(&stranger, at(1, "far")));
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		if (nfs_version == 2 && places[i] > INT32_MAX) {
			MUST(set_lock(file, F_WRLCK, places[i], 1, F_SETLK) && errno == EINVAL); /* the client's own word */
			continue;
		}
		if (nfs_version == 2 && places[i] >= INT32_MAX - 1)
			continue; /* its neighbour has no number there */
		MUST_PASS(lock_at(file, &stranger, places[i]));
	}
	MUST(end_stranger(&stranger) && !close(file) && !unlink(at(0, "far")));
	return 0;
}

static int ranges_that_are_none(void)
{
	int file = open(at(0, "none"), O_CREAT | O_RDWR, 0644);

	MUST(file >= 0 && set_lock(file, F_WRLCK, -1, 1, F_SETLK) && errno == EINVAL);
	MUST(set_lock(file, F_WRLCK, 10, -11, F_SETLK) && errno == EINVAL);
	MUST(set_lock(file, F_WRLCK, END, 2, F_SETLK) && errno == EOVERFLOW);
	MUST(!close(file));
	file = open(at(0, "none"), O_RDONLY); /* who may not write may not lock as a writer */
	MUST(set_lock(file, F_WRLCK, 0, 1, F_SETLK) && errno == EBADF && !set_lock(file, F_RDLCK, 0, 1, F_SETLK));
	MUST(!close(file) && !unlink(at(0, "none")));
	return 0;
}

static int places_from_elsewhere(void)
{
	int file = open(at(0, "places"), O_CREAT | O_RDWR, 0644);
	struct flock from_end = { .l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = -10, .l_len = 5 };
	struct flock from_here = { .l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_start = 20, .l_len = -5 };
	struct stranger stranger;

	MUST(file >= 0 && !ftruncate(file, 1000) && begin_stranger(&stranger, at(1, "places")));
	MUST(!fcntl(file, F_SETLK, &from_end) && lseek(file, 100, SEEK_SET) == 100 && !fcntl(file, F_SETLK, &from_here));
	MUST(other(&stranger, 'h', 0, 990, 5) == F_WRLCK && other(&stranger, 'h', 0, 115, 5) == F_WRLCK);
	MUST(other(&stranger, 'h', 0, 0, 115) == F_UNLCK && other(&stranger, 'h', 0, 120, 870) == F_UNLCK);
	MUST(other(&stranger, 'h', 0, 995, 0) == F_UNLCK);
	MUST(end_stranger(&stranger) && !close(file) && !unlink(at(0, "places")));
	return 0;
}

const struct nfs_case far_lock_cases[] = {
	{ "far_locks", far_locks },
	{ "ranges_that_are_none", ranges_that_are_none },
	{ "places_from_elsewhere", places_from_elsewhere },
	{ NULL, NULL },
};
