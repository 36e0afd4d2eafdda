// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Parses fio's iolog (fio's HOWTO, "Trace file format"). Version 2: "FILE ACTION [OFFSET LENGTH]"; it has no times
 * except the action "wait", microseconds since the last one. Version 3: "MICROSECONDS FILE ACTION [OFFSET LENGTH]".
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "trace.h"

struct iolog {
	struct lines *lines;
	struct trace *trace;
	int version;
	u64 time_ns;
	struct word file;	/* the trace's file; the text belongs to the log */
};

static const char *const heads[] = { "fio version 2 iolog", "fio version 3 iolog" };

static int version_of(const char *first)
{
	int i;

	for (i = 0; i < 2; i++)
		if (!strncmp(first, heads[i], strlen(heads[i])))
			return i + 2;
	return 0;
}

bool iolog_begins(const char *first)
{
	return version_of(first);
}

static bool wrong_line(const struct iolog *log, const char *what)
{
	return complain_line(log->lines->path, log->lines->number, "%s", what);
}

static bool wrong_word(const struct iolog *log, const char *what, struct word word)
{
	return complain_line(log->lines->path, log->lines->number, "%s \"%.*s\"", what, (int)word.length, word.text);
}

/* A medium is one device: offsets in two files would overlap */
static bool same_file(struct iolog *log, struct word file)
{
	if (!log->file.text)
		log->file = (struct word) { strndup(file.text, file.length), file.length };
	if (log->file.text && file.length == log->file.length && !memcmp(file.text, log->file.text, file.length))
		return true;
	return wrong_word(log, "a trace is about one device, and this line is about a second,", file);
}

static bool opens_or_closes(struct word action)
{
	return word_is(action, "add") || word_is(action, "open") || word_is(action, "close") ||
	       word_is(action, "unlink");
}

static bool find_op(struct word action, enum fb_op *op)
{
	if (word_is(action, "write"))
		*op = FB_WRITE;
	else if (word_is(action, "read"))
		*op = FB_READ;
	else if (word_is(action, "trim"))
		*op = FB_DISCARD;
	else if (word_is(action, "sync") || word_is(action, "datasync"))
		*op = FB_FLUSH;
	else
		return false;
	return true;
}

static bool microseconds(const struct iolog *log, char **rest, u64 *ns)
{
	struct word word;
	char *begin = *rest;

	if (!word_next_number(rest, &word, ns))
		return wrong_word(log, "a time in microseconds is expected, not", word);
	if (__builtin_mul_overflow(*ns, 1000, ns))
		return wrong_word(log, "this time is too large:", word_next(&begin));
	return true;
}

static bool wait_line(struct iolog *log, char *rest)
{
	u64 ns;

	if (log->version == 3)
		return wrong_line(log, "\"wait\" does not exist in version 3");
	if (!microseconds(log, &rest, &ns))
		return false;
	log->time_ns += ns;
	return true;
}

static bool request_line(struct iolog *log, enum fb_op op, char *rest)
{
	struct trace_entry entry = { .time_ns = log->time_ns, .request.op = op };
	struct word word;
	const char *fault;

	if (op != FB_FLUSH) {
		if (!word_next_number(&rest, &word, &entry.request.offset_bytes))
			return wrong_word(log, "an offset in bytes is expected, not", word);
		if (!word_next_number(&rest, &word, &entry.request.length_bytes))
			return wrong_word(log, "a length in bytes is expected, not", word);
	}
	fault = trace_add(log->trace, &entry);
	return fault ? wrong_line(log, fault) : true;
}

static bool read_line(struct iolog *log, char *rest)
{
	struct word file, action;
	enum fb_op op;

	if (log->version == 3 && !microseconds(log, &rest, &log->time_ns))
		return false;
	file = word_next(&rest);
	action = word_next(&rest);
	if (!action.length)
		return wrong_line(log, "incomplete: FILE ACTION [OFFSET LENGTH] is expected");
	if (!same_file(log, file))
		return false;
	if (find_op(action, &op))
		return request_line(log, op, rest);
	if (word_is(action, "wait"))
		return wait_line(log, rest);
	return opens_or_closes(action) || wrong_word(log, "unknown action", action);
}

bool iolog_read(struct trace *trace, struct lines *lines, const char *first)
{
	struct iolog log = { .lines = lines, .trace = trace, .version = version_of(first) };
	bool good = true;
	char *line;

	while (good && (line = lines_next(lines)))
		if (*line)
			good = read_line(&log, line);
	free((char *)log.file.text);
	return good && !lines->failed;
}
