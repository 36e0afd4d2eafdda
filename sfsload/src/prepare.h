/* SPDX-License-Identifier: Apache-2.0 */
/* The file set on the server: made, or found again. What goes wrong ends the program. */
#ifndef PREPARE_H
#define PREPARE_H

#include "client.h"
#include "shared.h"

struct preparation {
	struct client *client;
	const struct fileset *set;
	struct shared *shared;
	const struct handle *export; /* the root of what is mounted */
	const char *directory; /* name of the set's own */
	bool make; /* false: it is there, and only what a load has changed is put right */
};

/* The directory of all, links and plain files */
void prepare_base(const struct preparation *preparation);
/* The directories, with their files, that are number `part` of `parts` processes' */
void prepare_part(const struct preparation *preparation, uint32_t part, uint32_t parts);

#endif
