/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the result as one JSON document (docs/sfsload.md has its keys), and derives the exit status */
#ifndef REPORT_H
#define REPORT_H

#include <stdio.h>

#include "fileset.h"
#include "message.h"
#include "options.h"
#include "result.h"

enum { LOAD_MET_PERCENT = 95 }; /* of the calls scheduled in the measurement interval, answered correctly in it */

struct report {
	const struct options *options;
	const struct fileset *set;
	const struct result *result; /* NULL: the file set was made, without a load */
	uint64_t prepared_ns; /* the time to make the file set */
};

enum exit_status report_write(FILE *out, const struct report *report);

#endif
