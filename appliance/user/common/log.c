// SPDX-License-Identifier: Apache-2.0
/* The log, through the kernel's log */
#include "log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "monotonic.h"

static int to = STDERR_FILENO;
static const char *name = "nas";

void log_open(const char *called)
{
	int device = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);

	name = called;
	if (device >= 0)
		to = device;
}

/* Untrusted text must not begin a line of its own, or move a terminal's cursor */
static void make_plain(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || (unsigned char)*text > '~')
			*text = '?';
}

static void write_line(const char *format, va_list values)
{
	char text[400], line[sizeof text + 64];
	int length;

	vsnprintf(text, sizeof text, format, values);
	make_plain(text);
	length = snprintf(line, sizeof line, "%s%s: %s\n", to == STDERR_FILENO ? "" : "<5>", name, text);
	if (write(to, line, (size_t)length) < 0)
		return; /* there is nowhere to report it */
}

void log_line(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	write_line(format, values);
	va_end(values);
}

void log_untrusted(const char *format, ...)
{
	static time_t begun;
	static unsigned written, left_out;
	time_t now = now_s();
	va_list values;

	if (!written || now - begun >= 60) {
		if (left_out)
			log_line("%u more such lines were left out", left_out);
		begun = now;
		written = left_out = 0;
	}
	if (written >= LOG_UNTRUSTED_MAX) {
		left_out++;
		return;
	}
	written++;
	va_start(values, format);
	write_line(format, values);
	va_end(values);
}
