// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * How many requests a second of CPU time the page-mapped flash answers, on the host, and what a request costs in steps
 * of a loop that only hashes a number (the ratio is what can be compared between machines). The times that the medium
 * answers do not matter here.
 *
 *	free space	pages that were never written are written, in order and at random, and read; nothing
 *			is collected
 *	steady		random writes to a full medium after as many random writes as bring it to its steady
 *			state
 *	sizes		media from 1 GiB to 1 TiB. With pages of 4 KiB, filled in order: reads, writes before
 *			anything is collected, and what a load from a random place of that state takes. With
 *			pages of 16 KiB, as large devices have them: the steady state
 *
 * Announced requests are those whose caller knows them some requests ahead and says so (fb_prefetch()), as
 * flashbed-replay does.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "fb_medium.h"
#include "random.h"

enum { REQUEST_BYTES = 4096, FILL_BYTES = 1 << 20, STEPS = 20000000, LOADS = 1000000 };

/* Of each measurement. "bench tiny" does with few, to see that it runs */
static u64 wanted_requests = 1000000;

struct shape {
	const char *name;
	u64 page_bytes;
	u64 pages_per_block;
	u64 blocks_per_die;
	u64 dies;
	u64 channels;
	u64 spare_percent;	/* over-provisioning, of the capacity */
};

struct bench {
	struct fb_medium *m;
	void *memory;
	size_t bytes;
	u64 places;
	u64 now_ns;
};

static double step_ns;

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* A number below limit */
static u64 draw(u64 *state, u64 limit)
{
	return (fb_xorshift(state) >> 32) * limit >> 32;
}

static volatile u64 sink;

/* Each step needs the one before; about eight cycles of most CPUs */
static void calibrate(void)
{
	u64 state = 1;
	double begin = seconds();
	int i;

	for (i = 0; i < STEPS; i++)
		fb_xorshift(&state);
	step_ns = (seconds() - begin) / STEPS * 1e9;
	sink = state;
	printf("a step of the hash: %.2f ns\n", step_ns);
}

/* Each load's address needs the load before */
static double load_ns(const struct bench *b)
{
	const u64 *word = b->memory;
	u64 at = 1, sum = 0;
	double begin = seconds();
	int i;

	for (i = 0; i < LOADS; i++) {
		at = (at + sum) * 0x5851f42d4c957f2dull + 0x14057b7ef767814full;
		sum = word[(at >> 32) * (b->bytes / 8) >> 32];
	}
	sink = sum;
	return (seconds() - begin) / LOADS * 1e9;
}

static double report(const char *what, u64 requests, double began)
{
	double ns = (seconds() - began) / requests * 1e9;

	printf("  %-40s %8.2f million/s %8.1f steps\n", what, 1000 / ns, ns / step_ns);
	fflush(stdout);
	return ns;
}

static struct fb_params flash(const struct shape *s)
{
	u64 raw_bytes = s->page_bytes * s->pages_per_block * s->blocks_per_die * s->dies;

	return (struct fb_params) {
		.kind = FB_FLASH,
		.capacity_bytes = raw_bytes / (100 + s->spare_percent) * 100 / FILL_BYTES * FILL_BYTES,
		.sector_bytes = 512,
		.queue_depth = 32,
		.queues = 1,
		.command_ns = 10000,
		.link_ps_per_byte = 2500,
		.page_bytes = s->page_bytes,
		.pages_per_block = s->pages_per_block,
		.blocks_per_die = s->blocks_per_die,
		.dies = s->dies,
		.channels = s->channels,
		.read_ns = 25000,
		.program_ns = 220000,
		.erase_ns = 1500000,
		.bus_ps_per_byte = 25000,
		.gc_reserve_blocks = 4,
		.ftl = FB_FTL_PAGE,
		.blocks_per_group = 1,
		.gc_choices = 2,
		.open_blocks = 2,
		.planes = 1,
		.controller_lanes = 1,
		.discard = 1,
		.bits_per_cell = 1,
		.ecc_codeword_bytes = 1024,
	};
}

/* In memory that is there already, with the advice about its pages */
static struct bench make_in(const struct shape *s, int advice)
{
	struct fb_params params = flash(s);
	struct bench b = { .bytes = fb_state_bytes(&params), .places = params.capacity_bytes / REQUEST_BYTES };

	b.memory = mmap(NULL, b.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!b.bytes || b.memory == MAP_FAILED)
		exit(1);
	madvise(b.memory, b.bytes, advice);
	memset(b.memory, 0, b.bytes);
	if (fb_init(b.memory, b.bytes, &params) || fb_open(b.memory, b.bytes, &b.m))
		exit(1);
	printf("%s: %llu MiB in %llu die(s) on %llu channel(s), %llu-byte pages, %llu %% over-provisioning, "
	       "%.2f bytes of state a page\n", s->name, (unsigned long long)(params.capacity_bytes >> 20),
	       (unsigned long long)s->dies, (unsigned long long)s->channels, (unsigned long long)s->page_bytes,
	       (unsigned long long)s->spare_percent, (double)b.bytes * s->page_bytes / params.capacity_bytes);
	return b;
}

/* In large pages, if the system has them */
static struct bench make(const struct shape *s)
{
	return make_in(s, MADV_HUGEPAGE);
}

static void done(struct bench *b)
{
	const char *fault = fb_verify(b->m);

	if (fault) {
		printf("%s\n", fault);
		exit(1);
	}
	munmap(b->memory, b->bytes);
}

static void put(struct bench *b, enum fb_op op, u64 place, u64 bytes)
{
	struct fb_request request = { .op = op, .offset_bytes = place * REQUEST_BYTES, .length_bytes = bytes };

	b->now_ns = fb_submit(b->m, &request, b->now_ns);
}

/* What a caller that knows its requests ahead says before request i */
static void prefetch_next(const struct fb_medium *m, const struct fb_request *all, u64 count, u64 i)
{
	u32 step;

	for (step = 0; step < FB_PREFETCH_STEPS; step++) {
		u64 next = i + (FB_PREFETCH_STEPS - step) * FB_PREFETCH_APART;

		if (next < count)
			fb_prefetch(m, &all[next], step);
	}
}

static double fill(struct bench *b, const char *what)
{
	u64 step = FILL_BYTES / REQUEST_BYTES;
	double began = seconds();
	u64 place;

	for (place = 0; place < b->places; place += step)
		put(b, FB_WRITE, place, FILL_BYTES);
	return report(what, b->places * REQUEST_BYTES / fb_medium_params(b->m)->page_bytes, began);
}

static double in_order(struct bench *b, const char *what, enum fb_op op, u64 requests)
{
	double began = seconds();
	u64 i;

	for (i = 0; i < requests; i++)
		put(b, op, i, REQUEST_BYTES);
	return report(what, requests, began);
}

/* Requests of 4 KiB, or of a page, if that is larger */
static double at_random(struct bench *b, const char *what, enum fb_op op, u64 requests, u64 seed)
{
	u64 page_bytes = fb_medium_params(b->m)->page_bytes;
	u64 bytes = page_bytes > REQUEST_BYTES ? page_bytes : REQUEST_BYTES;
	u64 unit = bytes / REQUEST_BYTES;
	double began = seconds();
	u64 i;

	for (i = 0; i < requests; i++)
		put(b, op, draw(&seed, b->places / unit) * unit, bytes);
	return report(what, requests, began);
}

/* As at_random(), with requests that are known ahead */
static double announced(struct bench *b, const char *what, enum fb_op op, u64 requests, u64 seed)
{
	struct fb_request *all = malloc(requests * sizeof(*all));
	double began;
	u64 i;

	if (!all)
		exit(1);
	for (i = 0; i < requests; i++)
		all[i] = (struct fb_request) {
			.op = op, .offset_bytes = draw(&seed, b->places) * REQUEST_BYTES, .length_bytes = REQUEST_BYTES,
		};
	began = seconds();
	for (i = 0; i < requests; i++) {
		prefetch_next(b->m, all, requests, i);
		b->now_ns = fb_submit(b->m, &all[i], b->now_ns);
	}
	free(all);
	return report(what, requests, began);
}

static void free_space(const struct shape *s)
{
	struct bench b = make(s);

	in_order(&b, "writes in order", FB_WRITE, wanted_requests);
	in_order(&b, "reads in order", FB_READ, wanted_requests);
	done(&b);
	b = make(s);
	at_random(&b, "writes at random", FB_WRITE, wanted_requests, 1);
	at_random(&b, "reads at random", FB_READ, wanted_requests, 1);
	done(&b);
}

/* Returns what a request costs */
static double steady(const struct shape *s)
{
	struct bench b = make(s);
	struct fb_counters before;
	const struct fb_counters *c = fb_medium_counters(b.m);
	u64 pages = b.places * REQUEST_BYTES / s->page_bytes;
	double ns, moved;

	fill(&b, "(filled in order, a page)");
	at_random(&b, "(first random writes)", FB_WRITE, pages < 1 << 22 ? 2 * pages : pages / 8, 1);
	before = *c;
	ns = at_random(&b, "random writes, steady", FB_WRITE, wanted_requests, 2);
	moved = (double)(c->flash_programmed_pages - before.flash_programmed_pages) / wanted_requests;
	printf("  %.2f pages programmed for each request: %.1f million a second, %.1f steps each\n", moved,
	       1000 * moved / ns, ns / step_ns / moved);
	done(&b);
	return ns;
}

/* What large pages save: the same writes, and loads, in pages of 4 KiB */
static void small_pages(const struct shape *s, u64 writes, double large_write_ns, double large_load_ns)
{
	struct bench b = make_in(s, MADV_NOHUGEPAGE);
	double write_ns, small_load_ns;

	fill(&b, "(filled in order, a page)");
	at_random(&b, "(reads, to warm up)", FB_READ, wanted_requests, 4);
	write_ns = at_random(&b, "writes at random, small pages of memory", FB_WRITE, writes, 2);
	small_load_ns = load_ns(&b);
	printf("  small pages of memory cost, times large ones: writes %.2f, a load %.2f\n", write_ns / large_write_ns,
	       small_load_ns / large_load_ns);
	munmap(b.memory, b.bytes);
}

/* What is compared: the cost of a request on a medium and on the first, smallest one */
static void sizes(const struct shape *shapes, int count)
{
	enum { READ, READ_ANNOUNCED, WRITE, WRITE_ANNOUNCED, LOAD, FIGURES };
	static const char *const names[] = { "reads", "announced reads", "writes", "announced writes", "a load" };
	double first[FIGURES] = { 0 };
	int i, k;

	for (i = 0; i < count; i++) {
		struct bench b = make(&shapes[i]);
		u64 spare = b.places / 100 * shapes[i].spare_percent / 5 * 2;
		u64 writes = spare < wanted_requests ? spare : wanted_requests;
		double ns[FIGURES];

		fill(&b, "filled in order, a page");
		at_random(&b, "(reads, to warm up)", FB_READ, wanted_requests, 4);
		ns[READ] = at_random(&b, "reads at random", FB_READ, wanted_requests, 1);
		ns[READ_ANNOUNCED] = announced(&b, "the same, others, announced", FB_READ, wanted_requests, 5);
		ns[WRITE] = at_random(&b, "writes at random", FB_WRITE, writes, 2);
		ns[WRITE_ANNOUNCED] = announced(&b, "the same, others, announced", FB_WRITE, writes, 3);
		ns[LOAD] = load_ns(&b);
		printf("  a load from a random place of the state: %.1f ns; in loads: reads %.1f, writes %.1f\n", ns[LOAD],
		       ns[READ] / ns[LOAD], ns[WRITE] / ns[LOAD]);
		if (fb_medium_counters(b.m)->collections)
			printf("  but something was collected\n");
		for (k = 0; k < FIGURES && !i; k++)
			first[k] = ns[k];
		printf("  times the cost on the first:");
		for (k = 0; k < FIGURES; k++)
			printf(" %s %.2f%s", names[k], ns[k] / first[k], k + 1 < FIGURES ? "," : "\n");
		munmap(b.memory, b.bytes);
		if (i)	/* the smallest state fits into the caches */
			small_pages(&shapes[i], writes, ns[WRITE], ns[LOAD]);
	}
}

int main(int count, char **arguments)
{
	static const struct shape roomy = { "free space", 4096, 64, 24576, 4, 4, 7 };
	static const struct shape full[] = {
		{ "steady", 4096, 64, 4096, 1, 1, 7 }, { "steady", 4096, 64, 4096, 1, 1, 28 },
		{ "steady", 4096, 64, 1024, 4, 4, 7 }, { "steady", 4096, 64, 1024, 4, 4, 28 },
		{ "steady", 2048, 64, 2048, 4, 4, 7 },
		{ "steady", 4096, 64, 1024, 4, 1, 7 }, { "steady", 4096, 64, 1024, 4, 1, 28 },
	};
	static const struct shape large[] = {
		{ "1 GiB", 4096, 256, 328, 4, 4, 28 },
		{ "32 GiB", 4096, 256, 10486, 4, 4, 28 },
		{ "1 TiB", 4096, 256, 335545, 4, 4, 28 },
	};
	static const struct shape coarse[] = {
		{ "1 GiB", 16384, 64, 274, 4, 4, 7 },
		{ "32 GiB", 16384, 64, 8766, 4, 4, 7 },
		{ "1 TiB", 16384, 64, 280494, 4, 4, 7 },
	};
	/* "bench small" does without 1 TiB, whose state takes 2.6 GB */
	size_t i, counted = count > 1 ? 2 : 3;
	double first = 0;

	if (count > 1 && !strcmp(arguments[1], "tiny")) {
		wanted_requests = 1000;
		free_space(&roomy);
		return 0;
	}
	calibrate();
	free_space(&roomy);
	for (i = 0; i < sizeof(full) / sizeof(*full); i++)
		steady(&full[i]);
	sizes(large, counted);
	for (i = 0; i < counted; i++) {
		double ns = steady(&coarse[i]);

		first = i ? first : ns;
		printf("  times the cost on the first: %.2f\n", ns / first);
	}
	(void)arguments;
	return 0;
}
