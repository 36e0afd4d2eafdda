/* SPDX-License-Identifier: Apache-2.0 */
/* Load processes: forked, ready, started and ended together */
#ifndef PROCESSES_H
#define PROCESSES_H

#include <stdint.h>

struct process_work {
	void *context;
	uint32_t count;
	void (*prepare)(void *context, uint32_t process);
	void (*begin)(void *context); /* in the parent, when all are ready; may be NULL */
	void (*run)(void *context, uint32_t process);
};

/* If one exits with a status other than 0, the others are ended, and the program exits with that status */
void processes_run(const struct process_work *work);

#endif
