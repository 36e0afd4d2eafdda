// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * flashbed-replay: replays a trace on a medium and prints the results. Results go to stdout, messages to stderr.
 * Exit codes: 0 done, 1 a file cannot be used, 2 wrong arguments.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "message.h"
#include "pattern.h"
#include "results.h"
#include "state_file.h"

const char program_name[] = "flashbed-replay";

enum { DONE, FAILED, WRONG_ARGUMENTS };

struct options {
	const char *trace;		/* NULL: the pattern */
	const char *state;		/* NULL: a new medium with the parameters */
	struct fb_params params;
	const char *save;
	const char *completions;
	char event;
	bool json;
	bool patterned;
	bool whole;
	bool depth_given;
	struct pattern pattern;
	struct player_options player;
};

static int usage(void)
{
	fputs(
	"usage: flashbed-replay --state FILE [option ...] TRACE           on a medium from a file\n"
	"       flashbed-replay [option ...] TRACE kind=KIND key=value ... on a new medium\n"
	"       flashbed-replay ... --pattern sequential|random ...        instead of a trace\n"
	"TRACE is a fio iolog (version 2 or 3) or the text of blkparse; - is standard input.\n"
	"  --as-fast-as-possible  issue each request as soon as the medium accepts it; ignore the times of TRACE\n"
	"  --queue-depth N        maximum of pending requests (default: no limit; with\n"
	"                         --as-fast-as-possible or --pattern the medium's queue_depth)\n"
	"  --event D|Q            blkparse: the action that counts as a request, issued (default) or queued\n"
	"  --json                 print JSON\n"
	"  --completions FILE     write \"submitted_ns done_ns\" for each request\n"
	"  --no-percentiles       print only the mean of latencies: needs no memory for requests\n"
	"  --save FILE            write the medium's final state\n"
	"  --pattern KIND         write the whole exposed capacity, as fast as possible; with --pattern:\n"
	"  --request-bytes N      size of a request (default 131072, random 4096)\n"
	"  --passes N             number of passes (default 1)\n"
	"  --seed N               seed of the random numbers (default 1)\n"
	"  --whole                include the capacity that is not exposed\n"
	"  --read                 read instead of writing\n"
	"  --cut-at-request N     cut the power while request N is pending, at a moment drawn from the seed\n"
	"  --cut-after NS         cut the power NS after the trace's begin; --save writes what a restart finds\n",
	stderr);
	return WRONG_ARGUMENTS;
}

static bool read_count(const char *option, const char *text, u64 min, u64 *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *value >= min)
		return true;
	fprintf(stderr, "%s: --%s %s: must be a whole number%s\n", program_name, option, text,
		min ? " above 0" : "");
	return false;
}

static bool read_pattern(const char *text, struct options *o)
{
	o->patterned = true;
	o->pattern.random = !strcmp(text, "random");
	if (o->pattern.random || !strcmp(text, "sequential"))
		return true;
	return complain("--pattern", "must be sequential or random");
}

static bool read_event(const char *text, struct options *o)
{
	o->event = *text;
	if (!strcmp(text, "D") || !strcmp(text, "Q"))
		return true;
	return complain("--event", "must be D or Q");
}

enum option_code {
	STATE = 256, FAST, DEPTH, EVENT, JSON, COMPLETIONS, SAVE, PATTERN, REQUEST_BYTES, PASSES, SEED, READ, WHOLE,
	CUT_AT_REQUEST, CUT_AFTER, NO_PERCENTILES,
};

static const struct option known[] = {
	{ "state", required_argument, NULL, STATE },
	{ "as-fast-as-possible", no_argument, NULL, FAST },
	{ "queue-depth", required_argument, NULL, DEPTH },
	{ "event", required_argument, NULL, EVENT },
	{ "json", no_argument, NULL, JSON },
	{ "completions", required_argument, NULL, COMPLETIONS },
	{ "no-percentiles", no_argument, NULL, NO_PERCENTILES },
	{ "save", required_argument, NULL, SAVE },
	{ "pattern", required_argument, NULL, PATTERN },
	{ "request-bytes", required_argument, NULL, REQUEST_BYTES },
	{ "passes", required_argument, NULL, PASSES },
	{ "seed", required_argument, NULL, SEED },
	{ "read", no_argument, NULL, READ },
	{ "whole", no_argument, NULL, WHOLE },
	{ "cut-at-request", required_argument, NULL, CUT_AT_REQUEST },
	{ "cut-after", required_argument, NULL, CUT_AFTER },
	{ 0 },
};

static bool read_option(int code, const char *name, struct options *o)
{
	switch (code) {
	case STATE:
		o->state = optarg;
		return true;
	case FAST:
		o->player.as_fast_as_possible = true;
		return true;
	case DEPTH:
		o->depth_given = true;
		return read_count(name, optarg, 0, &o->player.queue_depth);
	case EVENT:
		return read_event(optarg, o);
	case JSON:
		o->json = true;
		return true;
	case COMPLETIONS:
		o->completions = optarg;
		return true;
	case NO_PERCENTILES:
		o->player.no_percentiles = true;
		return true;
	case SAVE:
		o->save = optarg;
		return true;
	case PATTERN:
		return read_pattern(optarg, o);
	case REQUEST_BYTES:
		return read_count(name, optarg, 1, &o->pattern.request_bytes);
	case PASSES:
		return read_count(name, optarg, 1, &o->pattern.passes);
	case SEED:
		return read_count(name, optarg, 0, &o->pattern.seed);
	case READ:
		o->pattern.op = FB_READ;
		return true;
	case WHOLE:
		o->whole = true;
		return true;
	case CUT_AT_REQUEST:
		return read_count(name, optarg, 1, &o->player.outage.at_request);
	case CUT_AFTER:
		return read_count(name, optarg, 0, &o->player.outage.after_ns);
	}
	return false;
}

/* The other words are TRACE and the parameters of a new medium, in any order */
static bool read_rest(int count, char **words, struct options *o)
{
	int params = 0, i;

	for (i = 0; i < count; i++) {
		if (strchr(words[i], '=')) {
			words[params++] = words[i];
		} else if (!o->trace) {
			o->trace = words[i];
		} else {
			return complain(words[i], "a second trace");
		}
	}
	if (!o->trace == !o->patterned)
		return complain("arguments", "one of TRACE and --pattern is needed");
	if (o->state && params)
		return complain("arguments", "a medium from a file has its parameters already");
	if (!o->state)
		return arguments_read(params, words, &o->params);
	return true;
}

static bool read_options(int argc, char **argv, struct options *o)
{
	int code, at = 0;

	*o = (struct options) {
		.event = 'D',
		.pattern = { .op = FB_WRITE, .passes = 1, .seed = 1 },
		.player.outage.after_ns = FB_NEVER,
	};
	while ((code = getopt_long(argc, argv, "", known, &at)) != -1) {
		if (code == '?' || !read_option(code, known[at].name, o))
			return false;
	}
	if (!o->pattern.request_bytes)
		o->pattern.request_bytes = o->pattern.random ? 4096 : 131072;
	if (o->patterned)
		o->player.as_fast_as_possible = true;
	o->player.outage.seed = o->pattern.seed;
	if (o->player.outage.at_request && o->player.outage.after_ns != FB_NEVER)
		return complain("arguments", "one of --cut-at-request and --cut-after is enough");
	return read_rest(argc - optind, argv + optind, o);
}

static int make_trace(struct trace *trace, const struct options *o, const struct fb_medium *medium)
{
	const struct fb_params *params = fb_medium_params(medium);

	*trace = trace_for(params);
	if (!o->patterned)
		return trace_read(trace, o->trace, o->event) ? DONE : FAILED;
	return pattern_make(trace, &o->pattern, o->whole ? params->capacity_bytes : fb_exposed_bytes(params)) ?
		       DONE : WRONG_ARGUMENTS;
}

static bool all_done_before(const struct played *played)
{
	char text[160];

	snprintf(text, sizeof(text), "all %" PRIu64 " requests are done before that, after %" PRIu64
		 " ns; choose an earlier moment, or more requests",
		 played->outage.requests, played->end_ns - played->begin_ns);
	return complain("power cut", text);
}

/* With more than the maximum, no request is put before another */
static int more_than_it_orders(u64 depth, u64 max)
{
	char name[40], text[80];

	snprintf(name, sizeof(name), "--queue-depth %" PRIu64, depth);
	snprintf(text, sizeof(text), "the disk orders %" PRIu64 " requests at most (reorder_depth)", max);
	complain(name, text);
	return WRONG_ARGUMENTS;
}

static int play_trace(const struct options *o, struct fb_medium *medium, const struct trace *trace)
{
	const struct fb_params *params = fb_medium_params(medium);
	struct player_options player = o->player;
	struct played played;
	bool done;

	if (player.as_fast_as_possible && !o->depth_given)
		player.queue_depth = params->queue_depth;
	if (params->kind == FB_DISK && params->reorder_depth > 1 && player.queue_depth > params->reorder_depth)
		return more_than_it_orders(player.queue_depth, params->reorder_depth);
	if (o->completions) {
		player.completions = fopen(o->completions, "w");
		if (!player.completions) {
			complain(o->completions, strerror(errno));
			return FAILED;
		}
	}
	done = play(medium, trace, &player, &played);
	if (player.completions && (ferror(player.completions) | fclose(player.completions)))
		done = complain(o->completions, "cannot be written");
	if (!done)
		return FAILED;
	done = played.outage.happened || !outage_wanted(&player.outage) || all_done_before(&played);
	if (done)
		results_print(medium, &played, o->json);
	played_free(&played);
	return done ? DONE : WRONG_ARGUMENTS;
}

static int replay(const struct options *o)
{
	struct fb_medium *medium = o->state ? state_file_open(o->state) : state_file_make(&o->params);
	struct trace trace;
	const char *fault;
	int result;

	if (!medium)
		return FAILED;
	if (fb_medium_params(medium)->kind == FB_NAND) {
		complain("medium", "a raw NAND chip takes no requests for sectors");
		return FAILED;
	}
	fault = o->state ? fb_verify(medium) : NULL;
	if (fault) {
		complain(o->state, fault);
		return FAILED;
	}
	fb_power_on(medium);
	result = make_trace(&trace, o, medium);
	if (result == DONE)
		result = play_trace(o, medium, &trace);
	trace_free(&trace);
	if (result == DONE && o->save && !state_file_save(o->save, medium))
		result = FAILED;
	return result;
}

int main(int argc, char **argv)
{
	struct options options;
	int result;

	if (argc < 2)
		return usage();
	if (!read_options(argc, argv, &options)) {
		fprintf(stderr, "%s: run it without arguments for help\n", program_name);
		return WRONG_ARGUMENTS;
	}
	result = replay(&options);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return result;
	perror("flashbed-replay: stdout");
	return FAILED;
}
