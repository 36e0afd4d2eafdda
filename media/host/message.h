/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Messages of the host programs: lines on stderr, prefixed with the program's name */
#ifndef MESSAGE_H
#define MESSAGE_H

#include "fb_types.h"

/* Defined by each program */
extern const char program_name[];

/* Prints "program: subject: what"; returns false, as its callers do */
bool complain(const char *subject, const char *what);

/* Prints "program: path:line: what"; returns false */
bool complain_line(const char *path, u64 line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Shows a progress line on a terminal, which the next one overwrites. done == total ends it; total 0 is unknown. */
void progress(const char *what, u64 done, u64 total);

#endif
