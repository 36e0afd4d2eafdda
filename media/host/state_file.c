// SPDX-License-Identifier: GPL-2.0-only OR MIT
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state_file.h"

static bool complain(const char *path, const char *what)
{
	fprintf(stderr, "fbmedia: %s: %s\n", path, what);
	return false;
}

/*
 * The guest sees the file as a PCI memory region, which has a power of two of bytes, and at least a page; QEMU wants
 * the file to have that size already.
 */
static size_t file_bytes(size_t state_bytes)
{
	size_t bytes = 4096;

	while (bytes < state_bytes)
		bytes *= 2;
	return bytes;
}

/* What is never written of the file takes no space on disk */
static bool fill(int fd, const struct fb_params *params)
{
	size_t bytes = file_bytes(fb_state_bytes(params));
	void *memory;
	enum fb_error error;

	if (ftruncate(fd, bytes) < 0)
		return false;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return false;
	error = fb_init(memory, bytes, params);
	munmap(memory, bytes);
	return error == FB_OK;
}

/* mkstemp() makes private files; a state is as readable as any other file of the user's */
static bool take_usual_mode(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	return fchmod(fd, 0666 & ~mask) == 0;
}

bool state_file_create(const char *path, const struct fb_params *params)
{
	char *temporary;
	int fd;
	bool done;

	if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
		return complain(path, "out of memory");
	fd = mkstemp(temporary);
	if (fd < 0) {
		complain(path, strerror(errno));
		free(temporary);
		return false;
	}
	done = fill(fd, params) && take_usual_mode(fd) && fsync(fd) == 0;
	close(fd);
	done = done && rename(temporary, path) == 0;
	if (!done) {
		complain(path, strerror(errno));
		unlink(temporary);
	}
	free(temporary);
	return done;
}

struct fb_medium *state_file_open(const char *path)
{
	struct fb_medium *medium = NULL;
	enum fb_error error;
	struct stat status;
	void *memory;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &status) < 0) {
		complain(path, strerror(errno));
		return NULL;
	}
	if (status.st_size == 0) {
		complain(path, fb_error_text(FB_NOT_A_STATE));
		return NULL;
	}
	memory = mmap(NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (memory == MAP_FAILED) {
		complain(path, strerror(errno));
		return NULL;
	}
	error = fb_open(memory, status.st_size, &medium);
	if (error)
		complain(path, fb_error_text(error));
	return medium;
}
