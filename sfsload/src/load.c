// SPDX-License-Identifier: Apache-2.0
/*
 * The open loop. An arrival's calls are sent when it is due, regardless of pending calls; only reads and writes wait
 * while two of their kind are outstanding. The thread sleeps in poll() until the next arrival or answer.
 */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "content.h"
#include "load_parts.h"
#include "message.h"

enum { KB = 1024, AT_ONCE = 16 /* late arrivals sent before answers are checked again */ };

#define DRAIN_NS (5 * NS_IN_S) /* how long answers are awaited after the end, though they no longer count */
#define HELD_UP_NS NS_IN_S /* how long after the end overdue calls are still sent */

static void next_own(struct load *load)
{
	do
		schedule_next(&load->schedule, &load->next);
	while (load->next.number % load->settings.parts != load->settings.part);
}

struct load *load_make(const struct load_settings *settings, struct result *result)
{
	struct load *load = allocate(1, sizeof(*load));

	load->settings = *settings;
	load->result = result;
	calls_start(&load->calls, settings->calls);
	schedule_start(&load->schedule, settings->set, settings->mix, settings->seed, settings->load);
	next_own(load);
	return load;
}

/* Calls of an operation on an accessed file, or on its directory */
static void ask_of_file(const struct job *job, struct nfs_request *request, char *name)
{
	const struct load_settings *settings = &job->load->settings;
	uint32_t file = settings->set->accessed_files[job->of.place];
	const struct handle *directory = &settings->shared->directories[file / FILES_IN_DIRECTORY];

	request->object = &settings->shared->files[job->of.place];
	switch (job->of.op) {
	case OP_LOOKUP:
		request->object = directory;
		request->name = name;
		if (job->of.absent)
			name_of_nothing(name, file);
		else
			name_of_file(name, file);
		break;
	case OP_READDIR:
	case OP_READDIRPLUS:
		request->object = directory;
		break;
	case OP_WRITE:
		content_fill(job->load->block, file, job->of.from_kb, job->of.kb);
		request->data = job->load->block;
		break;
	default:
		break;
	}
}

/* If the mix has COMMIT, writes may be unstable */
static void ask(const struct job *job, struct nfs_request *request, char *name)
{
	const struct load_settings *settings = &job->load->settings;

	*request = (struct nfs_request) {
		.op = job->of.op, .offset = job->of.from_kb * KB, .length = job->of.kb * KB, .mode = job->of.mode,
		.stable = !settings->mix->percent[OP_COMMIT],
	};
	switch (job->of.op) {
	case OP_READLINK:
		request->object = &settings->shared->links[job->of.item];
		break;
	case OP_CREATE:
	case OP_REMOVE:
		request->object = &settings->shared->plain_directories[job->of.item / FILES_IN_DIRECTORY];
		request->mode = 0644;
		request->name = name;
		name_of_plain_file(name, job->of.item);
		break;
	case OP_FSSTAT:
	case OP_FSINFO:
		request->object = &settings->shared->root;
		break;
	default:
		ask_of_file(job, request, name);
	}
}

static call_done answered;

/* The name that a call creates or removes; NULL for other calls */
static struct plain_name *name_of(const struct job *job)
{
	bool has_one = job->of.op == OP_CREATE || job->of.op == OP_REMOVE;

	return has_one ? &job->load->settings.shared->names[job->of.item] : NULL;
}

static void send_job(struct job *job)
{
	struct load *load = job->load;
	struct rpc_procedure procedure = {
		NFS_PROGRAM, load->settings.nfs->version, (uint32_t)load->settings.nfs->procedures[job->of.op],
	};
	struct nfs_request request;
	char name[PATH_SIZE];
	uint64_t sent_ns;

	if (name_of(job))
		plain_sent(name_of(job), job->of.op == OP_CREATE);
	ask(job, &request, name);
	load->settings.nfs->put(calls_begin(&load->calls, &procedure), &request);
	sent_ns = calls_send(&load->calls, answered, job);
	if (job->first && job->scheduled_ns >= load->from_ns && job->scheduled_ns < load->to_ns)
		histogram_add(&load->result->late, sent_ns - job->scheduled_ns);
}

static struct limit *limit_of(struct load *load, enum op op)
{
	return op == OP_READ ? &load->reads : op == OP_WRITE ? &load->writes : NULL;
}

static void answered(void *context, enum rpc_outcome outcome, struct xdr_in *results, const struct call_times *times)
{
	struct job *job = context;
	struct load *load = job->load;
	struct limit *limit = limit_of(load, job->of.op);
	struct limited *next;

	judge(job, outcome, results, times);
	if (name_of(job))
		plain_answered(name_of(job));
	free(job);
	if (!limit)
		return;
	next = limit_leave(limit);
	if (next)
		send_job((struct job *)next);
}

static void submit(struct load *load, const struct arrival *of, uint64_t scheduled_ns, bool first)
{
	struct job *job = allocate(1, sizeof(*job));
	struct limit *limit = limit_of(load, of->op);

	job->load = load;
	job->of = *of;
	job->scheduled_ns = scheduled_ns;
	job->first = first;
	if (!limit || limit_enter(limit, &job->limited))
		send_job(job);
}

/* A transfer of several blocks is as many calls, all due at once */
static void arrive(struct load *load, const struct arrival *arrival, uint64_t due_ns)
{
	struct arrival part = *arrival;
	uint32_t left = arrival->kb;
	bool measured = due_ns >= load->from_ns && due_ns < load->to_ns;

	if (measured)
		load->result->ops[arrival->op].scheduled += arrival_calls(arrival);
	do {
		part.kb = left < BLOCK_KB ? left : BLOCK_KB;
		submit(load, &part, due_ns, left == arrival->kb);
		part.from_kb += part.kb;
		left -= part.kb;
	} while (left);
}

/* Waiting calls are dropped once the time is over */
static void drop_waiting(struct load *load, struct limit *limit)
{
	struct limited *item;

	while ((item = limit_drop(limit))) {
		load->result->unsent++;
		free(item);
	}
}

/* Drops overdue calls, because this process was delayed or the server gave no answer */
static void drop_due(struct load *load)
{
	uint64_t start = load->settings.shared->start_ns;

	for (; start + load->next.at_ns < load->to_ns; next_own(load)) {
		if (start + load->next.at_ns >= load->from_ns)
			load->result->ops[load->next.op].scheduled += arrival_calls(&load->next);
		load->result->unsent += arrival_calls(&load->next);
	}
}

static void drain(struct load *load)
{
	uint64_t until = now_ns() + DRAIN_NS;

	drop_waiting(load, &load->reads);
	drop_waiting(load, &load->writes);
	while (load->calls.pending && !load->calls.given_up && now_ns() < until)
		calls_wait(&load->calls, until);
}

void load_run(struct load *load)
{
	struct result *result = load->result;
	uint64_t start = load->settings.shared->start_ns, due = start + load->next.at_ns;

	load->from_ns = start + load->settings.warmup_ns;
	load->to_ns = load->from_ns + load->settings.measured_ns;
	while (!load->calls.given_up && now_ns() < (due < load->to_ns ? load->to_ns + HELD_UP_NS : load->to_ns)) {
		for (int i = 0; i < AT_ONCE && due < load->to_ns && due <= now_ns(); i++) {
			arrive(load, &load->next, due);
			next_own(load);
			due = start + load->next.at_ns;
		}
		calls_wait(&load->calls, due < load->to_ns ? due : load->to_ns);
	}
	drop_due(load);
	drain(load);
	result->gave_up = load->calls.given_up;
	result->unanswered = load->calls.pending;
	result->retransmissions = load->calls.retransmissions;
	result->reconnects = load->calls.reconnects;
	result->unknown_replies = load->calls.unknown_replies;
	result->max_reads = load->reads.max_seen;
	result->max_writes = load->writes.max_seen;
}

void load_free(struct load *load)
{
	calls_end(&load->calls);
	schedule_free(&load->schedule);
	free(load);
}
