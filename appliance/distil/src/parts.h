/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a file of C: what stands between two ends of declarations (C11, 6.9), with what each names */
#ifndef PARTS_H
#define PARTS_H

#include "tokens.h"

struct part {
	size_t first, end; /* tokens: from, and the one behind */
	unsigned placed;   /* as in struct declaration */
	bool emits;        /* the object has something of it, whoever asks for it */
};

struct naming {
	size_t part, next;
};

struct parts {
	struct part *all;
	size_t count, room;
	struct naming *namings; /* the first is none */
	size_t naming_count, naming_room;
	size_t *latest; /* by word: its naming, or 0; from there by `next` */
};

void parts_of(const struct tokens *tokens, struct parts *found);
void parts_free(struct parts *parts);

#endif
