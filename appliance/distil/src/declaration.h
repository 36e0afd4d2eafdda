/* SPDX-License-Identifier: Apache-2.0 */
/* One declaration or definition outside of all functions: where it ends, what it names, whether it emits something */
#ifndef DECLARATION_H
#define DECLARATION_H

#include "tokens.h"

struct declaration {
	size_t end;
	word_t *names; /* functions, variables, types, tags, enumerators; kept from one to the next */
	size_t name_count, name_room;
	unsigned placed; /* variables of a function that are static and have a section of their own */
	bool emits;
};

void declaration_at(const struct tokens *tokens, size_t first, struct declaration *read);

#endif
