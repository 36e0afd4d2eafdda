/* SPDX-License-Identifier: Apache-2.0 */
/* Interns words of C: equal words have equal numbers */
#ifndef WORDS_H
#define WORDS_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t word_t;

/* The maximum of words; more end the program. WORDS_END is past the largest number. */
enum { MOST_WORDS = 1 << 17, WORDS_END = 2 * MOST_WORDS + 1 };

/* Interns a word of `length` letters, which must stay valid. Never 0. */
word_t word_of(const char *letters, size_t length);
word_t word(const char *text);

#endif
