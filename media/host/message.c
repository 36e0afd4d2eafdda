// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Messages to stderr, prefixed with the program's name */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "message.h"

bool complain(const char *subject, const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_name, subject, what);
	return false;
}

bool complain_line(const char *path, u64 line, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%s: %s:%" PRIu64 ": ", program_name, path, line);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return false;
}

void progress(const char *what, u64 done, u64 total)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (done == total)
		fputs("\r\033[K", stderr);
	else if (total)
		fprintf(stderr, "\r%s: %s %" PRIu64 " of %" PRIu64 " million", program_name, what, done / 1000000,
			total / 1000000);
	else
		fprintf(stderr, "\r%s: %s %" PRIu64 " million", program_name, what, done / 1000000);
}
