/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A trace: requests to one device and the times at which they came. Read whole from a file (fio's iolog, version 2 and
 * 3; the text that blkparse prints), or made up (pattern.h).
 */
#ifndef TRACE_H
#define TRACE_H

#include "fb_medium.h"
#include "lines.h"

/* Writes or reads over all of a medium, or of what it shows, in order or at random. All come at once. */
struct pattern {
	bool random;
	enum fb_op op;
	u64 request_bytes;
	u64 passes;		/* so many times the bytes that are written over */
	u64 seed;
	u64 bytes;		/* the part of the medium that is written over */
	u64 places;		/* requests in a pass */
};

struct trace_entry {
	u64 time_ns;
	struct fb_request request;
};

/* Requests lie within capacity_bytes, in whole sectors; times never run backwards */
struct trace {
	u64 capacity_bytes;
	u64 sector_bytes;
	struct trace_entry *entries;	/* NULL if they are made up */
	struct pattern pattern;
	size_t count;
	size_t capacity;
};

/* An empty trace for a medium with these parameters */
struct trace trace_for(const struct fb_params *params);
void trace_free(struct trace *trace);

/*
 * Reads a trace; its first line tells the format. event is the blkparse action that counts as a request: 'D' (issued to
 * the driver) or 'Q' (queued). False: a message with file and line is on stderr.
 */
bool trace_read(struct trace *trace, const char *path, char event);

/* Adds a request. NULL, or what is wrong with it */
const char *trace_add(struct trace *trace, const struct trace_entry *entry);
/* NULL, or what would be wrong with it behind those that are there */
const char *trace_fault(const struct trace *trace, const struct trace_entry *entry);

/* Request i of those that are made up */
struct trace_entry pattern_at(const struct pattern *pattern, u64 i);

/* Request i, below count */
static inline struct trace_entry trace_at(const struct trace *trace, size_t i)
{
	return trace->entries ? trace->entries[i] : pattern_at(&trace->pattern, i);
}

/* The formats. first is the first line; all return false with a message on stderr */
bool iolog_begins(const char *first);
bool iolog_read(struct trace *trace, struct lines *lines, const char *first);
bool blkparse_begins(const char *first);
bool blkparse_read(struct trace *trace, struct lines *lines, char *first, char event);

#endif
