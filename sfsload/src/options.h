/* SPDX-License-Identifier: Apache-2.0 */
/* The command line */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "mix.h"

enum { MAX_PROCESSES = 64 };

enum step {
	STEP_ALL,
	STEP_LIST, /* prints the file set, without a server */
	STEP_PREPARE,
	STEP_LOAD, /* loads a prepared file set */
};

struct options {
	const char *server, *export, *directory, *output;
	struct in_addr address;
	const struct mix *mix;
	uint32_t version, load, processes, scale, uid, gid; /* scale: parts of SCALE_WHOLE */
	bool tcp;
	uint16_t port, mount_port, portmap_port;
	uint64_t seed, warmup_ns, measured_ns, timeout_ns, give_up_ns;
	enum step step;
};

/* Invalid options end the program with EXIT_USAGE, --help with 0 */
void options_read(int count, char **arguments, struct options *options);

#endif
