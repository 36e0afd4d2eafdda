// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What the raw chip's tests share: operations on whole pages, with their spare area, and bits that are counted */
#include "chip_support.h"

static struct fb_chip_span whole(const struct fb_params *p, u32 page)
{
	return (struct fb_chip_span) { page, 0, fb_raw_page_bytes(p) };
}

u64 program_page(struct fb_medium *m, u32 page, u64 now_ns)
{
	struct fb_chip_span span = whole(fb_medium_params(m), page);

	return fb_chip_program(m, &span, now_ns);
}

u64 program_page_cached(struct fb_medium *m, u32 page, u64 now_ns)
{
	struct fb_chip_span span = whole(fb_medium_params(m), page);

	return fb_chip_program_cached(m, &span, now_ns);
}

u64 queue_page(struct fb_medium *m, enum fb_chip_op op, u32 page, u64 now_ns)
{
	struct fb_chip_span span = whole(fb_medium_params(m), page);

	return fb_chip_queue(m, op, &span, now_ns);
}

u64 reset_chip(struct fb_medium *m, u64 now_ns)
{
	struct fb_chip_torn torn[FB_CHIP_MAX_TORN];
	u32 count;

	return fb_chip_reset(m, now_ns, torn, &count);
}

u32 ones_in(const u8 *content, u32 bytes)
{
	u32 i, ones = 0;

	for (i = 0; i < bytes; i++)
		ones += __builtin_popcount(content[i]);
	return ones;
}
