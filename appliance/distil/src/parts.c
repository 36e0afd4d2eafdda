// SPDX-License-Identifier: Apache-2.0
/* Declarations in order, and a list of those that name each word */
#include "declaration.h"
#include "parts.h"
#include "room.h"

static void add_naming(struct parts *parts, size_t part, word_t word)
{
	MAKE_ROOM(parts->namings, parts->naming_count, parts->naming_room);
	parts->namings[parts->naming_count] = (struct naming){ part, parts->latest[word] };
	parts->latest[word] = parts->naming_count++;
}

void parts_of(const struct tokens *tokens, struct parts *found)
{
	struct declaration read = { 0 };

	found->latest = zeroed(WORDS_END, sizeof(*found->latest));
	MAKE_ROOM(found->namings, found->naming_count, found->naming_room);
	found->namings[found->naming_count++] = (struct naming){ 0 };
	for (size_t at = 0; at < tokens->count; at = read.end) {
		declaration_at(tokens, at, &read);
		for (size_t i = 0; i < read.name_count; i++)
			add_naming(found, found->count, read.names[i]);
		MAKE_ROOM(found->all, found->count, found->room);
		found->all[found->count++] = (struct part){ at, read.end, read.placed, read.emits };
	}
	free(read.names);
}

void parts_free(struct parts *parts)
{
	free(parts->all);
	free(parts->namings);
	free(parts->latest);
}
