/* SPDX-License-Identifier: Apache-2.0 */
/* The result as one JSON document (docs/sfsload.md has its keys), and the exit status that it stands for */
#ifndef REPORT_H
#define REPORT_H

#include <stdio.h>

#include "fileset.h"
#include "message.h"
#include "options.h"
#include "result.h"

enum { LOAD_MET_PERCENT = 95 }; /* of the calls that were scheduled in the measured time, well answered in it */

struct report {
	const struct options *options;
	const struct fileset *set;
	const struct result *result; /* NULL: the file set was made, and no load was put */
	uint64_t prepared_ns; /* how long the file set took */
};

enum exit_status report_write(FILE *out, const struct report *report);

#endif
