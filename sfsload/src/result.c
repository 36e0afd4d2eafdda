// SPDX-License-Identifier: Apache-2.0
/* Counts answers and errors */
#include "result.h"

static void add_error(struct result *result, const struct error_count *added)
{
	struct error_count *at = result->errors;

	while (at < result->errors + ERRORS_KEPT - 1 && at->kind != ERROR_NONE &&
	       (at->op != added->op || at->kind != added->kind || at->code != added->code))
		at++;
	if (at->kind == ERROR_NONE)
		*at = (struct error_count) { added->op, added->kind, added->code, 0 };
	at->count += added->count;
}

void result_error(struct result *result, enum op op, enum error_kind kind, uint32_t code)
{
	add_error(result, &(struct error_count) { op, kind, code, 1 });
}

uint64_t result_errors(const struct result *result)
{
	uint64_t errors = 0;

	for (int i = 0; i < ERRORS_KEPT; i++)
		errors += result->errors[i].count;
	return errors;
}

static void larger(uint64_t *into, uint64_t from)
{
	*into = from > *into ? from : *into;
}

void result_merge(struct result *into, const struct result *from)
{
	for (int op = 0; op < MIX_OPS; op++) {
		into->ops[op].scheduled += from->ops[op].scheduled;
		into->ops[op].errors += from->ops[op].errors;
		histogram_merge(&into->ops[op].times, &from->ops[op].times);
	}
	histogram_merge(&into->late, &from->late);
	for (int i = 0; i < ERRORS_KEPT; i++)
		if (from->errors[i].kind != ERROR_NONE)
			add_error(into, &from->errors[i]);
	into->retransmissions += from->retransmissions;
	into->reconnects += from->reconnects;
	into->unknown_replies += from->unknown_replies;
	into->verifier_changes += from->verifier_changes;
	into->unsent += from->unsent;
	into->unanswered += from->unanswered;
	larger(&into->max_reads, from->max_reads);
	larger(&into->max_writes, from->max_writes);
	into->gave_up |= from->gave_up;
}
