/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Reads a text file or standard input by lines, and lines by words. Made for traces of many million lines. */
#ifndef LINES_H
#define LINES_H

#include <string.h>

#include "fb_types.h"

struct lines {
	const char *path;	/* for messages */
	u64 number;		/* of the current line, from 1 */
	int fd;
	char *buffer;
	size_t capacity;
	size_t begin;		/* the first byte not handed out yet */
	size_t end;
	bool ended;
	bool failed;
};

/* A part of a line; not terminated */
struct word {
	const char *text;
	size_t length;
};

/* "-" is standard input. False: a message is on stderr. */
bool lines_open(struct lines *lines, const char *path);
void lines_close(struct lines *lines);

/*
 * Returns the next line without its newline, valid until the next call. NULL at the end; on a read error, also sets
 * `failed` and prints a message to stderr.
 */
char *lines_next(struct lines *lines);

/* Takes the next word off a line; its length is 0 at the line's end */
struct word word_next(char **rest);

static inline bool word_is(struct word word, const char *text)
{
	return word.length == strlen(text) && !memcmp(word.text, text, word.length);
}

/* True if the whole word is a decimal number of at most 64 bits */
bool word_number(struct word word, u64 *number);

/* Takes the next word of a line of lines_next() as a number. False: it is no number; *word is the word. */
bool word_next_number(char **rest, struct word *word, u64 *number);

#endif
