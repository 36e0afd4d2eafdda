// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Parses a medium's parameters from key=value arguments; reports each that is invalid */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "message.h"

static bool given[FB_PARAM_COUNT];

static void print_words(FILE *out, int param)
{
	u64 value;

	for (value = 0; fb_param_word(param, value); value++)
		fprintf(out, "%s%s", value ? ", " : "", fb_param_word(param, value));
}

static int find_param(const char *name, size_t length)
{
	int i;

	for (i = 0; i < FB_PARAM_COUNT; i++) {
		const char *known = fb_param_rule(i)->name;

		if (strlen(known) == length && !strncmp(known, name, length))
			return i;
	}
	return -1;
}

static bool read_word(int param, const char *word, u64 *value)
{
	for (*value = 0; fb_param_word(param, *value); ++*value)
		if (!strcmp(word, fb_param_word(param, *value)))
			return true;
	fprintf(stderr, "%s: %s=%s: must be one of ", program_name, fb_param_rule(param)->name, word);
	print_words(stderr, param);
	fputc('\n', stderr);
	return false;
}

static bool read_number(const char *name, const char *text, u64 *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (isdigit((unsigned char)*text) && !*end && !errno)
		return true;
	fprintf(stderr, "%s: %s=%s: must be a whole number\n", program_name, name, text);
	return false;
}

static bool read_argument(const char *argument, struct fb_params *params)
{
	const char *equals = strchr(argument, '=');
	int param;

	if (!equals) {
		fprintf(stderr, "%s: %s: must be key=value\n", program_name, argument);
		return false;
	}
	param = find_param(argument, equals - argument);
	if (param < 0) {
		fprintf(stderr, "%s: %.*s: unknown parameter\n", program_name, (int)(equals - argument),
			argument);
		return false;
	}
	if (given[param]) {
		fprintf(stderr, "%s: %s: given twice\n", program_name, fb_param_rule(param)->name);
		return false;
	}
	given[param] = true;
	if (fb_param_word(param, 0))
		return read_word(param, equals + 1, &params->by_index[param]);
	return read_number(fb_param_rule(param)->name, equals + 1, &params->by_index[param]);
}

static bool belongs(int param, const struct fb_params *params)
{
	return fb_param_rule(param)->kinds & 1u << params->kind;
}

/* Checks that each mandatory parameter of the kind is given, and none of another kind */
static bool complete(struct fb_params *params)
{
	int i;

	if (!given[FB_PARAM_kind]) {
		fprintf(stderr, "%s: kind: missing; must be one of ", program_name);
		print_words(stderr, FB_PARAM_kind);
		fputc('\n', stderr);
		return false;
	}
	for (i = 0; i < FB_PARAM_COUNT; i++) {
		const struct fb_param_rule *rule = fb_param_rule(i);

		if (given[i] && !belongs(i, params)) {
			fprintf(stderr, "%s: %s: not a parameter of kind %s\n", program_name, rule->name,
				fb_kind_word(params->kind));
			return false;
		}
		if (given[i] || !belongs(i, params))
			continue;
		if (rule->fallback == FB_NO_DEFAULT) {
			fprintf(stderr, "%s: %s: missing; allowed: %" PRIu64 " to %" PRIu64 "\n",
				program_name, rule->name, rule->min, rule->max);
			return false;
		}
		params->by_index[i] = rule->fallback;
	}
	return true;
}

static bool in_range(const struct fb_params *params)
{
	struct fb_complaint c;

	if (fb_check_params(params, &c))
		return true;
	fprintf(stderr, "%s: %s=%" PRIu64 ": allowed: %" PRIu64 " to %" PRIu64 "%s%s%s\n", program_name,
		fb_param_rule(c.param)->name, c.value, c.min, c.max,
		c.reason ? " (" : "", c.reason ? c.reason : "", c.reason ? ")" : "");
	return false;
}

bool arguments_read(int count, char **arguments, struct fb_params *params)
{
	int i;

	memset(params, 0, sizeof(*params));
	memset(given, 0, sizeof(given));
	for (i = 0; i < count; i++)
		if (!read_argument(arguments[i], params))
			return false;
	return complete(params) && in_range(params);
}
