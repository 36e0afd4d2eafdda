/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Traces that are made up (struct pattern, trace.h): each request when it is asked for, so that they take no memory */
#ifndef PATTERN_H
#define PATTERN_H

#include "trace.h"

/* Over so many bytes. False: a message is on stderr */
bool pattern_make(struct trace *trace, const struct pattern *pattern, u64 bytes);

#endif
