// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * How many requests a second the flash model answers, on the host. The medium is filled in order, then written and read
 * at random until collection is in its steady state. The times that it answers do not matter here. Rates are those of
 * a core's time, so that what else the host does counts less.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "fb_medium.h"

enum { REQUEST_BYTES = 4096, RANDOM_REQUESTS = 1000000, EXPECTED_AHEAD = 8 };

static struct fb_params flash(u64 page_bytes, u64 blocks_per_die, u64 dies, u64 channels)
{
	return (struct fb_params) {
		.kind = FB_FLASH,
		.capacity_bytes = blocks_per_die * dies / 16 * 15 * 64 * page_bytes,
		.sector_bytes = 512,
		.queue_depth = 32,
		.queues = 1,
		.command_ns = 10000,
		.link_ps_per_byte = 2500,
		.page_bytes = page_bytes,
		.pages_per_block = 64,
		.blocks_per_die = blocks_per_die,
		.dies = dies,
		.channels = channels,
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
		.bits_per_cell = 1,
		.ecc_codeword_bytes = 1024,
	};
}

/* As flashbed-replay gets it (host/state_file.c) */
static void *state_memory(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	madvise(memory, bytes, MADV_HUGEPAGE);
	return memory;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static u64 next_random(u64 *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

static struct fb_medium *medium_of(const struct fb_params *params, size_t *bytes)
{
	struct fb_medium *m = NULL;
	void *memory;

	*bytes = fb_state_bytes(params);
	memory = state_memory(*bytes);
	if (fb_init(memory, *bytes, params) || fb_open(memory, *bytes, &m))
		exit(1);
	return m;
}

enum order { IN_ORDER, AT_RANDOM, AT_RANDOM_EXPECTED };

/* A request covers a page, or some of 4 KiB; returns how many are answered a second */
static double measure(struct fb_medium *m, enum fb_op op, u64 requests, enum order order, u64 *now_ns)
{
	const struct fb_params *params = fb_medium_params(m);
	u64 request_bytes = params->page_bytes > REQUEST_BYTES ? params->page_bytes : REQUEST_BYTES;
	u64 places = params->capacity_bytes / request_bytes;
	u64 seed = 1, seed_ahead = 1;
	double begin = seconds();
	u64 i;

	for (i = 0; i < EXPECTED_AHEAD; i++)
		next_random(&seed_ahead);
	for (i = 0; i < requests; i++) {
		u64 place = order == IN_ORDER ? i % places : next_random(&seed) % places;
		struct fb_request request = {
			.op = op, .offset_bytes = place * request_bytes, .length_bytes = request_bytes,
		};
		struct fb_request later = request;

		if (order == AT_RANDOM_EXPECTED) {
			later.offset_bytes = next_random(&seed_ahead) % places * request_bytes;
			fb_expect(m, &later);
		}
		*now_ns = fb_submit(m, &request, *now_ns);
	}
	return requests / (seconds() - begin);
}

static void report(const char *what, double requests_a_second)
{
	printf("  %-28s %10.0f requests/s\n", what, requests_a_second);
}

static void bench(u64 page_bytes, u64 blocks_per_die, u64 dies, u64 channels)
{
	struct fb_params params = flash(page_bytes, blocks_per_die, dies, channels);
	u64 places = params.capacity_bytes / REQUEST_BYTES;
	size_t bytes;
	struct fb_medium *m = medium_of(&params, &bytes);
	u64 now_ns = 0;

	printf("flash, %llu MiB in %llu die(s) on %llu channel(s), %llu-byte pages, %.2f bytes of state a page\n",
	       (unsigned long long)(params.capacity_bytes >> 20), (unsigned long long)dies,
	       (unsigned long long)channels, (unsigned long long)page_bytes,
	       (double)bytes * page_bytes / params.capacity_bytes);
	report("4 KiB writes in order", measure(m, FB_WRITE, places, IN_ORDER, &now_ns));
	report("4 KiB writes at random", measure(m, FB_WRITE, RANDOM_REQUESTS, AT_RANDOM, &now_ns));
	report("the same again, steady", measure(m, FB_WRITE, RANDOM_REQUESTS, AT_RANDOM, &now_ns));
	report("4 KiB reads at random", measure(m, FB_READ, RANDOM_REQUESTS, AT_RANDOM, &now_ns));
	printf("  pages programmed for each written by the host: %.2f\n",
	       (double)fb_medium_counters(m)->flash_programmed_pages * params.page_bytes /
	       fb_medium_counters(m)->host_written_bytes);
	munmap(m, bytes);
}

/*
 * What a request costs as the medium grows from 1 GiB to 1 TiB. The algorithm does the same work; what grows is the
 * part of the tables that no cache of the host holds, so that a random request waits for its memory a few times.
 * Whoever knows its requests ahead, as flashbed-replay does, waits less (fb_expect()).
 */
enum { SIZES = 3, FEW_REQUESTS = 200000 };
enum { FILL, WRITES, READS, EXPECTED, COLLECTING, KINDS };

static struct fb_params sized(u64 page_bytes, u64 gib)
{
	return flash(page_bytes, (gib << 30) / (4 * 64 * page_bytes) / 15 * 16 + 16, 4, 4);
}

/* Into free space, then read back; page by page, with the memory there beforehand */
static void cost_in_free_space(u64 gib, double *rate)
{
	struct fb_params params = sized(4096, gib);
	size_t bytes;
	struct fb_medium *m = medium_of(&params, &bytes);
	u64 now_ns = 0;

	madvise(m, bytes, MADV_POPULATE_WRITE);
	rate[WRITES] = measure(m, FB_WRITE, FEW_REQUESTS, AT_RANDOM, &now_ns);
	rate[READS] = measure(m, FB_READ, FEW_REQUESTS, AT_RANDOM, &now_ns);
	munmap(m, bytes);

	m = medium_of(&params, &bytes);
	madvise(m, bytes, MADV_POPULATE_WRITE);
	rate[EXPECTED] = measure(m, FB_WRITE, FEW_REQUESTS, AT_RANDOM_EXPECTED, &now_ns);
	munmap(m, bytes);
}

/* Pages of 16 KiB, as large devices have them; filled, and written at random until the spare blocks are used up */
static void cost_of_collecting(u64 gib, double *rate)
{
	struct fb_params params = sized(16384, gib);
	u64 places = params.capacity_bytes / params.page_bytes;
	size_t bytes;
	struct fb_medium *m = medium_of(&params, &bytes);
	u64 now_ns = 0;

	madvise(m, bytes, MADV_POPULATE_WRITE);
	rate[FILL] = measure(m, FB_WRITE, places, IN_ORDER, &now_ns);
	measure(m, FB_WRITE, places / 8, AT_RANDOM, &now_ns);
	rate[COLLECTING] = measure(m, FB_WRITE, FEW_REQUESTS, AT_RANDOM, &now_ns);
	munmap(m, bytes);
}

static void bench_sizes(void)
{
	static const u64 gib[SIZES] = { 1, 32, 1024 };
	static const char *const what[KINDS] = {
		"16 KiB writes in order", "4 KiB writes at random", "4 KiB reads of these", "4 KiB writes, expected",
		"16 KiB writes, collecting",
	};
	double rate[SIZES][KINDS];
	int i, kind;

	for (i = 0; i < SIZES; i++) {
		cost_in_free_space(gib[i], rate[i]);
		cost_of_collecting(gib[i], rate[i]);
	}
	printf("cost of a request, ns, on media of 1 GiB, 32 GiB and 1 TiB, and how much more the largest costs\n");
	for (kind = 0; kind < KINDS; kind++)
		printf("  %-28s %6.0f %6.0f %6.0f   x %.2f\n", what[kind], 1e9 / rate[0][kind], 1e9 / rate[1][kind],
		       1e9 / rate[2][kind], rate[0][kind] / rate[2][kind]);
}

int main(void)
{
	bench(4096, 1024, 1, 1);
	bench(4096, 8192, 1, 1);
	bench(4096, 2048, 4, 4);
	bench(4096, 2048, 4, 1);
	bench(2048, 4096, 4, 4);
	bench_sizes();
	return 0;
}
