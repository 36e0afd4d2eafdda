// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What every test needs: checks, a new medium, a request */
#include "random.h"
#include "test.h"

void check_failed(const char *file, int line, const char *condition)
{
	fprintf(stderr, "%s:%d: not true: %s\n", file, line, condition);
	exit(1);
}

void check_equal(const char *file, int line, const char *what, u64 expected, u64 actual)
{
	if (expected == actual)
		return;
	fprintf(stderr, "%s:%d: %s is %" PRIu64 ", expected %" PRIu64 "\n", file, line, what, actual, expected);
	exit(1);
}

struct fb_medium *new_medium(const struct fb_params *params)
{
	struct fb_complaint complaint;
	size_t bytes = fb_state_bytes(params);
	struct fb_medium *medium = NULL;
	void *memory;

	if (!fb_check_params(params, &complaint))
		check_failed(__FILE__, __LINE__, fb_param_rule(complaint.param)->name);
	memory = aligned_alloc(64, bytes);
	CHECK(memory);
	memset(memory, 0, bytes);
	CHECK_EQUAL(FB_OK, fb_init(memory, bytes, params));
	CHECK_EQUAL(FB_OK, fb_open(memory, bytes, &medium));
	return medium;
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
