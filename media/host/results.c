// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Prints the results of a replay, as a table or as JSON */
#include <inttypes.h>

#include "describe.h"
#include "results.h"

static const char *const op_words[OP_COUNT] = {
	[FB_READ] = "read", [FB_WRITE] = "write", [FB_DISCARD] = "discard", [FB_FLUSH] = "flush",
};

static const struct {
	unsigned int of_10000;
	const char *key;
	const char *title;
} percentiles[] = {
	{ P50, "p50", "50 %" }, { P95, "p95", "95 %" }, { P99, "p99", "99 %" },
	{ P999, "p99_9", "99.9 %" }, { P_MAX, "max", "max" },
};

enum { PERCENTILES = sizeof(percentiles) / sizeof(*percentiles) };

static double per_second(u64 number, const struct played *played)
{
	u64 took_ns = played->end_ns - played->begin_ns;

	return took_ns ? number * 1e9 / took_ns : 0;
}

/* Bytes programmed for each byte that the host wrote; false for a medium that does not program */
static bool write_amplification(const struct fb_medium *medium, const struct fb_counters *c, double *found)
{
	const struct fb_params *p = fb_medium_params(medium);

	if (p->kind != FB_FLASH || !c->host_written_bytes)
		return false;
	*found = (double)c->flash_programmed_pages * p->page_bytes / c->host_written_bytes;
	return true;
}

static void print_json_op(int op, struct played *played)
{
	struct latencies *l = &played->of[op];
	int i;

	printf("  \"%s\": {\"requests\": %zu, \"bytes\": %" PRIu64 ", \"iops\": %.6f, \"bytes_per_s\": %.6f,\n"
	       "   \"latency_ns\": {\"mean\": %.6f",
	       op_words[op], l->count, played->bytes[op], per_second(l->count, played),
	       per_second(played->bytes[op], played), l->count ? (double)l->sum_ns / l->count : 0.0);
	for (i = 0; l->ns && i < PERCENTILES; i++)
		printf(", \"%s\": %" PRIu64, percentiles[i].key, latencies_percentile(l, percentiles[i].of_10000));
	printf("}}");
}

static void print_json_outage(const struct fb_medium *medium, const struct outage_told *told)
{
	if (!told->happened) {
		printf(" \"cut\": null,\n");
		return;
	}
	printf(" \"cut\": {\"cut_ns\": %" PRIu64 ", \"requests\": %" PRIu64 ", \"kept_bytes\": %" PRIu64
	       ", \"lost_bytes\": %" PRIu64 ", \"unreadable_bytes\": %" PRIu64 ",\n  \"torn_parts\": %" PRIu64
	       ", \"unreadable_sectors\": %" PRIu64 ", \"half_erased_blocks\": %" PRIu64 "},\n",
	       told->cut_ns, told->requests, told->bytes[FB_KEPT], told->bytes[FB_LOST], told->bytes[FB_UNREADABLE],
	       told->torn, fb_unreadable_sectors(medium), fb_half_erased_blocks(medium));
}

static void print_json(const struct fb_medium *medium, struct played *played)
{
	double amplification;
	int op;

	printf("{\"duration_ns\": %" PRIu64 ",\n \"operations\": {\n", played->end_ns - played->begin_ns);
	for (op = 0; op < OP_COUNT; op++) {
		print_json_op(op, played);
		printf("%s\n", op < OP_COUNT - 1 ? "," : "},");
	}
	if (write_amplification(medium, &played->counters, &amplification))
		printf(" \"write_amplification\": %.9f,\n", amplification);
	else
		printf(" \"write_amplification\": null,\n");
	print_json_outage(medium, &played->outage);
	describe_counters_of(medium, &played->counters);
	printf(",\n");
	describe_wear_of(medium);
	printf("}\n");
}

static void print_table(const struct fb_medium *medium, struct played *played)
{
	struct fb_wear wear = fb_medium_wear(medium);
	double amplification;
	int op, i;

	printf("%-8s %12s %12s %12s", "", "requests", "requests/s", "MB/s");
	for (i = 0; i < PERCENTILES; i++)
		printf(" %11s", percentiles[i].title);
	printf("   (latency, us)\n");
	for (op = 0; op < OP_COUNT; op++) {
		struct latencies *l = &played->of[op];

		if (!l->count)
			continue;
		printf("%-8s %12zu %12.1f %12.3f", op_words[op], l->count, per_second(l->count, played),
		       per_second(played->bytes[op], played) / 1e6);
		for (i = 0; l->ns && i < PERCENTILES; i++)
			printf(" %11.3f", latencies_percentile(l, percentiles[i].of_10000) / 1e3);
		printf("\n");
	}
	printf("took %.9f s\n", (played->end_ns - played->begin_ns) / 1e9);
	if (played->outage.happened)
		printf("power cut at request %" PRIu64 ", %" PRIu64 " parts of writes torn, "
		       "%" PRIu64 " sectors unreadable\n",
		       played->outage.requests, played->outage.torn, fb_unreadable_sectors(medium));
	if (write_amplification(medium, &played->counters, &amplification))
		printf("write amplification %.4f\n", amplification);
	if (wear.blocks)
		printf("erase count of a block: %" PRIu64 " to %" PRIu64 ", mean %.3f\n", wear.erase_count_min,
		       wear.erase_count_max, (double)wear.erase_count_sum / wear.blocks);
}

void results_print(const struct fb_medium *medium, struct played *played, bool json)
{
	if (json)
		print_json(medium, played);
	else
		print_table(medium, played);
}
