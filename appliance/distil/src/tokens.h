/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens of preprocessed C (C11, 6.4), as far as they tell where a declaration ends and what it names */
#ifndef TOKENS_H
#define TOKENS_H

#include <stdbool.h>
#include <stddef.h>

#include "words.h"

enum token_kind {
	TOKEN_WORD,
	TOKEN_MARK,    /* one sign, or -> */
	TOKEN_LITERAL, /* a number, a string or a character */
	TOKEN_LINE,    /* for the compiler: from # to the end of the line */
};

struct token {
	const char *at;
	size_t length;
	enum token_kind kind;
	word_t word; /* of a TOKEN_WORD; else 0 */
};

struct tokens {
	struct token *all;
	size_t count, room;
};

/* Of a text that ends with a zero. What has no end, a string say, ends with the text. */
void tokens_of(const char *text, struct tokens *found);

/* Places behind the end are taken, and are nothing */
bool is_mark(const struct tokens *tokens, size_t at, char mark);
bool is_word(const struct tokens *tokens, size_t at, word_t word);
bool is_any_word(const struct tokens *tokens, size_t at);
bool opens(const struct tokens *tokens, size_t at);

/* The place behind what opens at `at`, or behind that one token if nothing does */
size_t behind(const struct tokens *tokens, size_t at);

#endif
