/* SPDX-License-Identifier: Apache-2.0 */
/* What load processes count. Unless it says otherwise, all is of the measured time. */
#ifndef RESULT_H
#define RESULT_H

#include <stdbool.h>

#include "histogram.h"
#include "ops.h"

enum { ERRORS_KEPT = 64 };

enum error_kind {
	ERROR_NONE,
	ERROR_STATUS, /* a status of NFS that should not be; code is its number */
	ERROR_RPC, /* the call was not carried out; code is an rpc_outcome */
	ERROR_MALFORMED, /* results that are not as the protocol has them */
	ERROR_LENGTH, /* another number of bytes read or written than asked */
	ERROR_CONTENT, /* other bytes than were written */
	ERROR_TYPE, /* a file that is none */
	ERROR_FOUND, /* a name that does not exist was found */
	ERROR_EMPTY, /* a directory without entries, a link that leads nowhere, no permission on an own file */
};

struct error_count {
	enum op op;
	enum error_kind kind;
	uint32_t code;
	uint64_t count;
};

struct op_result {
	uint64_t scheduled; /* calls that the schedule had */
	uint64_t errors; /* answers that were one */
	struct histogram times; /* from sending to the answer, of the good ones */
};

struct result {
	struct op_result ops[MIX_OPS];
	struct histogram late; /* from the scheduled time to sending, of the first call of each arrival */
	struct error_count errors[ERRORS_KEPT]; /* of the whole load; the last one takes what has no room */
	/* Of the whole load */
	uint64_t retransmissions, reconnects, unknown_replies, verifier_changes;
	uint64_t unsent, unanswered; /* calls, at the end */
	uint64_t max_reads, max_writes; /* outstanding at a time, in one process */
	bool gave_up; /* the server no longer answered */
};

void result_error(struct result *result, enum op op, enum error_kind kind, uint32_t code);
void result_merge(struct result *into, const struct result *from);
uint64_t result_errors(const struct result *result);

#endif
