/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A trace: requests to one device, with their times. It is read whole from a file (fio's iolog, version 2 and 3;
 * blkparse's text), or synthetic (pattern.h).
 */
#ifndef TRACE_H
#define TRACE_H

#include "fb_medium.h"
#include "lines.h"

/* Writes or reads over all of a medium, or of its exposed part, in order or at random. All are issued at once. */
struct pattern {
	bool random;
	enum fb_op op;
	u64 request_bytes;
	u64 passes;		/* the bytes written are this multiple of `bytes` */
	u64 seed;
	u64 bytes;		/* the part of the medium that is accessed */
	u64 places;		/* requests in a pass */
};

struct trace_entry {
	u64 time_ns;
	struct fb_request request;
};

/* Requests lie within capacity_bytes and are aligned to sectors; times never decrease */
struct trace {
	u64 capacity_bytes;
	u64 sector_bytes;
	struct trace_entry *entries;	/* NULL if synthetic */
	struct pattern pattern;
	size_t count;
	size_t capacity;
};

/* An empty trace for a medium with these parameters */
struct trace trace_for(const struct fb_params *params);
void trace_free(struct trace *trace);

/*
 * Reads a trace; its first line tells the format. `event` is the blkparse action that counts as a request: 'D' (issued
 * to the driver) or 'Q' (queued). On failure prints a message with file and line to stderr and returns false.
 */
bool trace_read(struct trace *trace, const char *path, char event);

/* Adds a request. NULL, or the reason why it is invalid */
const char *trace_add(struct trace *trace, const struct trace_entry *entry);
/* NULL, or the reason why the request would be invalid as the next one */
const char *trace_fault(const struct trace *trace, const struct trace_entry *entry);

/* Request i of a synthetic trace */
struct trace_entry pattern_at(const struct pattern *pattern, u64 i);

/* Request i, below count */
static inline struct trace_entry trace_at(const struct trace *trace, size_t i)
{
	return trace->entries ? trace->entries[i] : pattern_at(&trace->pattern, i);
}

/* The two formats. `first` is the first line. The readers print a message to stderr and return false on failure. */
bool iolog_begins(const char *first);
bool iolog_read(struct trace *trace, struct lines *lines, const char *first);
bool blkparse_begins(const char *first);
bool blkparse_read(struct trace *trace, struct lines *lines, char *first, char event);

#endif
