// SPDX-License-Identifier: Apache-2.0
/* The result as JSON */
#include <inttypes.h>

#include "chi_square.h"
#include "clock.h"
#include "nfs.h"
#include "report.h"

#define NOTE "SFS-style load by published rules; not the SPEC SFS suite, and no SPEC result"

/* In thousandths; with the names in JSON */
static const struct {
	const char *name;
	uint32_t thousandths;
} percentiles[] = { { "p50_ns", 500 }, { "p90_ns", 900 }, { "p95_ns", 950 }, { "p99_ns", 990 }, { "p99_9_ns", 999 } };

static const char *truth(bool value)
{
	return value ? "true" : "false";
}

/* Paths may contain any byte */
static void put_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if ((unsigned char)*text < ' ')
			fprintf(out, "\\u%04x", (unsigned char)*text);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

static double seconds(uint64_t ns)
{
	return (double)ns / (double)NS_IN_S;
}

static void put_settings(FILE *out, const struct options *options)
{
	fputs("  \"settings\": {\n    \"server\": ", out);
	put_text(out, options->server);
	fputs(", \"export\": ", out);
	put_text(out, options->export);
	fputs(", \"directory\": ", out);
	put_text(out, options->directory);
	fprintf(out, ",\n    \"version\": %u, \"transport\": \"%s\", \"mix\": \"%s\",\n", options->version,
		options->tcp ? "tcp" : "udp", options->mix->name);
	fprintf(out, "    \"load_ops_per_s\": %u, \"processes\": %u, \"seed\": %" PRIu64 ",\n", options->load,
		options->processes, options->seed);
	fprintf(out, "    \"warmup_s\": %.3f, \"measured_s\": %.3f, \"scale\": %.6f,\n", seconds(options->warmup_ns),
		seconds(options->measured_ns), (double)options->scale / SCALE_WHOLE);
	fprintf(out, "    \"timeout_ms\": %" PRIu64 ",\n", options->timeout_ns / NS_IN_MS);
	fprintf(out, "    \"as_the_rules_ask\": %s\n  },\n",
		truth(options->scale == SCALE_WHOLE && options->warmup_ns >= 300 * NS_IN_S &&
		      options->measured_ns >= 300 * NS_IN_S));
}

static void put_file_set(FILE *out, const struct report *report)
{
	const struct fileset *set = report->set;

	fprintf(out, "  \"file_set\": {\n    \"files\": %u, \"directories\": %u, \"kb\": %" PRIu64 ",\n", set->files,
		set->directories, set->kb);
	fprintf(out, "    \"accessed_files\": %u, \"accessed_kb\": %" PRIu64 ",\n", set->accessed, set->accessed_kb);
	fprintf(out, "    \"links\": %u, \"files_without_io\": %u,\n", LINKS, PLAIN_FILES);
	fprintf(out, "    \"digest\": \"%016" PRIx64 "\",\n", fileset_digest(set));
	fprintf(out, "    \"prepared_s\": %.3f\n  }", seconds(report->prepared_ns));
}

static void put_times(FILE *out, const struct histogram *times)
{
	fprintf(out, "\"mean_ns\": %" PRIu64 ", ", histogram_mean(times));
	for (size_t i = 0; i < sizeof(percentiles) / sizeof(*percentiles); i++)
		fprintf(out, "\"%s\": %" PRIu64 ", ", percentiles[i].name,
			histogram_percentile(times, percentiles[i].thousandths));
	fprintf(out, "\"longest_ns\": %" PRIu64, times->longest_ns);
}

static void put_histogram(FILE *out, const struct histogram *times)
{
	const char *between = "";

	fputs("\"histogram\": [", out);
	for (uint32_t bin = 0; bin < HISTOGRAM_BINS; bin++)
		if (times->bins[bin]) {
			fprintf(out, "%s[%" PRIu64 ", %u]", between, histogram_upper(bin), times->bins[bin]);
			between = ", ";
		}
	fputc(']', out);
}

static void put_operations(FILE *out, const struct report *report, uint64_t good)
{
	const char *between = "";

	fputs("  \"operations\": {\n", out);
	for (int op = 0; op < MIX_OPS; op++) {
		const struct op_result *of = &report->result->ops[op];

		if (!report->options->mix->percent[op])
			continue;
		fprintf(out, "%s    \"%s\": {\"asked_percent\": %u, \"achieved_percent\": %.3f, ", between,
			op_name((enum op)op), report->options->mix->percent[op],
			good ? 100.0 * (double)of->times.count / (double)good : 0);
		fprintf(out, "\"scheduled\": %" PRIu64 ", \"good\": %" PRIu64 ", \"errors\": %" PRIu64 ",\n      ",
			of->scheduled, of->times.count, of->errors);
		put_times(out, &of->times);
		fputs(",\n      ", out);
		put_histogram(out, &of->times);
		fputc('}', out);
		between = ",\n";
	}
	fputs("\n  },\n", out);
}

static const char *error_name(const struct error_count *error)
{
	static const char *const names[] = {
		[ERROR_MALFORMED] = "malformed-results", [ERROR_LENGTH] = "wrong-length",
		[ERROR_CONTENT] = "wrong-content", [ERROR_TYPE] = "wrong-type",
		[ERROR_FOUND] = "found-what-is-not-there", [ERROR_EMPTY] = "empty-answer",
	};

	if (error->kind == ERROR_STATUS)
		return nfs_status_name(error->code);
	return error->kind == ERROR_RPC ? rpc_outcome_name((enum rpc_outcome)error->code) : names[error->kind];
}

static void put_errors(FILE *out, const struct result *result)
{
	const char *between = "";

	fputs("  \"errors\": [", out);
	for (int i = 0; i < ERRORS_KEPT && result->errors[i].kind != ERROR_NONE; i++) {
		fprintf(out, "%s\n    {\"operation\": \"%s\", \"error\": \"%s\", \"count\": %" PRIu64 "}", between,
			op_name(result->errors[i].op), error_name(&result->errors[i]), result->errors[i].count);
		between = ",";
	}
	fputs("],\n", out);
}

static void put_transport(FILE *out, const struct result *result)
{
	fprintf(out, "  \"retransmissions\": %" PRIu64 ", \"reconnects\": %" PRIu64 ", ", result->retransmissions,
		result->reconnects);
	fprintf(out, "\"unknown_replies\": %" PRIu64 ",\n", result->unknown_replies);
	fprintf(out, "  \"verifier_changes\": %" PRIu64 ", \"unanswered\": %" PRIu64 ", \"unsent\": %" PRIu64 ",\n",
		result->verifier_changes, result->unanswered, result->unsent);
	fprintf(out, "  \"max_outstanding\": {\"reads\": %" PRIu64 ", \"writes\": %" PRIu64 "},\n", result->max_reads,
		result->max_writes);
}

static struct chi_square mix_test(const struct report *report)
{
	uint64_t counts[MIX_OPS];

	for (int op = 0; op < MIX_OPS; op++)
		counts[op] = report->result->ops[op].times.count;
	return chi_square_test(counts, report->options->mix->percent, MIX_OPS);
}

static void put_mix(FILE *out, const struct chi_square *mix)
{
	fprintf(out, "  \"mix_test\": {\"test\": \"chi-square\", \"level_percent\": 95, \"tested\": %s, ",
		truth(mix->tested));
	fprintf(out, "\"statistic\": %.3f, \"degrees_of_freedom\": %u, \"critical\": %.3f, \"holds\": %s},\n",
		mix->statistic, mix->degrees, mix->critical, truth(mix->holds));
}

static enum exit_status put_measured(FILE *out, const struct report *report)
{
	const struct result *result = report->result;
	struct chi_square mix = mix_test(report);
	static struct histogram all;
	uint64_t scheduled = 0;
	bool met;

	for (int op = 0; op < MIX_OPS; op++) {
		scheduled += result->ops[op].scheduled;
		histogram_merge(&all, &result->ops[op].times);
	}
	met = 100 * all.count >= LOAD_MET_PERCENT * scheduled && all.count;
	fprintf(out, ",\n  \"offered_ops_per_s\": %u, \"scheduled_ops_per_s\": %.3f, \"achieved_ops_per_s\": %.3f,\n",
		report->options->load, (double)scheduled / seconds(report->options->measured_ns),
		(double)all.count / seconds(report->options->measured_ns));
	fprintf(out, "  \"scheduled\": %" PRIu64 ", \"good\": %" PRIu64 ", \"load_met\": %s,\n", scheduled, all.count,
		truth(met));
	fputs("  \"response\": {\"from\": \"sending\", ", out);
	put_times(out, &all);
	fputs("},\n  \"late_sending\": {", out);
	put_times(out, &result->late);
	fputs("},\n", out);
	put_mix(out, &mix);
	put_transport(out, result);
	put_errors(out, result);
	put_operations(out, report, all.count);
	fprintf(out, "  \"server_fell_silent\": %s", truth(result->gave_up));
	if (result->gave_up)
		return EXIT_NO_SERVER;
	if (result_errors(result))
		return EXIT_WRONG;
	return met && mix.holds ? EXIT_MEASURED : EXIT_NOT_MET;
}

enum exit_status report_write(FILE *out, const struct report *report)
{
	enum exit_status status = EXIT_MEASURED;

	fprintf(out, "{\n  \"format\": 1, \"program\": \"sfsload\",\n  \"note\": \"%s\",\n", NOTE);
	put_settings(out, report->options);
	put_file_set(out, report);
	if (report->result)
		status = put_measured(out, report);
	fprintf(out, ",\n  \"exit_status\": %d\n}\n", (int)status);
	return status;
}
