/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* "fbmedia undo" and "fbmedia cut": the files of a medium whose power is going to be cut, or was */
#ifndef CUT_H
#define CUT_H

#include "fb_medium.h"

struct cut_files {
	const char *state;
	const char *data;
	const char *undo;
};

/* Makes the file in which a medium's driver keeps old content. False: a message is on stderr. */
bool cut_make_undo(const char *state, const char *undo);

/*
 * Changes state and data to what a restart finds, and prints what happened as JSON. cut_ns: FB_NEVER for the moment
 * that the driver noted. False: a message is on stderr.
 */
bool cut_medium(const struct cut_files *files, u64 cut_ns, u64 seed);

#endif
