// SPDX-License-Identifier: GPL-2.0-only OR MIT
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lines.h"
#include "message.h"

enum { FIRST_ROOM = 1 << 20 };

bool lines_open(struct lines *lines, const char *path)
{
	bool input = !strcmp(path, "-");

	*lines = (struct lines) { .path = input ? "standard input" : path, .room = FIRST_ROOM };
	lines->fd = input ? dup(STDIN_FILENO) : open(path, O_RDONLY);
	if (lines->fd < 0)
		return complain(lines->path, strerror(errno));
	lines->buffer = malloc(lines->room + 1);
	if (lines->buffer)
		return true;
	close(lines->fd);
	return complain(lines->path, "out of memory");
}

void lines_close(struct lines *lines)
{
	close(lines->fd);
	free(lines->buffer);
}

/* Reads on behind what is there; a line longer than the buffer makes it larger. False: no more, or an error */
static bool fill(struct lines *lines)
{
	ssize_t got;

	memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
	lines->end -= lines->begin;
	lines->begin = 0;
	if (lines->end == lines->room) {
		char *larger = realloc(lines->buffer, 2 * lines->room + 1);

		if (!larger) {
			lines->failed = true;
			return complain(lines->path, "out of memory");
		}
		lines->buffer = larger;
		lines->room *= 2;
	}
	do
		got = read(lines->fd, lines->buffer + lines->end, lines->room - lines->end);
	while (got < 0 && errno == EINTR);
	if (got < 0) {
		lines->failed = true;
		return complain(lines->path, strerror(errno));
	}
	lines->end += got;
	lines->ended = got == 0;
	return got > 0;
}

char *lines_next(struct lines *lines)
{
	size_t searched = 0;
	char *line, *newline;

	for (;;) {
		line = lines->buffer + lines->begin;
		newline = memchr(line + searched, '\n', lines->end - lines->begin - searched);
		if (newline)
			break;
		searched = lines->end - lines->begin;
		if (!lines->ended && !lines->failed && fill(lines))
			continue;
		line = lines->buffer + lines->begin;
		newline = lines->buffer + lines->end;
		if (lines->failed || line == newline)
			return NULL;
		break;
	}
	*newline = '\0';
	lines->begin = newline - lines->buffer + (newline < lines->buffer + lines->end);
	lines->number++;
	return line;
}

struct word word_next(char **rest)
{
	char *begin = *rest;
	char *end;

	while (*begin == ' ' || *begin == '\t' || *begin == '\r')
		begin++;
	for (end = begin; *end && *end != ' ' && *end != '\t' && *end != '\r';)
		end++;
	*rest = end;
	return (struct word) { begin, end - begin };
}

bool word_is(struct word word, const char *text)
{
	size_t i;

	for (i = 0; i < word.length; i++)
		if (word.text[i] != text[i])
			return false;
	return !text[i];
}

/* Numbers of so many digits fit, whatever they are */
enum { SAFE_DIGITS = 19 };

bool word_number(struct word word, u64 *number)
{
	u64 value = 0;
	size_t i;

	for (i = 0; i < word.length; i++) {
		unsigned int digit = (unsigned char)word.text[i] - '0';

		if (digit > 9)
			return false;
		if (i < SAFE_DIGITS)
			value = 10 * value + digit;
		else if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit, &value))
			return false;
	}
	*number = value;
	return word.length;
}
