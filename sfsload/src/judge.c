// SPDX-License-Identifier: Apache-2.0
/* Checks the answers */
#include "content.h"
#include "load_parts.h"

enum { KB = 1024 };

/* The first transmission of a repeated REMOVE may have been executed; and a REMOVE may overtake a lost CREATE. */
static bool may_be_gone(const struct job *job, const struct call_times *times)
{
	return times->sendings > 1 || job->load->settings.shared->names[job->of.item].unsure;
}

static bool status_is_good(const struct job *job, uint32_t status, const struct call_times *times)
{
	if (job->of.op == OP_LOOKUP && job->of.absent)
		return status == NFS_NO_ENTRY;
	if (job->of.op == OP_REMOVE && status == NFS_NO_ENTRY)
		return may_be_gone(job, times);
	return status == NFS_OK;
}

static enum error_kind judge_read(const struct job *job, const struct nfs_answer *answer)
{
	uint32_t file = job->load->settings.set->accessed_files[job->of.place];

	if (answer->count != job->of.kb * KB)
		return ERROR_LENGTH;
	return content_is(answer->data, file, job->of.from_kb, job->of.kb) ? ERROR_NONE : ERROR_CONTENT;
}

static enum error_kind judge_results(const struct job *job, const struct nfs_answer *answer)
{
	switch (job->of.op) {
	case OP_READ:
		return judge_read(job, answer);
	case OP_WRITE:
		if (job->load->settings.nfs->version > 2 && answer->count != job->of.kb * KB)
			return ERROR_LENGTH;
		return ERROR_NONE;
	case OP_LOOKUP:
	case OP_GETATTR:
		return answer->has_attributes && answer->type != NFS_FILE ? ERROR_TYPE : ERROR_NONE;
	case OP_READDIR:
	case OP_READDIRPLUS:
	case OP_READLINK:
		return answer->count ? ERROR_NONE : ERROR_EMPTY;
	case OP_ACCESS:
		return answer->access ? ERROR_NONE : ERROR_EMPTY;
	default:
		return ERROR_NONE;
	}
}

/* A restarted server may have lost uncommitted writes */
static void note_verifier(struct load *load, const struct nfs_answer *answer)
{
	if (!answer->has_verifier)
		return;
	if (load->has_verifier && load->verifier != answer->verifier)
		load->result->verifier_changes++;
	load->verifier = answer->verifier;
	load->has_verifier = true;
}

static enum error_kind judge_reply(struct job *job, struct xdr_in *results, const struct call_times *times,
				   uint32_t *code)
{
	struct nfs_answer answer;

	if (!job->load->settings.nfs->get(results, job->of.op, &answer))
		return ERROR_MALFORMED;
	note_verifier(job->load, &answer);
	if (status_is_good(job, answer.status, times))
		return answer.status == NFS_OK ? judge_results(job, &answer) : ERROR_NONE;
	if (answer.status == NFS_OK)
		return ERROR_FOUND;
	*code = answer.status;
	return ERROR_STATUS;
}

void judge(struct job *job, enum rpc_outcome outcome, struct xdr_in *results, const struct call_times *times)
{
	struct load *load = job->load;
	struct op_result *counted = &load->result->ops[job->of.op];
	bool measured = times->answered_ns >= load->from_ns && times->answered_ns < load->to_ns;
	enum error_kind error = ERROR_RPC;
	uint32_t code = outcome;

	if (outcome == RPC_SUCCESS) {
		code = 0;
		error = judge_reply(job, results, times, &code);
	}
	if (error != ERROR_NONE) {
		result_error(load->result, job->of.op, error, code);
		counted->errors += measured;
	} else if (measured) {
		histogram_add(&counted->times, times->answered_ns - times->sent_ns);
	}
}
