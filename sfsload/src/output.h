/* SPDX-License-Identifier: Apache-2.0 */
/* Where the result goes. A file has what it had until the whole result is there: a load that fails or is stopped takes
 * nothing from one before it. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <limits.h>
#include <stdio.h>

struct output {
	const char *name; /* as it was given; NULL: standard output */
	char file[PATH_MAX]; /* what takes its place at the end; empty: it is written directly */
	char beside[PATH_MAX + 16]; /* what is written, and then renamed */
	FILE *direct;
};

/* Before the load; ends the program if nothing can be written there */
void output_check(struct output *output, const char *name);

FILE *output_begin(struct output *output);

/* The result is there, or the program ends */
void output_end(struct output *output, FILE *out);

#endif
