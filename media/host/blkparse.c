// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Parses blkparse's default output (blkparse(1), "Default event formats"):
 *	MAJOR,MINOR CPU SEQUENCE SECONDS.NANOSECONDS PID ACTION RWBS SECTOR + SECTORS [PROCESS]
 * One action of each request is used. The others are skipped, and so is the summary at the end. A flush has no sectors.
 */
#include <string.h>

#include "message.h"
#include "trace.h"

enum { LINUX_SECTOR = 512 };

struct blkparse {
	struct lines *lines;
	struct trace *trace;
	char event;
	char device[32];
};

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "8,0" */
static bool is_device(struct word word)
{
	const char *comma = memchr(word.text, ',', word.length);

	return comma && comma > word.text && digit(*word.text) && digit(word.text[word.length - 1]);
}

bool blkparse_begins(const char *first)
{
	char *rest = (char *)first;

	return is_device(word_next(&rest));
}

static bool wrong_word(const struct blkparse *b, const char *what, struct word word)
{
	return complain_line(b->lines->path, b->lines->number, "%s \"%.*s\"", what, (int)word.length, word.text);
}

static bool same_device(struct blkparse *b, struct word device)
{
	if (!*b->device && device.length < sizeof(b->device))
		memcpy(b->device, device.text, device.length);
	if (word_is(device, b->device))
		return true;
	return wrong_word(b, "a trace is about one device, and this line is about a second,", device);
}

static bool read_time(const struct blkparse *b, struct word word, u64 *ns)
{
	const char *point = memchr(word.text, '.', word.length);
	u64 seconds, fraction;

	if (point && word.text + word.length - point == 10 &&
	    word_number((struct word) { word.text, point - word.text }, &seconds) &&
	    word_number((struct word) { point + 1, 9 }, &fraction) &&
	    !__builtin_mul_overflow(seconds, 1000000000, ns) && !__builtin_add_overflow(*ns, fraction, ns))
		return true;
	return wrong_word(b, "a time (SECONDS.NANOSECONDS) is expected, not", word);
}

static bool add(struct blkparse *b, struct trace_entry *entry, enum fb_op op)
{
	const char *fault;

	entry->request.op = op;
	fault = trace_add(b->trace, entry);
	return fault ? complain_line(b->lines->path, b->lines->number, "%s", fault) : true;
}

static bool read_extent(const struct blkparse *b, char *rest, struct fb_request *request)
{
	struct word sector = word_next(&rest);
	struct word plus = word_next(&rest);
	struct word sectors = word_next(&rest);

	if (word_number(sector, &request->offset_bytes) && word_is(plus, "+") &&
	    word_number(sectors, &request->length_bytes) &&
	    !__builtin_mul_overflow(request->offset_bytes, LINUX_SECTOR, &request->offset_bytes) &&
	    !__builtin_mul_overflow(request->length_bytes, LINUX_SECTOR, &request->length_bytes))
		return true;
	return wrong_word(b, "SECTOR + SECTORS is expected, not", sector);
}

/* RWBS letters: F (flush before), then the operation, then its modifiers: F (FUA), S, A, M */
static bool read_request(struct blkparse *b, struct trace_entry *entry, struct word rwbs, char *rest)
{
	struct fb_request *request = &entry->request;
	const char *what = rwbs.text;
	struct word extent;
	char *peek = rest;

	if (*what == 'F') {
		if (!add(b, entry, FB_FLUSH))
			return false;
		what++;
	}
	extent = word_next(&peek);
	if (what == rwbs.text + rwbs.length || !digit(*extent.text))
		return true;
	if (*what != 'R' && *what != 'W' && *what != 'D')
		return true;	/* other commands transfer no data of the medium */
	if (!read_extent(b, rest, request))
		return false;
	request->fua = *what == 'W' && memchr(what + 1, 'F', rwbs.text + rwbs.length - what - 1);
	return add(b, entry, *what == 'R' ? FB_READ : *what == 'W' ? FB_WRITE : FB_DISCARD);
}

static bool read_line(struct blkparse *b, char *rest)
{
	struct trace_entry entry = { 0 };
	struct word device = word_next(&rest);
	struct word time, action, rwbs;

	word_next(&rest);	/* CPU */
	word_next(&rest);	/* sequence */
	time = word_next(&rest);
	word_next(&rest);	/* process */
	action = word_next(&rest);
	rwbs = word_next(&rest);
	if (!is_device(device) || !action.length)
		return wrong_word(b, "not a line of blkparse, from", device);
	if (action.length != 1 || *action.text != b->event)
		return true;
	return same_device(b, device) && read_time(b, time, &entry.time_ns) && read_request(b, &entry, rwbs, rest);
}

/* "CPU0 (sda):" or "Total (sda):" */
static bool summary_begins(const char *line)
{
	return !strncmp(line, "CPU", 3) || !strncmp(line, "Total", 5);
}

bool blkparse_read(struct trace *trace, struct lines *lines, char *first, char event)
{
	struct blkparse b = { .lines = lines, .trace = trace, .event = event };
	char *line = first;

	do {
		if (summary_begins(line))
			break;
		if (*line && !read_line(&b, line))
			return false;
	} while ((line = lines_next(lines)));
	if (lines->failed)
		return false;
	if (!trace->count)
		return complain_line(lines->path, lines->number, "no request with action %c; see --event", event);
	return true;
}
