// SPDX-License-Identifier: Apache-2.0
/* Messages on stderr */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "message.h"

static atomic_flag *said;

void say_once(atomic_flag *flag)
{
	said = flag;
}

/* In one write, because several processes may write */
static void say(const char *format, va_list words)
{
	char *text;

	if (said && atomic_flag_test_and_set(said))
		return;
	if (vasprintf(&text, format, words) < 0) {
		fputs("sfsload: no memory for a message\n", stderr);
		return;
	}
	for (char *at = text; *at; at++) /* no control characters of the user or the server */
		if (*at < ' ' || *at > '~')
			*at = '?';
	fprintf(stderr, "sfsload: %s\n", text);
	free(text);
}

void end_with(enum exit_status status, const char *format, ...)
{
	va_list words;

	va_start(words, format);
	say(format, words);
	va_end(words);
	exit((int)status);
}

void *allocate(unsigned long count, unsigned long size)
{
	void *memory = calloc(count ? count : 1, size);

	if (!memory)
		end_with(EXIT_HOST, "no memory for %lu times %lu bytes", count, size);
	return memory;
}
