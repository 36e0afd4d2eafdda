/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that do one thing and end */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>

/*
 * Runs a program to its end: `arguments` end with NULL, and the first is its path. With `tell`, each line that it writes
 * goes to the log. Its exit status; -1 if it was killed or could not be started.
 */
int program_run(const char *const arguments[], bool tell);

#endif
