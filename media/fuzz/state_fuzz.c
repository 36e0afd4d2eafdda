// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Fuzzing of the state loader and of request sequences, for libFuzzer: a state, some of its bytes changed, is opened and
 * looked through; if it is found sound, requests are put to it, and it must be sound afterwards.
 *
 * Input: which sample; how many bytes to change; for each its place (32 bits) and the new value; then requests of
 * 8 bytes each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fb_medium.h"
#include "samples.h"

enum { SAMPLES = 5, MOST_CHANGES = 8, REQUEST_BYTES = 8 };

struct input {
	const uint8_t *at;
	size_t left;
};

static u64 take(struct input *in, u32 bytes)
{
	u64 value = 0;

	for (; bytes && in->left; bytes--, in->left--)
		value = value << 8 | *in->at++;
	return value;
}

static struct fb_params sample(u64 which)
{
	struct fb_params p = sample_disk();

	switch (which % SAMPLES) {
	case 0:
		return sample_flash();
	case 1:
		p = sample_flash();
		p.dies = 4;
		p.channels = 2;
		p.capacity_bytes *= 4;
		return p;
	case 2:
		return sample_null();
	case 3:
		p.readahead_bytes = 30 * 512;
		p.segment_bytes = 60 * 512;
		p.segments = 3;
		p.write_cache_bytes = 100 * 512;
		p.reorder_depth = 6;
		break;
	}
	return p;
}

static void change(u8 *state, size_t bytes, struct input *in)
{
	u64 count = take(in, 1) % (MOST_CHANGES + 1);

	while (count--) {
		u64 place = take(in, 4);

		state[place % bytes] = take(in, 1);
	}
}

static u64 request(struct fb_medium *m, struct input *in, u64 now_ns)
{
	const struct fb_params *p = fb_medium_params(m);
	u64 sectors = p->capacity_bytes / p->sector_bytes;
	u64 what = take(in, 1);
	struct fb_request r = {
		.op = what % 5,		/* one of them does not exist */
		.offset_bytes = take(in, 3) % (sectors + 2) * p->sector_bytes,
		.length_bytes = take(in, 1) % 70 * p->sector_bytes,
		.fua = what & 0x80,
	};
	u64 done_ns = fb_submit(m, &r, now_ns);

	if (done_ns < now_ns)
		abort();
	now_ns += take(in, 3) * 16;
	return what & 0x40 && done_ns != FB_NEVER ? done_ns : now_ns;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct fb_params params = sample(take(&in, 1));
	size_t bytes = fb_state_bytes(&params);
	struct fb_medium *m = NULL;
	void *memory = aligned_alloc(64, bytes);
	u64 now_ns = 0;

	memset(memory, 0, bytes);
	if (fb_init(memory, bytes, &params) != FB_OK)
		abort();
	change(memory, bytes, &in);
	if (fb_open(memory, bytes, &m) == FB_OK && !fb_verify(m)) {
		fb_power_on(m);
		while (in.left >= REQUEST_BYTES)
			now_ns = request(m, &in, now_ns);
		if (fb_verify(m)) {
			fprintf(stderr, "%s\n", fb_verify(m));
			abort();
		}
	}
	free(memory);
	return 0;
}
