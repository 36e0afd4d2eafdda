/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that run to completion */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>

/*
 * Runs a program to completion. `arguments` end with NULL, and the first is its path. With `tell`, its output goes to
 * the log by lines. Returns its exit status; -1 if it was killed or could not be started.
 */
int program_run(const char *const arguments[], bool tell);

#endif
