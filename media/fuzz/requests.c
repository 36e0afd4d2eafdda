// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Any medium that the core accepts, put to any sequence of requests and power cuts, stays in agreement with itself,
 * never answers before it was asked, and tells of a cut in the order of the writes and within its bounds. The input is
 * read as a sample's number, changes of its parameters, then steps: requests, now and then a cut.
 */
#include "fb_power.h"
#include "input.h"

enum { MAX_CHANGES = 6, MAX_STEPS = 4096, VERIFY_EVERY = 64, MAX_STATE_BYTES = 1 << 20 };

/* The first byte of a step: an operation, a write past the cache, a rest, or a cut */
enum { OPERATIONS = 4, FUA = 1 << 6, REST = 30, CUT = 31, KINDS = 32 };

static struct fb_params any_params(struct input *input)
{
	struct fb_params params = input_sample(input);
	u64 changes = input_number(input, 1) % MAX_CHANGES;

	while (changes--) {
		u64 index = input_number(input, 1) % FB_PARAM_COUNT;
		const struct fb_param_rule *rule = fb_param_rule(index);

		if (rule->kinds & 1u << params.kind)
			params.by_index[index] = rule->min + input_number(input, 2) % (rule->max - rule->min + 1);
	}
	return params;
}

static struct fb_request any_request(struct input *input, u64 kind, const struct fb_params *params)
{
	u64 sectors = params->capacity_bytes / params->sector_bytes;

	return (struct fb_request) {
		.op = kind % OPERATIONS,
		.offset_bytes = input_number(input, 2) % (sectors + 1) * params->sector_bytes,
		.length_bytes = input_number(input, 1) % (sectors + 1) * params->sector_bytes,
		.fua = kind & FUA,
	};
}

struct telling {
	const struct fb_params *params;
	u64 oldest;		/* no part before it may be told of any more */
	u64 next;		/* no write has made this one yet */
};

static void tell(void *context, const struct fb_fated *fated)
{
	struct telling *t = context;
	u64 sector_bytes = t->params->sector_bytes;
	u64 capacity_bytes = t->params->capacity_bytes;

	CHECK(fated->sequence >= t->oldest && fated->sequence < t->next);
	CHECK(fated->fate == FB_KEPT || fated->fate == FB_LOST || fated->fate == FB_UNREADABLE);
	CHECK(fated->length_bytes && fated->length_bytes % sector_bytes == 0 &&
	      fated->offset_bytes % sector_bytes == 0);
	CHECK(fated->length_bytes <= capacity_bytes && fated->offset_bytes <= capacity_bytes - fated->length_bytes);
	t->oldest = fated->sequence;
}

static void cut(struct fb_medium *m, u64 cut_ns, u64 seed)
{
	struct telling telling = { fb_medium_params(m), fb_oldest_pending(m), fb_next_sequence(m) };
	u64 restarts = fb_medium_counters(m)->restarts;

	fb_cut(m, cut_ns, seed, tell, &telling);
	CHECK(fb_off(m) && !fb_verify(m));
	CHECK(fb_oldest_pending(m) == fb_next_sequence(m));
	fb_power_on(m);
	CHECK(!fb_off(m) && !fb_verify(m));
	CHECK(fb_medium_counters(m)->restarts == restarts + 1);
}

static void put_requests(struct fb_medium *m, struct input *input)
{
	u64 now_ns = 0;
	u32 count;

	for (count = 0; input->left && count < MAX_STEPS; count++) {
		u64 kind = input_number(input, 1);

		if (kind % KINDS == CUT) {
			now_ns += input_number(input, 2) << 8;
			cut(m, now_ns, input_number(input, 1));
			now_ns = 0;
		} else if (kind % KINDS == REST) {
			now_ns = fb_rest(m, now_ns);
		} else {
			struct fb_request request = any_request(input, kind, fb_medium_params(m));

			CHECK(fb_submit(m, &request, now_ns) >= now_ns);
			now_ns += input_number(input, 1) << 12;
		}
		if (count % VERIFY_EVERY == 0)
			CHECK(!fb_verify(m));
	}
	CHECK(!fb_verify(m));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct fb_params params = any_params(&input);
	size_t bytes = fb_state_bytes(&params);
	struct fb_medium *m;
	void *memory;

	if (!bytes || bytes > MAX_STATE_BYTES)
		return 0;
	memory = new_memory(bytes);
	CHECK(!fb_init(memory, bytes, &params) && !fb_open(memory, bytes, &m));
	put_requests(m, &input);
	free(memory);
	return 0;
}
