// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A state from elsewhere is refused, or found to contradict itself, or it is sound and can be used. The input is laid
 * over a sound state in pieces, so that the fuzzer need not invent a whole one.
 */
#include "input.h"

enum { MAX_PIECES = 16, REQUESTS = 64 };

static void overlay(u8 *memory, size_t bytes, struct input *input)
{
	u32 pieces;

	for (pieces = 0; input->left && pieces < MAX_PIECES; pieces++) {
		u64 offset = input_number(input, 2) % bytes;
		u64 length = input_number(input, 1) % 16 + 1;

		for (; length && offset < bytes; length--, offset++)
			memory[offset] = input_number(input, 1);
	}
}

static void use(struct fb_medium *m)
{
	u64 sector_bytes = fb_medium_params(m)->sector_bytes;
	u64 sectors, i;

	fb_power_on(m);
	if (fb_medium_params(m)->kind == FB_NAND)
		return;
	sectors = fb_medium_params(m)->capacity_bytes / sector_bytes;
	for (i = 0; i < REQUESTS; i++) {
		struct fb_request request = {
			.op = i % 4,
			.offset_bytes = i * 7919 % sectors * sector_bytes,
			.length_bytes = sector_bytes,
		};

		fb_submit(m, &request, i * 100000);
	}
	CHECK(!fb_verify(m));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct fb_params params = input_sample(&input);
	size_t bytes = fb_state_bytes(&params);
	void *memory = new_memory(bytes);
	struct fb_medium *m;

	CHECK(!fb_init(memory, bytes, &params));
	overlay(memory, bytes, &input);
	if (!fb_open(memory, bytes, &m) && !fb_verify(m))
		use(m);
	free(memory);
	return 0;
}
