/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens of preprocessed C (C11, 6.4), as far as declarations need them */
#ifndef TOKENS_H
#define TOKENS_H

#include <stdbool.h>
#include <stddef.h>

#include "words.h"

enum token_kind {
	TOKEN_WORD,
	TOKEN_MARK,    /* one sign, or -> */
	TOKEN_LITERAL, /* a number, a string or a character */
	TOKEN_LINE,    /* a directive: from # to the end of the line */
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

/* Splits a text that ends with a zero. An unterminated token ends with the text. */
void tokens_of(const char *text, struct tokens *found);

/* Indexes past the end are valid, and match nothing */
bool is_mark(const struct tokens *tokens, size_t at, char mark);
bool is_word(const struct tokens *tokens, size_t at, word_t word);
bool is_any_word(const struct tokens *tokens, size_t at);
bool opens(const struct tokens *tokens, size_t at);

/* The index behind the group that opens at `at`, or behind that token if none does */
size_t behind(const struct tokens *tokens, size_t at);

#endif
