// SPDX-License-Identifier: Apache-2.0
/* A hash table with open addressing and FNV-1a (Fowler, Noll, Vo) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

enum { SLOTS = WORDS_END - 1 };

static struct {
	const char *letters;
	size_t length;
} table[SLOTS];

static size_t used;

static uint32_t hash_of(const char *letters, size_t length)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)letters[i]) * 16777619u;
	return hash;
}

word_t word_of(const char *letters, size_t length)
{
	uint32_t at = hash_of(letters, length) % SLOTS;

	while (table[at].letters && (table[at].length != length || memcmp(table[at].letters, letters, length)))
		at = (at + 1) % SLOTS;
	if (!table[at].letters) {
		if (++used > MOST_WORDS) {
			fputs("distil: more words than it has room for\n", stderr);
			exit(1);
		}
		table[at].letters = letters;
		table[at].length = length;
	}
	return at + 1;
}

word_t word(const char *text)
{
	return word_of(text, strlen(text));
}
