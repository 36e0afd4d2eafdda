/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a C file, between the ends of declarations (C11, 6.9), with the names of each */
#ifndef PARTS_H
#define PARTS_H

#include "tokens.h"

struct part {
	size_t first, end; /* tokens: first, and one past the last */
	unsigned placed;   /* see struct declaration */
	bool emits;        /* the object has something of it, even if it is unreferenced */
};

struct naming {
	size_t part, next;
};

struct parts {
	struct part *all;
	size_t count, room;
	struct naming *namings; /* entry 0 is unused */
	size_t naming_count, naming_room;
	size_t *latest; /* by word: its last naming, or 0; earlier ones by `next` */
};

void parts_of(const struct tokens *tokens, struct parts *found);
void parts_free(struct parts *parts);

#endif
