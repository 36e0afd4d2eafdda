// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * fbmedia: creates and inspects the state of a medium. Results go to stdout, messages to stderr.
 * Exit codes: 0 done, 1 the file cannot be used, 2 wrong arguments.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "content.h"
#include "describe.h"
#include "message.h"
#include "state_file.h"

const char program_name[] = "fbmedia";

enum { DONE, FAILED, WRONG_ARGUMENTS };

static int usage(void)
{
	fputs(
	"usage: fbmedia create --state FILE kind=KIND key=value ...   make a new medium\n"
	"       fbmedia inspect --state FILE [kind=KIND key=value ...] print parameters, counters, wear as JSON; fail if\n"
	"                                                             the medium has other parameters than given\n"
	"       fbmedia content --state FILE --data FILE              make the content file of a new medium\n"
	"       fbmedia digest kind=KIND key=value ...                print the digest of these parameters\n"
	"       fbmedia age --state FILE --days N                     age the medium by N days while it is off\n"
	"       fbmedia params                                        list all parameters, as JSON\n"
	"       fbmedia counters                                      list all counters, as JSON\n",
	stderr);
	return WRONG_ARGUMENTS;
}

static int create(const char *path, int count, char **arguments)
{
	struct fb_params params;

	if (!arguments_read(count, arguments, &params))
		return WRONG_ARGUMENTS;
	return state_file_create(path, &params) ? DONE : FAILED;
}

/* Reports only the first parameter that differs */
static bool same_params(const char *path, const struct fb_params *is, const struct fb_params *expected)
{
	char text[200];
	int i;

	if (is->kind != expected->kind) {
		snprintf(text, sizeof(text), "another medium: its kind is %s, not %s", fb_kind_word(is->kind),
			 fb_kind_word(expected->kind));
		return complain(path, text);
	}
	for (i = 0; i < FB_PARAM_COUNT; i++) {
		if (!(fb_param_rule(i)->kinds & 1u << is->kind) || is->by_index[i] == expected->by_index[i])
			continue;
		snprintf(text, sizeof(text), "another medium: its %s is %" PRIu64 ", not %" PRIu64,
			 fb_param_rule(i)->name, is->by_index[i], expected->by_index[i]);
		return complain(path, text);
	}
	return true;
}

static int inspect(const char *path, int count, char **arguments)
{
	struct fb_params expected;
	struct fb_medium *medium;

	if (count && !arguments_read(count, arguments, &expected))
		return WRONG_ARGUMENTS;
	medium = state_file_open(path);
	if (!medium || (count && !same_params(path, fb_medium_params(medium), &expected)))
		return FAILED;
	describe_medium(medium);
	return DONE;
}

static int digest(int count, char **arguments)
{
	struct fb_params params;

	if (!arguments_read(count, arguments, &params))
		return WRONG_ARGUMENTS;
	printf("%016" PRIx64 "\n", fb_params_digest(&params));
	return DONE;
}

/* Options in any order, each at most once, each with a value */
static bool read_options(int count, char **arguments, const char *const *names, const char **values)
{
	int i, name;

	for (i = 0; i < count; i += 2) {
		for (name = 0; names[name] && strcmp(arguments[i], names[name]); name++)
			;
		if (!names[name] || values[name] || i + 1 == count)
			return false;
		values[name] = arguments[i + 1];
	}
	return true;
}

static bool read_number(const char *option, const char *text, u64 fallback, u64 *value)
{
	char *end;

	*value = fallback;
	if (!text)
		return true;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return (isdigit((unsigned char)*text) && !*end && !errno) || complain(option, "must be a whole number");
}

static int content(int count, char **arguments)
{
	static const char *const names[] = { "--state", "--data", NULL };
	const char *values[2] = { NULL };
	struct fb_medium *medium;

	if (!read_options(count, arguments, names, values) || !values[0] || !values[1])
		return usage();
	medium = state_file_open(values[0]);
	return medium && content_create(values[1], medium) ? DONE : FAILED;
}

static int age(int count, char **arguments)
{
	static const char *const names[] = { "--state", "--days", NULL };
	const char *values[2] = { NULL };
	struct fb_medium *medium;
	u64 days;

	if (!read_options(count, arguments, names, values) || !values[0] || !values[1])
		return usage();
	if (!read_number("--days", values[1], 0, &days))
		return WRONG_ARGUMENTS;
	if (days > FB_MAX_AGE_DAYS) {
		complain("--days", "must be 36500 or less: a hundred years");
		return WRONG_ARGUMENTS;
	}
	medium = state_file_open(values[0]);
	if (!medium)
		return FAILED;
	fb_age(medium, days);
	return state_file_save(values[0], medium) ? DONE : FAILED;
}

static int run(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : "";
	const char *path = argc > 3 && !strcmp(argv[2], "--state") ? argv[3] : NULL;

	if (!strcmp(command, "create") && path)
		return create(path, argc - 4, argv + 4);
	if (!strcmp(command, "inspect") && path)
		return inspect(path, argc - 4, argv + 4);
	if (!strcmp(command, "digest"))
		return digest(argc - 2, argv + 2);
	if (!strcmp(command, "content"))
		return content(argc - 2, argv + 2);
	if (!strcmp(command, "age"))
		return age(argc - 2, argv + 2);
	if (!strcmp(command, "params") && argc == 2)
		describe_params();
	else if (!strcmp(command, "counters") && argc == 2)
		describe_counters();
	else
		return usage();
	return DONE;
}

int main(int argc, char **argv)
{
	int result = run(argc, argv);

	if (fflush(stdout) == 0 && !ferror(stdout))
		return result;
	perror("fbmedia: stdout");
	return FAILED;
}
