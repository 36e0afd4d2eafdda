// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The kind "null": every request takes command_ns, regardless of others */
#include "kind.h"
#include "state.h"

/* Nothing is ever half written: a write is durable when it is done */
static u64 submit(struct fb_medium *m, const struct fb_request *request)
{
	u64 done_ns = m->now_ns + m->params.command_ns;

	if (request->op == FB_WRITE)
		fb_power_note(m, &(struct fb_pending) { .offset_bytes = request->offset_bytes,
							.length_bytes = request->length_bytes,
							.begin_ns = done_ns, .durable_ns = done_ns });
	return done_ns;
}

static u64 pending_parts(const struct fb_params *p)
{
	(void)p;
	return FB_MAX_PARTS;
}

const struct fb_kind_ops fb_kind_null = {
	.check = fb_check_sectors,
	.state_bytes = fb_common_bytes,
	.submit = submit,
	.pending_parts = pending_parts,
};
