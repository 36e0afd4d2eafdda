// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Any medium that the core accepts, put to any sequence of requests, stays in agreement with itself and never answers
 * before it was asked. The input is read as a sample's number, changes of its parameters, then requests.
 */
#include "input.h"

enum { MOST_CHANGES = 6, MOST_REQUESTS = 4096, VERIFY_EVERY = 64, MOST_STATE_BYTES = 1 << 20 };

static struct fb_params any_params(struct input *input)
{
	struct fb_params params = input_sample(input);
	u64 changes = input_number(input, 1) % MOST_CHANGES;

	while (changes--) {
		u64 index = input_number(input, 1) % FB_PARAM_COUNT;
		const struct fb_param_rule *rule = fb_param_rule(index);

		if (rule->kinds & 1u << params.kind)
			params.by_index[index] = rule->min + input_number(input, 2) % (rule->max - rule->min + 1);
	}
	return params;
}

static struct fb_request any_request(struct input *input, const struct fb_params *params)
{
	u64 sectors = params->capacity_bytes / params->sector_bytes;

	return (struct fb_request) {
		.op = input_number(input, 1) % 4,
		.offset_bytes = input_number(input, 2) % (sectors + 1) * params->sector_bytes,
		.length_bytes = input_number(input, 1) % (sectors + 1) * params->sector_bytes,
	};
}

static void put_requests(struct fb_medium *m, struct input *input)
{
	u64 now_ns = 0;
	u32 count;

	for (count = 0; input->left && count < MOST_REQUESTS; count++) {
		struct fb_request request = any_request(input, fb_medium_params(m));
		u64 done_ns = fb_submit(m, &request, now_ns);

		if (done_ns < now_ns)
			abort();
		now_ns += input_number(input, 1) << 12;
		if (count % VERIFY_EVERY == 0 && fb_verify(m))
			abort();
	}
	if (fb_verify(m))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct fb_params params = any_params(&input);
	size_t bytes = fb_state_bytes(&params);
	struct fb_medium *m;
	void *memory;

	if (!bytes || bytes > MOST_STATE_BYTES)
		return 0;
	memory = new_memory(bytes);
	if (fb_init(memory, bytes, &params) || fb_open(memory, bytes, &m))
		abort();
	put_requests(m, &input);
	free(memory);
	return 0;
}
