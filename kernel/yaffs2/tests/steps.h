/* SPDX-License-Identifier: GPL-2.0-only */
/* Random operations, on the file system and on the oracle at once. */
#ifndef Y2_STEPS_H
#define Y2_STEPS_H

#include "model.h"

struct step {
	const char *what;
	int err;	/* of the file system; the model is as if all went well */
	int loose;	/* the node whose data may be half way; -1: none */
};

/* chunks: how far into a file, about */
struct step step_random(struct y2_fs *fs, struct model *model, u64 *random, u32 chunks);

/* What operations are made of, for another driver on the same oracle */
struct step_place {
	int dir, slot, node;	/* node -1: a free name */
};
bool step_is_above(const struct model *model, int above, int node);
/* A place of the wanted kind, after some tries */
bool step_place(const struct model *model, u64 *random, bool occupied, struct step_place *place);
bool step_file(const struct model *model, u64 *random, struct step_place *place);
void step_fill(u8 *data, u32 length, u64 *random);

#endif
