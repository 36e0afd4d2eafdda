/* SPDX-License-Identifier: Apache-2.0 */
/* Words of C by number: the same number for the same letters */
#ifndef WORDS_H
#define WORDS_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t word_t;

/* So many words there may be; more end the program. Behind the last of their numbers is WORDS_END. */
enum { MOST_WORDS = 1 << 17, WORDS_END = 2 * MOST_WORDS + 1 };

/* Of `length` letters, which must stay where they are. Never 0. */
word_t word_of(const char *letters, size_t length);
word_t word(const char *text);

#endif
