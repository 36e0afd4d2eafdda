/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the file set on the server, or finds it again. Any failure ends the program. */
#ifndef PREPARE_H
#define PREPARE_H

#include "client.h"
#include "shared.h"

struct preparation {
	struct client *client;
	const struct fileset *set;
	struct shared *shared;
	const struct handle *export; /* the root of the export */
	const char *directory; /* the name of the set's directory */
	bool make; /* false: it exists, and only a load's changes are reverted */
};

/* Makes the directory of all, links and plain files */
void prepare_base(const struct preparation *preparation);
/* Makes the directories, with their files, that process `part` of `parts` is responsible for */
void prepare_part(const struct preparation *preparation, uint32_t part, uint32_t parts);

#endif
