// SPDX-License-Identifier: Apache-2.0
/*
 * sfsload: puts an SFS-style load on an NFS server, and writes its response times. docs/sfsload.md describes the rules
 * and the result.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "interrupt.h"
#include "load.h"
#include "message.h"
#include "mount.h"
#include "options.h"
#include "output.h"
#include "prepare.h"
#include "processes.h"
#include "report.h"

enum { STREAM_XIDS = 21 };

#define BEFORE_START_NS (50 * NS_IN_MS) /* all processes are awake by then */

struct run {
	struct options options;
	struct fileset set;
	struct mount_request mount;
	struct mounted mounted;
	struct calls_settings nfs;
	struct shared *shared;
	struct load *load; /* of a load process */
	uint64_t began_ns, prepared_ns;
	char what[64];
};

static const struct nfs_protocol *protocol(const struct run *run)
{
	return run->options.version == 2 ? &nfs2 : &nfs3;
}

/*
 * Xids differ between runs and connections. Otherwise a server might take a call for a recent one and repeat that
 * answer. They derive from the process ID, not from a clock, and influence nothing else.
 */
static uint32_t first_xid(const struct run *run)
{
	static uint64_t connections;
	struct random random;

	random_start(&random, run->options.seed ^ (uint64_t)getpid() << 32, STREAM_XIDS + connections++);
	return (uint32_t)random_u64(&random);
}

static void set_mount(struct run *run)
{
	const struct options *options = &run->options;

	run->mount = (struct mount_request) {
		.settings = {
			.tcp = options->tcp,
			.to = { .sin_family = AF_INET, .sin_addr = options->address },
			.who = { .machine = "sfsload", .uid = options->uid, .gid = options->gid },
			.timeout_ns = options->timeout_ns,
			.give_up_ns = options->give_up_ns,
			.first_xid = first_xid(run),
		},
		.version = options->version, .server = options->server, .path = options->export,
		.portmap_port = options->portmap_port, .mount_port = options->mount_port, .nfs_port = options->port,
	};
}

static void connect_client(struct run *run, struct client *client)
{
	memset(client, 0, sizeof(*client));
	run->nfs.first_xid = first_xid(run);
	client_start(client, &run->nfs, run->what);
	client->nfs = protocol(run);
}

/* Version 3 reports its largest transfer; version 2 always accepts 8 KB */
static void check_block(const struct run *run, struct client *client)
{
	struct nfs_request request = { .op = OP_FSINFO, .object = &run->mounted.root };
	struct nfs_answer answer;

	if (run->options.version == 2)
		return;
	client_must(client, &request, run->options.export, &answer);
	if (answer.read_max < NFS_BLOCK || answer.write_max < NFS_BLOCK)
		end_with(EXIT_NO_SERVER, "%s: moves at most %u bytes a read and %u a write; the load needs %u",
			 run->what, answer.read_max, answer.write_max, NFS_BLOCK);
}

static struct preparation preparation(struct run *run, struct client *client)
{
	return (struct preparation) {
		.client = client, .set = &run->set, .shared = run->shared, .export = &run->mounted.root,
		.directory = run->options.directory, .make = run->options.step != STEP_LOAD,
	};
}

static void mount_and_prepare(struct run *run)
{
	struct preparation base;
	struct client client;

	mount_export(&run->mount, &run->mounted);
	run->nfs = run->mount.settings;
	run->nfs.to.sin_port = htons(run->mounted.nfs_port);
	snprintf(run->what, sizeof(run->what), "NFS at %s, port %u", run->options.server, run->mounted.nfs_port);
	run->began_ns = now_ns();
	connect_client(run, &client);
	check_block(run, &client);
	base = preparation(run, &client);
	prepare_base(&base);
	client_end(&client);
}

static void prepare_process(void *context, uint32_t process)
{
	struct run *run = context;
	struct preparation part;
	struct client client;

	connect_client(run, &client);
	part = preparation(run, &client);
	prepare_part(&part, process, run->options.processes);
	client_end(&client);
}

static void begin(void *context)
{
	struct run *run = context;

	run->shared->start_ns = now_ns() + BEFORE_START_NS;
	run->prepared_ns = now_ns() - run->began_ns;
}

static void run_process(void *context, uint32_t process)
{
	struct run *run = context;
	struct load_settings settings = {
		.calls = &run->nfs, .nfs = protocol(run), .set = &run->set, .mix = run->options.mix,
		.shared = run->shared, .seed = run->options.seed, .warmup_ns = run->options.warmup_ns,
		.measured_ns = run->options.measured_ns,
		.load = run->options.load, .part = process, .parts = run->options.processes,
	};

	if (run->options.step == STEP_PREPARE)
		return;
	run->nfs.first_xid = first_xid(run);
	run->load = load_make(&settings, &run->shared->results[process]);
	load_run(run->load);
	load_free(run->load);
}

static void list(const struct run *run, struct output *output)
{
	const struct fileset *set = &run->set;
	FILE *out = output_begin(output);
	uint8_t *accessed = allocate(set->files, 1);
	char directory[PATH_SIZE], name[PATH_SIZE];

	for (uint32_t i = 0; i < set->accessed; i++)
		accessed[set->accessed_files[i]] = 1;
	for (uint32_t file = 0; file < set->files; file++) {
		name_of_directory(directory, file / FILES_IN_DIRECTORY);
		name_of_file(name, file);
		fprintf(out, "%s/%s %u%s\n", directory, name, fileset_size(set, file),
			accessed[file] ? " accessed" : "");
	}
	output_end(output, out);
	free(accessed);
}

static enum exit_status measure(struct run *run, struct output *output)
{
	struct process_work work = { run, run->options.processes, prepare_process, begin, run_process };
	struct report report = { .options = &run->options, .set = &run->set };
	struct result *all = run->options.step == STEP_PREPARE ? NULL : allocate(1, sizeof(*all));
	enum exit_status status;
	FILE *out;

	set_mount(run);
	run->shared = shared_make(&run->set, run->options.processes);
	mount_and_prepare(run);
	processes_run(&work);
	unmount_export(&run->mount, &run->mounted);
	for (uint32_t i = 0; all && i < run->options.processes; i++)
		result_merge(all, &run->shared->results[i]);
	report.result = all;
	report.prepared_ns = run->prepared_ns;
	out = output_begin(output);
	status = report_write(out, &report);
	output_end(output, out);
	free(all);
	return status;
}

int main(int count, char **arguments)
{
	static struct run run;
	enum exit_status status = EXIT_MEASURED;
	static struct output output;

	options_read(count, arguments, &run.options);
	interrupt_tell();
	fileset_make(&run.set, run.options.seed, run.options.load, run.options.scale);
	output_check(&output, run.options.output);
	if (run.options.step == STEP_LIST)
		list(&run, &output);
	else
		status = measure(&run, &output);
	fileset_free(&run.set);
	return (int)status;
}
