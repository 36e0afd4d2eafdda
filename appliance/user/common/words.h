/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of words, as the kernel's caches (net/sunrpc/cache.c) and /etc/nas.conf have them: words are parted by spaces;
 * a byte that is a space, a control character, a backslash or beyond ASCII is written \ooo; bytes can also be \xHEX.
 */
#ifndef WORDS_H
#define WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct words_out {
	char *text;
	size_t size, used;
	bool full; /* something did not fit, and the line is of no use */
};

/* A word behind those that are there; an empty one cannot be written, and makes the line useless */
void words_put(struct words_out *out, const char *word);
void words_put_number(struct words_out *out, long long number);
void words_put_hex(struct words_out *out, const uint8_t *bytes, size_t length);
/* Ends the line. False if it did not fit. */
bool words_end(struct words_out *out);

/*
 * The next word of *line as bytes with a NUL behind them, at most size - 1. The length; -1 if there is none, or if it
 * is too long or badly written, and then the rest of the line is of no use.
 */
int words_next(const char **line, char *word, size_t size);

#endif
