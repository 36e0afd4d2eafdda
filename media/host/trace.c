// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Reads a trace of either format, and checks its requests */
#include <stdlib.h>

#include "message.h"
#include "trace.h"

enum { FIRST_ENTRIES = 1 << 16, PROGRESS_STEP = 1 << 20 };

struct trace trace_for(const struct fb_params *params)
{
	return (struct trace) {
		.capacity_bytes = params->capacity_bytes,
		.sector_bytes = params->sector_bytes,
	};
}

void trace_free(struct trace *trace)
{
	free(trace->entries);
	trace->entries = NULL;
}

static bool make_room(struct trace *trace)
{
	size_t capacity = trace->capacity ? 2 * trace->capacity : FIRST_ENTRIES;
	struct trace_entry *larger = realloc(trace->entries, capacity * sizeof(*larger));

	if (!larger)
		return false;
	trace->entries = larger;
	trace->capacity = capacity;
	return true;
}

const char *trace_fault(const struct trace *trace, const struct trace_entry *entry)
{
	const struct fb_request *r = &entry->request;

	if (trace->count && entry->time_ns < trace->entries[trace->count - 1].time_ns)
		return "time runs backwards";
	if (r->op == FB_FLUSH)
		return NULL;
	if (!r->length_bytes)
		return "a request of no bytes";
	if ((r->offset_bytes | r->length_bytes) & (trace->sector_bytes - 1))
		return "not whole sectors of the medium";
	if (r->length_bytes > trace->capacity_bytes || r->offset_bytes > trace->capacity_bytes - r->length_bytes)
		return "beyond the end of the medium";
	return NULL;
}

const char *trace_add(struct trace *trace, const struct trace_entry *entry)
{
	const char *wrong = trace_fault(trace, entry);

	if (wrong)
		return wrong;
	if (trace->count == trace->capacity && !make_room(trace))
		return "out of memory";
	trace->entries[trace->count++] = *entry;
	if (trace->count % PROGRESS_STEP == 0)
		progress("read", trace->count, 0);
	return NULL;
}

static bool read_lines(struct trace *trace, struct lines *lines, char event)
{
	char *first = lines_next(lines);

	if (!first)
		return lines->failed ? false : complain(lines->path, "empty");
	if (iolog_begins(first))
		return iolog_read(trace, lines, first);
	if (blkparse_begins(first))
		return blkparse_read(trace, lines, first, event);
	return complain_line(lines->path, lines->number,
			     "neither the head of a fio iolog (\"fio version 2 iolog\") nor a line of blkparse");
}

bool trace_read(struct trace *trace, const char *path, char event)
{
	struct lines lines;
	bool done;

	if (!lines_open(&lines, path))
		return false;
	done = read_lines(trace, &lines, event);
	progress("read", trace->count, trace->count);
	if (done && !trace->count)
		done = complain(lines.path, "no requests");
	lines_close(&lines);
	return done;
}
