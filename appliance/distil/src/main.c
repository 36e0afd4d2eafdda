// SPDX-License-Identifier: Apache-2.0
/*
 * distil: from preprocessed C on standard input, the parts that its object can depend on, on standard output.
 *
 * Kept parts are those that emit code or data, and, transitively, those that declare a word of a kept part. A file of
 * the kernel uses few of the 40,000 lines that it includes; the others may change without a change of the object. If a
 * necessary declaration were missing, the compiler would reject the text.
 */
#include <errno.h>
#include <string.h>

#include "parts.h"
#include "room.h"

static char *read_all(FILE *file)
{
	char *text = NULL;
	size_t count = 0, room = 0;
	int c;

	while ((c = getc_unlocked(file)) != EOF) {
		MAKE_ROOM(text, count, room);
		text[count++] = (char)c;
	}
	MAKE_ROOM(text, count, room);
	text[count] = '\0';
	return text;
}

/* A member's name, behind a dot or an arrow, refers to nothing else */
static bool is_member(const struct tokens *tokens, size_t at)
{
	const struct token *before = at ? &tokens->all[at - 1] : NULL;

	return before && before->kind == TOKEN_MARK && (*before->at == '.' || before->length == 2);
}

static void keep(const struct tokens *tokens, struct parts *parts)
{
	size_t *waiting = zeroed(parts->count + 1, sizeof(*waiting)), many = 0;

	for (size_t i = 0; i < parts->count; i++)
		if (parts->all[i].emits)
			waiting[many++] = i;
	for (size_t i = 0; i < many; i++) {
		for (size_t at = parts->all[waiting[i]].first; at < parts->all[waiting[i]].end; at++) {
			word_t word = tokens->all[at].word;
			size_t naming = is_member(tokens, at) ? 0 : parts->latest[word];

			if (naming)
				parts->latest[word] = 0; /* requested only once */
			for (; naming; naming = parts->namings[naming].next) {
				struct part *named = &parts->all[parts->namings[naming].part];

				if (!named->emits)
					waiting[many++] = parts->namings[naming].part;
				named->emits = true;
			}
		}
	}
	free(waiting);
}

/*
 * A structure may be known only by a dropped declaration, such as a function's return type. So each is declared first.
 */
static void write_tags(const struct tokens *tokens, const struct parts *parts)
{
	const word_t kinds[] = { word("struct"), word("union") }, attribute = word("__attribute__");
	bool *written = zeroed(WORDS_END, sizeof(*written));

	for (size_t i = 0; i < parts->count; i++) {
		for (size_t at = parts->all[i].first; parts->all[i].emits && at + 1 < parts->all[i].end; at++) {
			const struct token *kind = &tokens->all[at], *tag = kind + 1;

			if ((kind->word != kinds[0] && kind->word != kinds[1]) || !tag->word ||
			    tag->word == attribute || written[tag->word])
				continue;
			written[tag->word] = true;
			printf("%.*s %.*s;\n", (int)kind->length, kind->at, (int)tag->length, tag->at);
		}
	}
	free(written);
}

/*
 * The compiler numbers a function's statics, as in __func__.7, when it needs the name: for a variable with a section at
 * once. So a function with as many such variables replaces the dropped ones.
 */
static void write_placed(unsigned from, unsigned to)
{
	if (from == to)
		return;
	printf("static inline __attribute__((__unused__)) void distilled_%u(void) {", from);
	for (; from < to; from++)
		printf(" static __attribute__((__unused__, __section__(\".distilled\"))) char a%u;", from);
	puts(" }");
}

static void write_kept(const struct tokens *tokens, const struct parts *parts)
{
	unsigned left_out = 0, written = 0;

	for (size_t i = 0; i < parts->count; i++) {
		const struct part *part = &parts->all[i];
		const struct token *last = &tokens->all[part->end - 1];
		const char *from = tokens->all[part->first].at;

		if (!part->emits) {
			left_out += part->placed;
			continue;
		}
		write_placed(written, left_out);
		written = left_out;
		fwrite(from, 1, (size_t)(last->at + last->length - from), stdout);
		putchar('\n');
	}
}

int main(void)
{
	char *text = read_all(stdin);
	struct tokens tokens = { 0 };
	struct parts parts = { 0 };

	tokens_of(text, &tokens);
	parts_of(&tokens, &parts);
	keep(&tokens, &parts);
	write_tags(&tokens, &parts);
	write_kept(&tokens, &parts);
	parts_free(&parts);
	free(tokens.all);
	free(text);
	if (ferror(stdin) || fflush(stdout)) {
		fprintf(stderr, "distil: %s\n", strerror(errno));
		return 1;
	}
	return 0;
}
