// SPDX-License-Identifier: Apache-2.0
/*
 * Parses the necessary part of C11's grammar (6.7, 6.9) and of GCC's extensions. In doubt, a declaration counts as one
 * that emits something, and a word as one that is named: then more is kept than necessary.
 */
#include "declaration.h"
#include "room.h"

struct reader {
	const struct tokens *tokens;
	struct declaration *read;
	size_t at;
	size_t declared; /* the last word that may be a name; 0: none */
	bool is_type, is_extern, is_static, is_inline;
	bool is_object; /* a variable, or possibly one */
	bool has_value;
	bool behind_parameters;
};

static struct {
	word_t alignas, assembler, assertion, attribute, extern_, inline_, static_, type, typeof_;
	word_t struct_, union_, enum_;
	word_t plain[24], telling[8], section[4]; /* each ends with 0 */
} words;

static void list(word_t *into, const char *const *texts)
{
	for (; *texts; texts++)
		*into++ = word(*texts);
}

static void know_words(void)
{
	static const char *const plain[] = {
		"int", "char", "long", "short", "unsigned", "signed", "void", "float", "double", "_Bool", "__int128",
		"const", "volatile", "restrict", "__restrict", "register", "__extension__", "_Noreturn", "__thread",
		"_Thread_local", "__auto_type", NULL,
	};
	/* Attributes that make a declaration emit something */
	static const char *const telling[] = {
		"alias", "__alias__", "used", "__used__", "weakref", "constructor", "destructor", NULL,
	};
	static const char *const section[] = { "section", "__section__", NULL };

	words.alignas = word("_Alignas");
	words.assembler = word("asm");
	words.assertion = word("_Static_assert");
	words.attribute = word("__attribute__");
	words.extern_ = word("extern");
	words.inline_ = word("inline");
	words.static_ = word("static");
	words.type = word("typedef");
	words.typeof_ = word("typeof");
	words.struct_ = word("struct");
	words.union_ = word("union");
	words.enum_ = word("enum");
	list(words.plain, plain);
	list(words.telling, telling);
	list(words.section, section);
}

static bool is_among(const struct tokens *tokens, size_t at, const word_t *wanted)
{
	for (; *wanted; wanted++)
		if (is_word(tokens, at, *wanted))
			return true;
	return false;
}

static void name(struct declaration *read, word_t word)
{
	MAKE_ROOM(read->names, read->name_count, read->name_room);
	read->names[read->name_count++] = word;
}

static size_t behind_attributes(const struct tokens *tokens, size_t at)
{
	while (is_word(tokens, at, words.attribute))
		at = behind(tokens, at + 1);
	return at;
}

static bool is_compound(const struct tokens *tokens, size_t at)
{
	return is_word(tokens, at, words.struct_) || is_word(tokens, at, words.union_) ||
	       is_word(tokens, at, words.enum_);
}

static void name_enumerators(const struct tokens *tokens, size_t body, struct declaration *read)
{
	bool begins = true;

	for (size_t at = body + 1, end = behind(tokens, body); at < end; at = behind(tokens, at)) {
		if (begins && is_any_word(tokens, at))
			name(read, tokens->all[at].word);
		begins = is_mark(tokens, at, ',');
	}
}

/* Names the tags of structures and enumerations, nested ones too: a tag is not a member, and is visible outside */
static void name_tags(const struct tokens *tokens, size_t first, struct declaration *read)
{
	for (size_t at = first; at < read->end; at++) {
		size_t tag, body;

		if (!is_compound(tokens, at))
			continue;
		tag = behind_attributes(tokens, at + 1);
		body = behind_attributes(tokens, is_any_word(tokens, tag) ? tag + 1 : tag);
		if (tag != body && (is_mark(tokens, body, '{') || (at == first && is_mark(tokens, body, ';')) ||
				    (at == first + 1 && is_word(tokens, first, words.type))))
			name(read, tokens->all[tag].word);
		if (is_word(tokens, at, words.enum_) && is_mark(tokens, body, '{'))
			name_enumerators(tokens, body, read);
	}
}

static bool has_telling_attribute(const struct tokens *tokens, size_t first, size_t end)
{
	for (size_t at = first; at < end; at++)
		if (is_word(tokens, at, words.attribute))
			for (size_t group = behind(tokens, at + 1); at + 1 < group; at++)
				if (is_among(tokens, at, words.telling))
					return true;
	return false;
}

/* Counts a function's static variables with a section of their own */
static unsigned count_placed(const struct tokens *tokens, size_t body, size_t end)
{
	bool is_static = false;
	unsigned count = 0;

	for (size_t at = body; at < end; at++) {
		if (is_mark(tokens, at, ';'))
			is_static = false;
		is_static |= is_word(tokens, at, words.static_);
		if (is_static && is_among(tokens, at, words.section)) {
			count++;
			is_static = false;
		}
	}
	return count;
}

static void end_declarator(struct reader *reader, bool is_object)
{
	if (!reader->declared)
		return;
	name(reader->read, reader->tokens->all[reader->declared].word);
	reader->is_object |= is_object;
	reader->declared = 0;
}

/* A group behind a name is its parameters; (*NAME)(...) and (*NAME)[...] contain the name */
static void take_parentheses(struct reader *reader)
{
	const struct tokens *tokens = reader->tokens;
	size_t end = behind(tokens, reader->at);
	bool holds_name = is_mark(tokens, end, '(') || is_mark(tokens, end, '[');

	if (!reader->declared || (holds_name && is_mark(tokens, reader->at + 1, '*'))) {
		size_t at = reader->at + 1;

		while (at < end && (!is_any_word(tokens, at) || is_among(tokens, at, words.plain)))
			at = behind_attributes(tokens, at + 1);
		reader->declared = at < end ? at : 0;
		end_declarator(reader, true);
	}
	end_declarator(reader, false);
	reader->at = end;
	reader->behind_parameters = true;
}

static void take_value(struct reader *reader)
{
	const struct tokens *tokens = reader->tokens;

	end_declarator(reader, true);
	reader->has_value = reader->is_object = true;
	while (reader->at < tokens->count && !is_mark(tokens, reader->at, ',') && !is_mark(tokens, reader->at, ';'))
		reader->at = behind(tokens, reader->at);
}

static void take_compound(struct reader *reader)
{
	const struct tokens *tokens = reader->tokens;

	reader->at = behind_attributes(tokens, reader->at + 1);
	if (is_any_word(tokens, reader->at))
		reader->at = behind_attributes(tokens, reader->at + 1);
	if (is_mark(tokens, reader->at, '{'))
		reader->at = behind(tokens, reader->at);
	reader->declared = 0;
	reader->behind_parameters = false;
}

/* __attribute__((...)), asm volatile("..."), typeof(...), _Alignas(...): none of them names anything */
static bool take_extension(struct reader *reader)
{
	const struct tokens *tokens = reader->tokens;
	size_t at = reader->at;

	if (!is_word(tokens, at, words.attribute) && !is_word(tokens, at, words.assembler) &&
	    !is_word(tokens, at, words.typeof_) && !is_word(tokens, at, words.alignas))
		return false;
	while (is_any_word(tokens, at))
		at++;
	reader->at = is_mark(tokens, at, '(') ? behind(tokens, at) : at;
	return true;
}

static void take_word(struct reader *reader)
{
	word_t word = reader->tokens->all[reader->at].word;

	if (word == words.type)
		reader->is_type = true;
	else if (word == words.extern_)
		reader->is_extern = true;
	else if (word == words.static_)
		reader->is_static = true;
	else if (word == words.inline_)
		reader->is_inline = true;
	else if (!is_among(reader->tokens, reader->at, words.plain))
		reader->declared = reader->at;
}

/* Parses up to the `;`, or to a function's body */
static void take(struct reader *reader)
{
	const struct tokens *tokens = reader->tokens;

	while (reader->at < tokens->count && !is_mark(tokens, reader->at, ';')) {
		if (is_mark(tokens, reader->at, '{') && reader->behind_parameters && !reader->has_value)
			return;
		if (take_extension(reader))
			continue;
		if (is_compound(tokens, reader->at)) {
			take_compound(reader);
		} else if (is_mark(tokens, reader->at, '(')) {
			take_parentheses(reader);
		} else if (is_mark(tokens, reader->at, '=')) {
			take_value(reader);
		} else {
			if (is_any_word(tokens, reader->at))
				take_word(reader);
			else if (!is_mark(tokens, reader->at, '*'))
				end_declarator(reader, true);
			reader->behind_parameters = false;
			reader->at = behind(tokens, reader->at);
		}
	}
	end_declarator(reader, true);
}

void declaration_at(const struct tokens *tokens, size_t first, struct declaration *read)
{
	struct reader reader = { .tokens = tokens, .read = read, .at = first };
	bool is_function;

	if (!words.struct_)
		know_words();
	read->name_count = 0;
	read->end = first + 1;
	read->placed = 0;
	read->emits = true;
	if (tokens->all[first].kind == TOKEN_LINE)
		return;
	take(&reader);
	is_function = is_mark(tokens, reader.at, '{');
	read->end = reader.at < tokens->count ? behind(tokens, reader.at) : tokens->count;
	name_tags(tokens, first, read);
	read->placed = is_function ? count_placed(tokens, reader.at, read->end) : 0;
	read->emits = is_word(tokens, first, words.assembler) || is_word(tokens, first, words.assertion) ||
		      has_telling_attribute(tokens, first, reader.at);
	if (is_function)
		read->emits |= !reader.is_inline || !(reader.is_static || reader.is_extern);
	else
		read->emits |= reader.is_object && !reader.is_type && (!reader.is_extern || reader.has_value);
}
