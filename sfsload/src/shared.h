/* SPDX-License-Identifier: Apache-2.0 */
/* Memory shared by all load processes: handles of the file set, and a result of each process */
#ifndef SHARED_H
#define SHARED_H

#include "fileset.h"
#include "nfs.h"
#include "plain.h"
#include "result.h"

struct shared {
	uint64_t start_ns; /* start of the load; set when all processes are ready */
	struct handle root, links_directory, plain_directories[PLAIN_DIRECTORIES], links[LINKS];
	/* The arrays follow this structure */
	struct plain_name *names; /* of each plain file, by its item */
	struct handle *directories; /* of each directory */
	struct handle *files; /* of each accessed file, by its place */
	struct result *results; /* of each process */
};

/* Call it before the processes are forked */
struct shared *shared_make(const struct fileset *set, uint32_t processes);

#endif
