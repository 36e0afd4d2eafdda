// SPDX-License-Identifier: Apache-2.0
/* Results are written to a temporary file beside the target, then renamed */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interrupt.h"
#include "message.h"
#include "output.h"

__attribute__((noreturn))
static void refuse(const struct output *output, int error)
{
	end_with(EXIT_HOST, "--output %s: %s", output->name, strerror(error));
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Names of open files, where writing may be in the middle of the file */
static bool is_open_already(const char *name)
{
	return !strncmp(name, "/dev/std", 8) || !strncmp(name, "/dev/fd/", 8) || !strncmp(name, "/proc/", 6);
}

/* Makes a file in the same directory, with the same permissions, for the rename; returns its descriptor */
static int make_beside(struct output *output)
{
	const char *slash = strrchr(output->file, '/');
	int directory = slash ? (int)(slash + 1 - output->file) : 0;
	struct stat there;
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	snprintf(output->beside, sizeof(output->beside), "%.*s.sfsload.XXXXXX", directory, output->file);
	fd = mkstemp(output->beside);
	if (fd < 0)
		refuse(output, errno);
	interrupt_removes(output->beside);
	fchmod(fd, stat(output->file, &there) ? 0666 & ~mask : there.st_mode & 07777);
	return fd;
}

static void check_beside(struct output *output)
{
	int fd = make_beside(output);

	close(fd);
	unlink(output->beside);
	interrupt_removes(NULL);
}

static FILE *open_directly(const struct output *output)
{
	FILE *out = fopen(output->name, "w");

	if (!out)
		refuse(output, errno);
	return out;
}

void output_check(struct output *output, const char *name)
{
	struct stat there, link, standard;

	*output = (struct output) { .name = name, .direct = stdout };
	if (!name) {
		if (fstat(STDOUT_FILENO, &standard))
			end_with(EXIT_HOST, "standard output is closed; --output names a file");
		return;
	}
	if (stat(name, &there)) {
		if (lstat(name, &link) && strlen(name) < sizeof(output->file))
			strcpy(output->file, name);
	} else if (S_ISDIR(there.st_mode)) {
		refuse(output, EISDIR);
	} else if (!fstat(STDOUT_FILENO, &standard) && is_same(&there, &standard)) {
		return;
	} else if (S_ISREG(there.st_mode) && !is_open_already(name)) {
		if (access(name, W_OK) || !realpath(name, output->file))
			refuse(output, errno);
	}
	if (*output->file)
		check_beside(output);
	else
		output->direct = open_directly(output);
}

FILE *output_begin(struct output *output)
{
	FILE *out;

	if (!*output->file)
		return output->direct;
	out = fdopen(make_beside(output), "w");
	if (!out)
		refuse(output, errno);
	return out;
}

void output_end(struct output *output, FILE *out)
{
	bool failed = fflush(out) || ferror(out);
	int error = errno;

	if (fclose(out) && !failed) {
		failed = true;
		error = errno;
	}
	if (!failed && *output->file && rename(output->beside, output->file)) {
		failed = true;
		error = errno;
	}
	if (failed && *output->file)
		unlink(output->beside);
	interrupt_removes(NULL);
	if (!failed)
		return;
	end_with(EXIT_HOST, "the result cannot be written: %s", strerror(error));
}
