// SPDX-License-Identifier: Apache-2.0
/* The command line: a table of options, each with its reader */
#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "fileset.h"
#include "message.h"
#include "options.h"

struct rule {
	const char *name, *value, *help;
	void (*read)(struct options *options, const struct rule *rule, const char *text);
	size_t at; /* offset of the member that `read` sets */
	uint64_t min, max;
	uint64_t unit; /* the member's unit, relative to the user's */
};

enum { MAX_EXPORT = 1024 }; /* MNTPATHLEN of the mount protocol: RFC 1094 A.3, RFC 1813 5.1 */

__attribute__((noreturn))
static void refuse(const struct rule *rule, const char *text, const char *must)
{
	end_with(EXIT_USAGE, "--%s %s: must be %s", rule->name, text, must);
}

static void read_output(struct options *options, const struct rule *rule, const char *text)
{
	options->output = text;
	if (!*text)
		refuse(rule, text, "a file");
}

static void read_export(struct options *options, const struct rule *rule, const char *text)
{
	char must[64];

	options->export = text;
	snprintf(must, sizeof(must), "a path of 1 to %d bytes", MAX_EXPORT);
	if (!*text || strlen(text) > MAX_EXPORT)
		refuse(rule, text, must);
}

static uint64_t whole_number(const struct rule *rule, const char *text)
{
	char must[64], *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 10);
	snprintf(must, sizeof(must), "a whole number from %llu to %llu", (unsigned long long)rule->min,
		 (unsigned long long)rule->max);
	if (*text < '0' || *text > '9' || *end || errno || value < rule->min || value > rule->max)
		refuse(rule, text, must);
	return value;
}

static void read_u16(struct options *options, const struct rule *rule, const char *text)
{
	uint16_t value = (uint16_t)whole_number(rule, text);

	memcpy((char *)options + rule->at, &value, sizeof(value));
}

static void read_u32(struct options *options, const struct rule *rule, const char *text)
{
	uint32_t value = (uint32_t)whole_number(rule, text);

	memcpy((char *)options + rule->at, &value, sizeof(value));
}

static void read_u64(struct options *options, const struct rule *rule, const char *text)
{
	uint64_t value = whole_number(rule, text) * rule->unit;

	memcpy((char *)options + rule->at, &value, sizeof(value));
}

/* Digits, and up to nine decimals; in the rule's unit, rounded down */
static uint64_t decimal(const struct rule *rule, const char *text)
{
	uint64_t value = 0, part = rule->unit;
	const char *at = text;
	char must[96];

	snprintf(must, sizeof(must), "a number from %g to %g", (double)rule->min / (double)rule->unit,
		 (double)rule->max / (double)rule->unit);
	for (; *at >= '0' && *at <= '9' && value <= rule->max; at++)
		value = 10 * value + (uint64_t)(*at - '0') * rule->unit;
	if (at > text && *at == '.')
		for (at++; *at >= '0' && *at <= '9'; at++) {
			part /= 10;
			value += (uint64_t)(*at - '0') * part;
		}
	if (*at || at == text || value < rule->min || value > rule->max)
		refuse(rule, text, must);
	return value;
}

static void read_seconds(struct options *options, const struct rule *rule, const char *text)
{
	uint64_t value = decimal(rule, text);

	memcpy((char *)options + rule->at, &value, sizeof(value));
}

static void read_scale(struct options *options, const struct rule *rule, const char *text)
{
	options->scale = (uint32_t)decimal(rule, text);
}

static void read_server(struct options *options, const struct rule *rule, const char *text)
{
	options->server = text;
	if (inet_pton(AF_INET, text, &options->address) != 1)
		refuse(rule, text, "an IPv4 address, such as 192.0.2.1 (names are not looked up)");
}

static void read_transport(struct options *options, const struct rule *rule, const char *text)
{
	options->tcp = !strcmp(text, "tcp");
	if (!options->tcp && strcmp(text, "udp"))
		refuse(rule, text, "tcp or udp");
}

static void read_mix(struct options *options, const struct rule *rule, const char *text)
{
	char must[160] = "one of";

	options->mix = mix_find(text);
	for (unsigned int i = 0; mix_number(i); i++)
		snprintf(must + strlen(must), sizeof(must) - strlen(must), " %s", mix_number(i)->name);
	if (!options->mix)
		refuse(rule, text, must);
}

static void read_directory(struct options *options, const struct rule *rule, const char *text)
{
	options->directory = text;
	if (!*text || strchr(text, '/') || strlen(text) >= PATH_SIZE || !strcmp(text, ".") || !strcmp(text, ".."))
		refuse(rule, text, "the name of one directory, of at most 47 characters");
}

static void read_step(struct options *options, const struct rule *rule, const char *text)
{
	static const char *const words[] = {
		[STEP_ALL] = "all", [STEP_LIST] = "list", [STEP_PREPARE] = "prepare", [STEP_LOAD] = "load",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i], text)) {
			options->step = (enum step)i;
			return;
		}
	refuse(rule, text, "all, list, prepare or load");
}

#define AT(member) offsetof(struct options, member)
#define DAY (UINT64_C(86400) * NS_IN_S)
#define MAX_ID (UINT32_MAX - 1) /* the next value means "none" in Unix system calls */

static const struct rule rules[] = {
	{ "server", "ADDRESS", "IPv4 address of the NFS server", read_server, 0, 0, 0, 1 },
	{ "export", "PATH", "what is mounted of it", read_export, 0, 0, 0, 1 },
	{ "load", "N", "offered load, operations a second", read_u32, AT(load), 1, 100000, 1 },
	{ "version", "2|3", "NFS version (3)", read_u32, AT(version), 2, 3, 1 },
	{ "transport", "tcp|udp", "transport of all protocols (tcp)", read_transport, 0, 0, 0, 1 },
	{ "mix", "NAME", "sfs2-v2, sfs2-v3 or sfs2008-v3 (sfs2 of the version)", read_mix, 0, 0, 0, 1 },
	{ "processes", "N", "load processes (4)", read_u32, AT(processes), 1, MAX_PROCESSES, 1 },
	{ "seed", "N", "seed of the file set, the arrivals and all choices (1)", read_u64, AT(seed), 0, INT64_MAX, 1 },
	{ "warmup", "S", "warm-up before the measurement, seconds (300)", read_seconds, AT(warmup_ns), 0, DAY,
	  NS_IN_S },
	{ "time", "S", "duration of the measurement, seconds (300)", read_seconds, AT(measured_ns), NS_IN_MS, DAY,
	  NS_IN_S },
	{ "scale", "X", "size of the file set, relative to the rules; below 1 for tests only (1)", read_scale, 0, 1,
	  SCALE_WHOLE, SCALE_WHOLE },
	{ "directory", "NAME", "directory of the file set in the export (sfsload)", read_directory, 0, 0, 0, 1 },
	{ "only", "STEP", "all, list (print the file set), prepare (make it) or load (use a prepared one) (all)",
	  read_step, 0, 0, 0, 1 },
	{ "port", "N", "NFS port (default: ask the portmapper)", read_u16, AT(port), 1, UINT16_MAX, 1 },
	{ "mount-port", "N", "mount port (default: ask the portmapper)", read_u16, AT(mount_port), 1, UINT16_MAX,
	  1 },
	{ "portmap-port", "N", "portmapper port (111)", read_u16, AT(portmap_port), 1, UINT16_MAX, 1 },
	{ "timeout", "MS", "first retransmission over UDP; doubled each time (1100)", read_u64, AT(timeout_ns),
	  1, 600000, NS_IN_MS },
	{ "give-up", "S", "time without an answer until the server is given up (60)", read_seconds, AT(give_up_ns),
	  NS_IN_MS, DAY, NS_IN_S },
	{ "uid", "N", "user ID of the calls (your own)", read_u32, AT(uid), 0, MAX_ID, 1 },
	{ "gid", "N", "group ID of the calls (your own)", read_u32, AT(gid), 0, MAX_ID, 1 },
	{ "output", "FILE", "file for the result (standard output)", read_output, 0, 0, 0, 1 },
};

enum { RULES = sizeof(rules) / sizeof(*rules) };

__attribute__((noreturn))
static void help(void)
{
	puts("sfsload: puts an SFS-style load on an NFS server and measures it. Its results are not SPEC SFS.\n");
	puts("usage: sfsload --server ADDRESS --export PATH --load N [option value ...]\n");
	for (int i = 0; i < RULES; i++) {
		char left[40];

		snprintf(left, sizeof(left), "--%s %s", rules[i].name, rules[i].value);
		printf("  %-24s %s\n", left, rules[i].help);
	}
	puts("  --help                   print this help\n");
	puts("exit status: 0 measured, 1 this machine failed, 2 bad usage, 3 the server is unreachable, refuses or\n"
	     "stops answering, 4 an answer was wrong, 5 the mix or the load was not met");
	if (fflush(stdout) || ferror(stdout))
		end_with(EXIT_HOST, "the help cannot be written: %s", strerror(errno));
	exit(EXIT_MEASURED);
}

static const struct rule *rule_of(const char *argument)
{
	if (!strcmp(argument, "--help"))
		help();
	for (int i = 0; i < RULES; i++)
		if (!strncmp(argument, "--", 2) && !strcmp(argument + 2, rules[i].name))
			return &rules[i];
	end_with(EXIT_USAGE, "%s: no such option; --help lists them", argument);
}

static void check_whole(struct options *options)
{
	if (!options->load || (options->step != STEP_LIST && (!options->server || !options->export)))
		end_with(EXIT_USAGE, "--server, --export and --load are needed; --help lists all options");
	if (!options->mix)
		options->mix = mix_of_version(options->version);
	if (options->mix->version != options->version)
		end_with(EXIT_USAGE, "--mix %s: is one of NFS version %u, and --version is %u", options->mix->name,
			 options->mix->version, options->version);
}

void options_read(int count, char **arguments, struct options *options)
{
	bool given[RULES] = { false };

	*options = (struct options) {
		.directory = "sfsload", .version = 3, .processes = 4, .scale = SCALE_WHOLE, .uid = geteuid(),
		.gid = getegid(), .tcp = true, .portmap_port = 111, .seed = 1, .warmup_ns = 300 * NS_IN_S,
		.measured_ns = 300 * NS_IN_S, .timeout_ns = 1100 * NS_IN_MS, .give_up_ns = 60 * NS_IN_S,
	};
	for (int i = 1; i < count; i += 2) {
		const struct rule *rule = rule_of(arguments[i]);

		if (given[rule - rules])
			end_with(EXIT_USAGE, "--%s: given twice", rule->name);
		given[rule - rules] = true;
		if (i + 1 == count)
			end_with(EXIT_USAGE, "--%s: %s is missing", rule->name, rule->value);
		rule->read(options, rule, arguments[i + 1]);
	}
	check_whole(options);
}
