/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A text file, or standard input, line by line, and the words of a line. Made for traces of many million lines. */
#ifndef LINES_H
#define LINES_H

#include <string.h>

#include "fb_types.h"

struct lines {
	const char *path;	/* for messages */
	u64 number;		/* of the line at hand, from 1 */
	int fd;
	char *buffer;
	size_t capacity;
	size_t begin;		/* what is read and not handed out yet */
	size_t end;
	bool ended;
	bool failed;
};

/* A piece of a line; not terminated */
struct word {
	const char *text;
	size_t length;
};

/* "-" is standard input. False: a message is on stderr. */
bool lines_open(struct lines *lines, const char *path);
void lines_close(struct lines *lines);

/*
 * The next line, without its newline, good until the next call; NULL at the end, or, with failed set and a message on
 * stderr, when it cannot be read
 */
char *lines_next(struct lines *lines);

/* Takes the next word off a line; of no length at the line's end */
struct word word_next(char **rest);

static inline bool word_is(struct word word, const char *text)
{
	return word.length == strlen(text) && !memcmp(word.text, text, word.length);
}

/* False unless all of the word is a number of the decimal system that 64 bits hold */
bool word_number(struct word word, u64 *number);

/* The next word of a line of lines_next() as a number. False: it is none, and *word is what it is. */
bool word_next_number(char **rest, struct word *word, u64 *number);

#endif
