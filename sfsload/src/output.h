/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result's destination. A file keeps its content until the whole result is written: a failed or interrupted load
 * never destroys an earlier result.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <limits.h>
#include <stdio.h>

struct output {
	const char *name; /* as given; NULL: standard output */
	char file[PATH_MAX]; /* the file to be replaced at the end; empty: written directly */
	char beside[PATH_MAX + 16]; /* the temporary file */
	FILE *direct;
};

/* Call it before the load; ends the program if the destination is not writable */
void output_check(struct output *output, const char *name);

FILE *output_begin(struct output *output);

/* Completes the result, or ends the program */
void output_end(struct output *output, FILE *out);

#endif
