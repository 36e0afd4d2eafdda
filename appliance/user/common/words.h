/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of words in the format of the kernel's caches (net/sunrpc/cache.c) and of /etc/nas.conf. Words are separated by
 * spaces. A byte that is a space, a control character, a backslash or not ASCII is written \ooo; bytes can also be
 * \xHEX.
 */
#ifndef WORDS_H
#define WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct words_out {
	char *text;
	size_t size, used;
	bool full; /* something did not fit, and the line is useless */
};

/* Appends a word; an empty word cannot be written, and makes the line useless */
void words_put(struct words_out *out, const char *word);
void words_put_number(struct words_out *out, long long number);
void words_put_hex(struct words_out *out, const uint8_t *bytes, size_t length);
/* Ends the line. False if it did not fit. */
bool words_end(struct words_out *out);

/*
 * Decodes the next word of *line to bytes, at most size - 1, and a NUL. Returns the length; -1 if there is none, or if
 * it is too long or malformed. In the latter cases the rest of the line is useless.
 */
int words_next(const char **line, char *word, size_t size);

#endif
