/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by load.c, which sends, and judge.c, which checks the answers */
#ifndef LOAD_PARTS_H
#define LOAD_PARTS_H

#include "limit.h"
#include "load.h"

/* One call */
struct job {
	struct limited limited; /* first: a job is what a limit holds */
	struct load *load;
	struct arrival of; /* from_kb and kb: of this call only */
	uint64_t scheduled_ns;
	bool first; /* of its arrival */
};

struct load {
	struct load_settings settings;
	struct calls calls;
	struct schedule schedule;
	struct arrival next; /* this process's next arrival */
	struct limit reads, writes;
	struct result *result;
	uint64_t from_ns, to_ns; /* the measurement interval */
	uint64_t verifier;
	bool has_verifier;
	uint8_t block[NFS_BLOCK];
};

/* Counts an answer as good, or by its error */
void judge(struct job *job, enum rpc_outcome outcome, struct xdr_in *results, const struct call_times *times);

#endif
