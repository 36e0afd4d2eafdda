// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * fbmedia: makes and looks at the state of a medium. Results go to stdout, messages to stderr.
 * Exit codes: 0 done, 1 the file cannot be used, 2 wrong arguments.
 */
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "describe.h"
#include "message.h"
#include "state_file.h"

const char program_name[] = "fbmedia";

enum { DONE, FAILED, WRONG_ARGUMENTS };

static int usage(void)
{
	fputs("usage: fbmedia create --state FILE kind=KIND key=value ...   make a new medium\n"
	      "       fbmedia inspect --state FILE                          parameters, counters, wear as JSON\n"
	      "       fbmedia params                                        the parameters that there are, as JSON\n"
	      "       fbmedia counters                                      the counters that there are, as JSON\n", stderr);
	return WRONG_ARGUMENTS;
}

static int create(const char *path, int count, char **arguments)
{
	struct fb_params params;

	if (!arguments_read(count, arguments, &params))
		return WRONG_ARGUMENTS;
	return state_file_create(path, &params) ? DONE : FAILED;
}

static int inspect(const char *path)
{
	struct fb_medium *medium = state_file_open(path);

	if (!medium)
		return FAILED;
	describe_medium(medium);
	return DONE;
}

static int run(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : "";
	const char *path = argc > 3 && !strcmp(argv[2], "--state") ? argv[3] : NULL;

	if (!strcmp(command, "create") && path)
		return create(path, argc - 4, argv + 4);
	if (!strcmp(command, "inspect") && path && argc == 4)
		return inspect(path);
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
