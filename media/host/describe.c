// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* All strings printed here are the core's own and need no escaping */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "describe.h"
#include "fb_power.h"

static void print_kinds(u32 kinds)
{
	const char *separator = "";
	int kind;

	printf("[");
	for (kind = 0; kind < FB_KIND_COUNT; kind++) {
		if (!(kinds & 1u << kind))
			continue;
		printf("%s\"%s\"", separator, fb_kind_word(kind));
		separator = ", ";
	}
	printf("]");
}

static void print_param(const struct fb_param_rule *rule)
{
	printf("{\"name\": \"%s\", \"kinds\": ", rule->name);
	print_kinds(rule->kinds);
	printf(", \"min\": %" PRIu64 ", \"max\": %" PRIu64 ", \"default\": ", rule->min, rule->max);
	if (rule->fallback == FB_NO_DEFAULT)
		printf("null");
	else
		printf("%" PRIu64, rule->fallback);
	printf(", \"meaning\": \"%s\"}", rule->meaning);
}

/* A parameter with words has a list of values instead of a range */
static void print_word_param(enum fb_param param)
{
	const struct fb_param_rule *rule = fb_param_rule(param);
	const char *fallback = fb_param_word(param, rule->fallback);
	u64 value;

	printf("{\"name\": \"%s\", \"kinds\": ", rule->name);
	print_kinds(rule->kinds);
	printf(", \"values\": [");
	for (value = 0; fb_param_word(param, value); value++)
		printf("%s\"%s\"", value ? ", " : "", fb_param_word(param, value));
	printf("], \"default\": %s%s%s", fallback ? "\"" : "", fallback ? fallback : "null", fallback ? "\"" : "");
	printf(", \"meaning\": \"%s\"}", rule->meaning);
}

void describe_params(void)
{
	int i;

	for (i = 0; i < FB_PARAM_COUNT; i++) {
		printf("%s", i ? ",\n " : "[");
		if (fb_param_word(i, 0))
			print_word_param(i);
		else
			print_param(fb_param_rule(i));
	}
	printf("]\n");
}

void describe_counters(void)
{
	int i;

	for (i = 0; i < FB_COUNTER_COUNT; i++) {
		const struct fb_counter_rule *rule = fb_counter_rule(i);

		printf("%s{\"name\": \"%s\", \"kinds\": ", i ? ",\n " : "[", rule->name);
		print_kinds(rule->kinds);
		printf(", \"unit\": \"%s\", \"meaning\": \"%s\"}", rule->unit, rule->meaning);
	}
	printf("]\n");
}

static void print_value(enum fb_param param, u64 value)
{
	if (fb_param_word(param, value))
		printf("\"%s\"", fb_param_word(param, value));
	else
		printf("%" PRIu64, value);
}

static void print_params_of(const struct fb_params *params)
{
	const char *separator = "";
	int i;

	printf(" \"parameters\": {");
	for (i = 0; i < FB_PARAM_COUNT; i++) {
		if (!(fb_param_rule(i)->kinds & 1u << params->kind))
			continue;
		printf("%s\"%s\": ", separator, fb_param_rule(i)->name);
		print_value(i, params->by_index[i]);
		separator = ",\n  ";
	}
	printf("},\n");
}

void describe_counters_of(const struct fb_medium *medium, const struct fb_counters *counters)
{
	const char *separator = "";
	int i;

	printf(" \"counters\": {");
	for (i = 0; i < FB_COUNTER_COUNT; i++) {
		if (!(fb_counter_rule(i)->kinds & 1u << fb_medium_params(medium)->kind))
			continue;
		printf("%s\"%s\": %" PRIu64, separator, fb_counter_rule(i)->name,
		       counters->by_index[i]);
		separator = ",\n  ";
	}
	printf("}");
}

/* The mean share of the rated erases that a block has left; it may be negative */
static void print_life_left(const struct fb_wear *wear, u64 endurance_erases)
{
	if (endurance_erases)
		printf("%.6f", 1 - (double)wear->erase_count_sum / wear->blocks / endurance_erases);
	else
		printf("null");
}

void describe_wear_of(const struct fb_medium *medium)
{
	struct fb_wear wear = fb_medium_wear(medium);
	int i;

	if (!wear.blocks) {
		printf(" \"wear\": null");
		return;
	}
	printf(" \"wear\": {\"blocks\": %" PRIu64 ", \"factory_bad_blocks\": %" PRIu64
	       ", \"grown_bad_blocks\": %" PRIu64 ",\n", wear.blocks, wear.factory_bad_blocks, wear.grown_bad_blocks);
	printf("  \"read_only\": %s, \"age_days\": %.6f,\n", fb_read_only(medium) ? "true" : "false",
	       fb_age_ns(medium) / 86400e9);
	printf("  \"erase_count_min\": %" PRIu64 ", \"erase_count_max\": %" PRIu64
	       ",\n  \"erase_count_mean\": %.6f, \"life_left\": ",
	       wear.erase_count_min, wear.erase_count_max,
	       (double)wear.erase_count_sum / wear.blocks);
	print_life_left(&wear, fb_medium_params(medium)->endurance_erases);
	printf(",\n  \"erases_by_step\": %" PRIu64 ", \"blocks_by_step\": [", wear.step_erases);
	for (i = 0; i < FB_WEAR_STEPS; i++)
		printf("%s%" PRIu64, i ? ", " : "", wear.blocks_by_step[i]);
	printf("]}");
}

static void print_amplification_of(const struct fb_medium *medium)
{
	const struct fb_counters *counters = fb_medium_counters(medium);
	const struct fb_params *params = fb_medium_params(medium);

	if (params->kind != FB_FLASH || !counters->host_written_bytes)
		printf(" \"write_amplification\": null,\n");
	else
		printf(" \"write_amplification\": %.6f,\n",
		       (double)counters->flash_programmed_pages * params->page_bytes / counters->host_written_bytes);
}

/* Waits for collection or for the buffer are no work of a part; nor is the time in which any request is under way */
static bool is_time_of_a_part(enum fb_counter counter)
{
	return !strcmp(fb_counter_rule(counter)->unit, "ns") && counter != FB_COUNTER_collection_ns &&
	       counter != FB_COUNTER_buffer_wait_ns && counter != FB_COUNTER_busy_ns;
}

/* Prints each counter of time as its share of the time of all parts */
static void print_time_of(const struct fb_medium *medium)
{
	const struct fb_counters *counters = fb_medium_counters(medium);
	const char *separator = "";
	double sum = 0;
	int i;

	for (i = 0; i < FB_COUNTER_COUNT; i++)
		if (is_time_of_a_part(i))
			sum += counters->by_index[i];
	printf(" \"time_by_cause\": {");
	for (i = 0; i < FB_COUNTER_COUNT && sum > 0; i++) {
		const struct fb_counter_rule *rule = fb_counter_rule(i);

		if (strcmp(rule->unit, "ns") || i == FB_COUNTER_busy_ns ||
		    !(rule->kinds & 1u << fb_medium_params(medium)->kind))
			continue;
		printf("%s\"%.*s\": %.6f", separator, (int)strlen(rule->name) - 3, rule->name,
		       counters->by_index[i] / sum);
		separator = ", ";
	}
	printf("},\n");
}

/* Prints the effects of the last power cut */
static void print_power_of(const struct fb_medium *medium)
{
	printf(" \"power\": {\"off\": %s, \"unreadable_sectors\": %" PRIu64 ", \"half_erased_blocks\": %" PRIu64 "},\n",
	       fb_off(medium) ? "true" : "false", fb_unreadable_sectors(medium), fb_half_erased_blocks(medium));
}

void describe_medium(const struct fb_medium *medium)
{
	const char *fault = fb_verify(medium);

	printf("{\"state_bytes\": %zu, \"exposed_bytes\": %" PRIu64 ", \"content_bytes\": %" PRIu64
	       ", \"digest\": \"%016" PRIx64 "\",\n", fb_state_bytes(fb_medium_params(medium)),
	       fb_exposed_bytes(fb_medium_params(medium)), fb_content_bytes(fb_medium_params(medium)),
	       fb_params_digest(fb_medium_params(medium)));
	print_params_of(fb_medium_params(medium));
	describe_counters_of(medium, fb_medium_counters(medium));
	printf(",\n");
	describe_wear_of(medium);
	printf(",\n");
	print_amplification_of(medium);
	print_time_of(medium);
	print_power_of(medium);
	printf(" \"fault\": %s%s%s}\n", fault ? "\"" : "", fault ? fault : "null", fault ? "\"" : "");
}
