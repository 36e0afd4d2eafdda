/* SPDX-License-Identifier: Apache-2.0 */
/* Exit codes, and the line on stderr that gives the reason */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdatomic.h>

enum exit_status {
	EXIT_MEASURED = 0,
	EXIT_HOST = 1, /* this machine: memory, sockets, files */
	EXIT_USAGE = 2,
	EXIT_NO_SERVER = 3, /* it is unreachable, refuses, or stopped answering */
	EXIT_WRONG = 4, /* an answer has an unexpected error, violates the protocol, or has wrong data */
	EXIT_NOT_MET = 5, /* the mix or the load */
};

/* Prints "sfsload: ..." to stderr; does not return */
__attribute__((noreturn, format(printf, 2, 3)))
void end_with(enum exit_status status, const char *format, ...);

/*
 * From now on a process prints nothing if another one with the flag, in shared memory, has printed a message: their
 * failures have the same cause
 */
void say_once(atomic_flag *flag);

/* Zeroed memory, or ends the program */
void *allocate(unsigned long count, unsigned long size);

#endif
