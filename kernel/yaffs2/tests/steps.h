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

#endif
