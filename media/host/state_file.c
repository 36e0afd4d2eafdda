// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A medium's state file: created, opened, saved */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"
#include "state_file.h"

/*
 * The guest maps the file as a PCI memory region, whose size is a power of two and at least a page. QEMU requires the
 * file to have that size already.
 */
static size_t file_bytes(size_t state_bytes)
{
	size_t bytes = 4096;

	while (bytes < state_bytes)
		bytes *= 2;
	return bytes;
}

static void *map_all(int fd, size_t bytes)
{
	void *memory = MAP_FAILED;

	if (ftruncate(fd, bytes) == 0)
		memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

/* Unwritten parts of the file take no space on disk */
static bool fill_new(int fd, const void *source)
{
	const struct fb_params *params = source;
	size_t bytes = file_bytes(fb_state_bytes(params));
	void *memory = map_all(fd, bytes);
	enum fb_error error;

	if (!memory)
		return false;
	error = fb_init(memory, bytes, params);
	munmap(memory, bytes);
	return error == FB_OK;
}

/* Parts that are all zero stay holes */
static bool fill_copy(int fd, const void *source)
{
	static const char zeros[4096];
	size_t state_bytes = fb_state_bytes(fb_medium_params(source));
	size_t bytes = file_bytes(state_bytes);
	char *memory = map_all(fd, bytes);
	size_t at, part;

	if (!memory)
		return false;
	for (at = 0; at < state_bytes; at += part) {
		part = state_bytes - at < sizeof(zeros) ? state_bytes - at : sizeof(zeros);
		if (memcmp((const char *)source + at, zeros, part))
			memcpy(memory + at, (const char *)source + at, part);
	}
	munmap(memory, bytes);
	return true;
}

/* mkstemp() makes private files; this gives the state the usual permissions */
static bool take_usual_mode(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	return fchmod(fd, 0666 & ~mask) == 0;
}

static bool write_file(const char *path, bool (*fill)(int fd, const void *source), const void *source)
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
	done = fill(fd, source) && take_usual_mode(fd) && fsync(fd) == 0;
	close(fd);
	done = done && rename(temporary, path) == 0;
	if (!done) {
		complain(path, strerror(errno));
		unlink(temporary);
	}
	free(temporary);
	return done;
}

bool state_file_create(const char *path, const struct fb_params *params)
{
	return write_file(path, fill_new, params);
}

bool state_file_save(const char *path, const struct fb_medium *medium)
{
	return write_file(path, fill_copy, medium);
}

/* Tables are accessed at random: with small pages, address translation would take most of the time */
struct fb_medium *state_file_make(const struct fb_params *params)
{
	size_t bytes = fb_state_bytes(params);
	struct fb_medium *medium = NULL;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory != MAP_FAILED)
		madvise(memory, bytes, MADV_HUGEPAGE);
	if (memory == MAP_FAILED || fb_init(memory, bytes, params) || fb_open(memory, bytes, &medium))
		complain("medium", "out of memory");
	return medium;
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
