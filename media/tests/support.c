// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What every test needs: a new medium, parameters that are refused, a request */
#include "random.h"
#include "test.h"

struct fb_medium *new_medium(const struct fb_params *params)
{
	struct fb_complaint complaint;
	size_t bytes = fb_state_bytes(params);
	struct fb_medium *medium = NULL;
	void *memory;

	CHECKF(fb_check_params(params, &complaint), "refused: %s", fb_param_rule(complaint.param)->name);
	memory = aligned_alloc(64, bytes);
	CHECK(memory);
	memset(memory, 0, bytes);
	CHECK_EQUAL(FB_OK, fb_init(memory, bytes, params));
	CHECK_EQUAL(FB_OK, fb_open(memory, bytes, &medium));
	return medium;
}

void check_refused(const struct fb_params *params, enum fb_param param)
{
	struct fb_complaint complaint;

	CHECK(!fb_check_params(params, &complaint));
	CHECK_EQUAL(param, complaint.param);
	CHECK_EQUAL(params->by_index[param], complaint.value);
	CHECK_EQUAL(0, fb_state_bytes(params));
}

u64 submit(struct fb_medium *medium, enum fb_op op, u64 offset_bytes, u64 length_bytes, u64 now_ns)
{
	struct fb_request request = { .op = op, .offset_bytes = offset_bytes, .length_bytes = length_bytes };

	return fb_submit(medium, &request, now_ns);
}

u64 next_random(u64 *state)
{
	return fb_xorshift(state);
}
