/* SPDX-License-Identifier: Apache-2.0 */
/* The counts of a load process, of the measurement interval unless noted otherwise. */
#ifndef RESULT_H
#define RESULT_H

#include <stdbool.h>

#include "histogram.h"
#include "ops.h"

enum { ERRORS_KEPT = 64 };

enum error_kind {
	ERROR_NONE,
	ERROR_STATUS, /* an unexpected NFS status; code is its number */
	ERROR_RPC, /* the call was not executed; code is an rpc_outcome */
	ERROR_MALFORMED, /* the results violate the protocol */
	ERROR_LENGTH, /* more or fewer bytes read or written than requested */
	ERROR_CONTENT, /* the data differs from what was written */
	ERROR_TYPE, /* not a file */
	ERROR_FOUND, /* a name that does not exist was found */
	ERROR_EMPTY, /* a directory without entries, a link without target, no permission on an own file */
};

struct error_count {
	enum op op;
	enum error_kind kind;
	uint32_t code;
	uint64_t count;
};

struct op_result {
	uint64_t scheduled; /* calls of the schedule */
	uint64_t errors; /* answers with an error */
	struct histogram times; /* response times of correct answers */
};

struct result {
	struct op_result ops[MIX_OPS];
	struct histogram late; /* delay of sending, of the first call of each arrival */
	struct error_count errors[ERRORS_KEPT]; /* of the whole load; the last one collects the rest */
	/* Of the whole load */
	uint64_t retransmissions, reconnects, unknown_replies, verifier_changes;
	uint64_t unsent, unanswered; /* calls, at the end */
	uint64_t max_reads, max_writes; /* largest number outstanding in one process */
	bool gave_up; /* the server stopped answering */
};

void result_error(struct result *result, enum op op, enum error_kind kind, uint32_t code);
void result_merge(struct result *into, const struct result *from);
uint64_t result_errors(const struct result *result);

#endif
