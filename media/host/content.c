// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The content file of a new medium: sparse, except for a raw chip */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "content.h"
#include "fb_chip.h"
#include "message.h"

#define PIECE_BYTES (1u << 20)

static bool write_at(int fd, const void *bytes, size_t count, u64 offset)
{
	return pwrite(fd, bytes, count, offset) == (ssize_t)count;
}

static bool erase(int fd, u64 bytes)
{
	static unsigned char erased[PIECE_BYTES];
	u64 at;

	memset(erased, 0xff, sizeof(erased));
	for (at = 0; at < bytes; at += PIECE_BYTES)
		if (!write_at(fd, erased, bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES, at))
			return false;
	return true;
}

/* On a 16-bit chip the mark is a word */
static bool mark_bad_blocks(int fd, const struct fb_medium *medium)
{
	static const unsigned char mark[2];
	const struct fb_params *p = fb_medium_params(medium);
	u64 block_bytes = p->pages_per_block * fb_raw_page_bytes(p);
	u32 block;

	for (block = 0; block < p->blocks_per_die; block++)
		if (fb_chip_bad_from_factory(medium, block) &&
		    !write_at(fd, mark, p->bus_bits / 8, block * block_bytes + fb_chip_bad_mark_column(p)))
			return false;
	return true;
}

static bool fill(int fd, const struct fb_medium *medium)
{
	u64 bytes = fb_content_bytes(fb_medium_params(medium));

	if (fb_medium_params(medium)->kind != FB_NAND)
		return ftruncate(fd, bytes) == 0;
	return erase(fd, bytes) && mark_bad_blocks(fd, medium);
}

bool content_create(const char *path, const struct fb_medium *medium)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	bool done;

	if (fd < 0)
		return complain(path, strerror(errno));
	done = fill(fd, medium) || complain(path, strerror(errno));
	close(fd);
	return done;
}
