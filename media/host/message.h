/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the host programs say to a person: lines on stderr that begin with the program's name */
#ifndef MESSAGE_H
#define MESSAGE_H

#include "fb_types.h"

/* Each program has one */
extern const char program_name[];

/* "program: subject: what"; returns false, for callers that do the same */
bool complain(const char *subject, const char *what);

/* "program: path:line: what"; returns false */
bool complain_line(const char *path, u64 line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A line that is overwritten by the next one, only where a person watches; done == total ends it */
void progress(const char *what, u64 done, u64 total);

#endif
