/* SPDX-License-Identifier: Apache-2.0 */
/* How the program ends, and the one line on stderr that says why */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdatomic.h>

enum exit_status {
	EXIT_MEASURED = 0,
	EXIT_HOST = 1, /* this machine: memory, sockets, files */
	EXIT_USAGE = 2,
	EXIT_NO_SERVER = 3, /* it cannot be reached, refuses, or no longer answers */
	EXIT_WRONG = 4, /* an answer is an error that it should not be, or breaks the protocol, or has other bytes */
	EXIT_NOT_MET = 5, /* the mix or the load */
};

/* "sfsload: ..." on stderr; does not return */
__attribute__((noreturn, format(printf, 2, 3)))
void end_with(enum exit_status status, const char *format, ...);

/* From now on a process says nothing if another one that has the flag, in shared memory, has said something: what is
 * wrong for one is wrong for all */
void say_once(atomic_flag *flag);

/* Memory set to 0, or the program ends */
void *allocate(unsigned long count, unsigned long size);

#endif
