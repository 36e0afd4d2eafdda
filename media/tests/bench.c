// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * How many requests a second the flash model answers, on the host. The medium is filled in order, then written and read
 * at random until collection is in its steady state. The times that it answers do not matter here.
 */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fb_medium.h"

enum { REQUEST_BYTES = 4096, RANDOM_REQUESTS = 1000000 };

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

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static u64 next_random(u64 *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

static void report(const char *what, u64 requests, double begin)
{
	double took = seconds() - begin;

	printf("  %-28s %10.0f requests/s\n", what, requests / took);
}

static void measure(struct fb_medium *m, const char *what, enum fb_op op, u64 requests, bool in_order, u64 *now_ns)
{
	u64 places = fb_medium_params(m)->capacity_bytes / REQUEST_BYTES;
	u64 seed = 1;
	double begin = seconds();
	u64 i;

	for (i = 0; i < requests; i++) {
		u64 place = in_order ? i % places : next_random(&seed) % places;
		struct fb_request request = {
			.op = op, .offset_bytes = place * REQUEST_BYTES, .length_bytes = REQUEST_BYTES,
		};

		*now_ns = fb_submit(m, &request, *now_ns);
	}
	report(what, requests, begin);
}

static void bench(u64 page_bytes, u64 blocks_per_die, u64 dies, u64 channels)
{
	struct fb_params params = flash(page_bytes, blocks_per_die, dies, channels);
	size_t bytes = fb_state_bytes(&params);
	void *memory = aligned_alloc(64, bytes);
	struct fb_medium *m = NULL;
	u64 places = params.capacity_bytes / REQUEST_BYTES;
	u64 now_ns = 0;

	if (!memory)
		exit(1);
	memset(memory, 0, bytes);
	if (fb_init(memory, bytes, &params) || fb_open(memory, bytes, &m))
		exit(1);
	printf("flash, %llu MiB in %llu die(s) on %llu channel(s), %llu-byte pages, %.2f bytes of state a page\n",
	       (unsigned long long)(params.capacity_bytes >> 20), (unsigned long long)dies,
	       (unsigned long long)channels, (unsigned long long)page_bytes,
	       (double)bytes * page_bytes / params.capacity_bytes);
	measure(m, "4 KiB writes in order", FB_WRITE, places, true, &now_ns);
	measure(m, "4 KiB writes at random", FB_WRITE, RANDOM_REQUESTS, false, &now_ns);
	measure(m, "the same again, steady", FB_WRITE, RANDOM_REQUESTS, false, &now_ns);
	measure(m, "4 KiB reads at random", FB_READ, RANDOM_REQUESTS, false, &now_ns);
	printf("  pages programmed for each written by the host: %.2f\n",
	       (double)fb_medium_counters(m)->flash_programmed_pages * params.page_bytes /
	       fb_medium_counters(m)->host_written_bytes);
	free(memory);
}

int main(void)
{
	bench(4096, 1024, 1, 1);
	bench(4096, 8192, 1, 1);
	bench(4096, 2048, 4, 4);
	bench(4096, 2048, 4, 1);
	bench(2048, 4096, 4, 4);
	return 0;
}
