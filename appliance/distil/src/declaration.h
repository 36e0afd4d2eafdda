/* SPDX-License-Identifier: Apache-2.0 */
/* A declaration or definition outside of functions: its end, its names, whether it emits something */
#ifndef DECLARATION_H
#define DECLARATION_H

#include "tokens.h"

struct declaration {
	size_t end;
	word_t *names; /* functions, variables, types, tags, enumerators; the array is reused */
	size_t name_count, name_room;
	unsigned placed; /* static variables of a function with a section of their own */
	bool emits;
};

void declaration_at(const struct tokens *tokens, size_t first, struct declaration *read);

#endif
