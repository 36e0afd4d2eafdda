/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Synthetic traces (struct pattern, trace.h): each request is generated on demand, so that they take no memory */
#ifndef PATTERN_H
#define PATTERN_H

#include "trace.h"

/* Makes a pattern over `bytes` bytes. On failure prints a message to stderr and returns false. */
bool pattern_make(struct trace *trace, const struct pattern *pattern, u64 bytes);

#endif
