/* SPDX-License-Identifier: Apache-2.0 */
/* The open-loop load of one process: sends its share of the schedule on time, and records the results */
#ifndef LOAD_H
#define LOAD_H

#include "calls.h"
#include "schedule.h"
#include "shared.h"

struct load_settings {
	const struct calls_settings *calls;
	const struct nfs_protocol *nfs;
	const struct fileset *set;
	const struct mix *mix;
	const struct shared *shared;
	uint64_t seed, warmup_ns, measured_ns;
	uint32_t load, part, parts; /* this process is number `part` of `parts` */
};

struct load;

/* Connects and prepares; the load begins when shared->start_ns is set and load_run() is called */
struct load *load_make(const struct load_settings *settings, struct result *result);
void load_run(struct load *load);
void load_free(struct load *load);

#endif
