// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Reads a trace by lines and words, and locates its errors */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lines.h"
#include "message.h"

/* Space behind the data: for the newline that the last line may lack, and for reading eight bytes at a time */
enum { INITIAL_CAPACITY = 1 << 20, ROOM_BEHIND = 16 };

bool lines_open(struct lines *lines, const char *path)
{
	bool input = !strcmp(path, "-");

	*lines = (struct lines) { .path = input ? "standard input" : path, .capacity = INITIAL_CAPACITY };
	lines->fd = input ? dup(STDIN_FILENO) : open(path, O_RDONLY);
	if (lines->fd < 0)
		return complain(lines->path, strerror(errno));
	lines->buffer = calloc(1, lines->capacity + ROOM_BEHIND);
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

/* Reads more behind the data; grows the buffer for a line longer than it. False at the end or on an error. */
static bool fill(struct lines *lines)
{
	ssize_t got;

	memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
	lines->end -= lines->begin;
	lines->begin = 0;
	if (lines->end == lines->capacity) {
		char *larger = realloc(lines->buffer, 2 * lines->capacity + ROOM_BEHIND);

		if (!larger) {
			lines->failed = true;
			return complain(lines->path, "out of memory");
		}
		lines->buffer = larger;
		lines->capacity *= 2;
	}
	do
		got = read(lines->fd, lines->buffer + lines->end, lines->capacity - lines->end);
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

static bool separates(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || !c;
}

/* Returns the end of the word. Most characters are above the blank and need only one comparison. */
static char *word_end(char *text)
{
	while ((unsigned char)*text > ' ' || !separates(*text))
		text++;
	return text;
}

static char *skip_blanks(char *text)
{
	while (*text && separates(*text))
		text++;
	return text;
}

struct word word_next(char **rest)
{
	char *begin = skip_blanks(*rest);

	*rest = word_end(begin);
	return (struct word) { begin, *rest - begin };
}

/* Any number of this many digits fits */
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

/* Loads eight bytes, the first in the lowest eight bits */
static u64 eight_bytes(const char *text)
{
	u64 bytes;

	memcpy(&bytes, text, sizeof(bytes));
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? bytes : __builtin_bswap64(bytes);
}

#define EACH_BYTE 0x0101010101010101ull

/*
 * Counts the leading digits of eight bytes. A byte that is no digit has its highest bit set, or gets it by adding 0x46
 * ('9' + 1 becomes 0x80), or, if it is below '0', by subtracting '0'. A borrow or carry reaches later bytes only.
 */
static unsigned int digits_of(u64 bytes)
{
	u64 others = (bytes | (bytes + 0x46 * EACH_BYTE) | (bytes - '0' * EACH_BYTE)) & 0x80 * EACH_BYTE;

	return others ? __builtin_ctzll(others) / 8 : 8;
}

/*
 * Converts the first `count` digits, 1 to 8. The digits are shifted up, as if behind leading zeros; then pairs, fours
 * and eights are combined.
 */
static u64 number_of(u64 bytes, unsigned int count)
{
	u64 ones = (bytes & 0x0f * EACH_BYTE) << (64 - 8 * count);
	u64 tens = (10 * ones + (ones >> 8)) & 0x00ff00ff00ff00ffull;
	u64 hundreds = (100 * tens + (tens >> 16)) & 0x0000ffff0000ffffull;

	return (u32)(10000 * hundreds + (hundreds >> 32));
}

/* Numbers in traces vary in length, so a loop over their digits would mispredict its end each time */
bool word_next_number(char **rest, struct word *word, u64 *number)
{
	static const u64 power_of_10[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000 };
	char *begin = skip_blanks(*rest);
	u64 bytes = eight_bytes(begin);
	unsigned int first = digits_of(bytes), second = 0;
	u64 value;

	if (first) {
		value = number_of(bytes, first);
		if (first == 8) {
			bytes = eight_bytes(begin + 8);
			second = digits_of(bytes);
			if (second)
				value = value * power_of_10[second] + number_of(bytes, second);
		}
		if (separates(begin[first + second])) {
			*rest = begin + first + second;
			*number = value;
			return true;
		}
	}
	*word = word_next(rest);
	return word_number(*word, number);
}
