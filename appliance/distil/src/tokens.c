// SPDX-License-Identifier: Apache-2.0
/* Splits text into words, signs and literals; finds the ends of bracketed groups */
#include <string.h>

#include "room.h"
#include "tokens.h"

static bool is_letter(char c)
{
	return c == '_' || c == '$' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *behind_word(const char *at)
{
	while (is_letter(*at) || is_digit(*at))
		at++;
	return at;
}

static const char *behind_number(const char *at)
{
	for (; is_letter(*at) || is_digit(*at) || *at == '.'; at++)
		if (strchr("eEpP", *at) && (at[1] == '+' || at[1] == '-'))
			at++; /* the sign of an exponent */
	return at;
}

static const char *behind_quoted(const char *at)
{
	char quote = *at++;

	while (*at && *at != quote)
		at += *at == '\\' && at[1] ? 2 : 1;
	return *at ? at + 1 : at;
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'';
}

static const char *behind_one(const char *at, bool begins_line, enum token_kind *kind)
{
	const char *end;

	if (*at == '#' && begins_line) {
		*kind = TOKEN_LINE;
		return at + strcspn(at, "\n");
	}
	*kind = TOKEN_LITERAL;
	if (is_quote(*at))
		return behind_quoted(at);
	if (is_digit(*at) || (*at == '.' && is_digit(at[1])))
		return behind_number(at);
	if (is_letter(*at)) {
		end = behind_word(at);
		if (is_quote(*end) && end - at <= 2)
			return behind_quoted(end); /* L"wide", u8"encoded" */
		*kind = TOKEN_WORD;
		return end;
	}
	*kind = TOKEN_MARK;
	return at + (at[0] == '-' && at[1] == '>' ? 2 : 1);
}

void tokens_of(const char *text, struct tokens *found)
{
	bool begins_line = true;

	while (*text) {
		enum token_kind kind;
		const char *end;

		if (strchr(" \t\n\v\f\r", *text)) {
			begins_line |= *text++ == '\n';
			continue;
		}
		end = behind_one(text, begins_line, &kind);
		MAKE_ROOM(found->all, found->count, found->room);
		found->all[found->count++] = (struct token){
			.at = text,
			.length = (size_t)(end - text),
			.kind = kind,
			.word = kind == TOKEN_WORD ? word_of(text, (size_t)(end - text)) : 0,
		};
		begins_line = false;
		text = end;
	}
}

bool is_mark(const struct tokens *tokens, size_t at, char mark)
{
	return at < tokens->count && tokens->all[at].kind == TOKEN_MARK && tokens->all[at].length == 1 &&
	       *tokens->all[at].at == mark;
}

bool is_word(const struct tokens *tokens, size_t at, word_t word)
{
	return at < tokens->count && tokens->all[at].word == word;
}

bool is_any_word(const struct tokens *tokens, size_t at)
{
	return at < tokens->count && tokens->all[at].kind == TOKEN_WORD;
}

bool opens(const struct tokens *tokens, size_t at)
{
	return is_mark(tokens, at, '(') || is_mark(tokens, at, '[') || is_mark(tokens, at, '{');
}

static bool closes(const struct tokens *tokens, size_t at)
{
	return is_mark(tokens, at, ')') || is_mark(tokens, at, ']') || is_mark(tokens, at, '}');
}

size_t behind(const struct tokens *tokens, size_t at)
{
	long depth = 0;

	for (; at < tokens->count; at++) {
		depth += opens(tokens, at);
		depth -= closes(tokens, at);
		if (depth <= 0)
			return at + 1;
	}
	return tokens->count;
}
