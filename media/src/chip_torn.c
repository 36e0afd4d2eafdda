// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What is left of a raw chip's pages when a power cut or a reset interrupts a program or an erase */
#include "chip.h"
#include "arith.h"
#include "random.h"
#include "state.h"

#define WHOLE 1024u

static u32 done_of(const struct fb_chip_work *work, u64 cut_ns)
{
	if (cut_ns <= work->begin_ns)
		return 0;
	return (cut_ns - work->begin_ns) * WHOLE / (work->end_ns - work->begin_ns);
}

/* Reports the pages that share cells with a torn page and were programmed before it */
static u32 tell_neighbours(const struct fb_medium *m, const struct fb_chip_torn *of, struct fb_chip_torn *torn)
{
	u32 lower = fb_chip_page_kind(&m->params, of->span.page);
	u32 count = 0;

	if (!m->params.paired_page_loss)
		return 0;
	for (; lower; lower--) {
		u32 page = of->span.page - lower;

		if (!*fb_chip_programs(m, page))
			continue;
		torn[count++] = (struct fb_chip_torn) { FB_CHIP_READ, of->done,
							{ page, 0, fb_raw_page_bytes(&m->params) } };
	}
	return count;
}

/* Fills a half-erased block, so that no page of it may be programmed */
static void fill_block(struct fb_medium *m, u32 number)
{
	u32 row;

	for (row = 0; row < m->params.pages_per_block; row++)
		*fb_chip_programs(m, number * (u32)m->params.pages_per_block + row) = 0x11;
	fb_chip_block(m, number)->programmed_pages = m->params.pages_per_block;
}

static u32 tear_work(struct fb_medium *m, const struct fb_chip_work *work, u64 cut_ns, struct fb_chip_torn *torn)
{
	u32 count = 0, i;

	if (work->op == FB_CHIP_READ || work->end_ns <= cut_ns)
		return 0;
	for (i = 0; i < work->planes; i++) {
		struct fb_chip_torn *one = &torn[count++];

		*one = (struct fb_chip_torn) { work->op, done_of(work, cut_ns), work->span[i] };
		if (work->op == FB_CHIP_ERASE)
			fill_block(m, one->span.page / (u32)m->params.pages_per_block);
		else if (one->done)
			count += tell_neighbours(m, one, torn + count);
	}
	return count;
}

static u32 tear_all(struct fb_medium *m, u64 cut_ns, struct fb_chip_torn *torn)
{
	u32 count = tear_work(m, &m->chip.work[1], cut_ns, torn);

	count += tear_work(m, &m->chip.work[0], cut_ns, torn + count);
	m->chip.work[0].planes = 0;
	m->chip.work[1].planes = 0;
	m->now_ns = fb_max(m->now_ns, cut_ns);
	return count;
}

u32 fb_chip_cut(struct fb_medium *m, u64 cut_ns, struct fb_chip_torn *torn)
{
	m->power.cut = 1;
	return tear_all(m, cut_ns, torn);
}

u64 fb_chip_reset(struct fb_medium *m, u64 now_ns, struct fb_chip_torn *torn, u32 *count)
{
	*count = tear_all(m, now_ns, torn);
	m->chip.breach = FB_CHIP_KEPT;
	m->chip.queued.planes = 0;
	m->chip.loaded = 0;
	m->chip.failed = 0;
	m->chip.array_free_ns = now_ns;
	m->chip.ready_ns = now_ns + m->params.reset_ns;
	return m->chip.ready_ns;
}

/* Noise: each bit is set with probability `set` / 1024 */
static u8 noise(u64 *state, u32 set)
{
	u8 byte = 0;
	u32 bit;

	for (bit = 0; bit < 8; bit++)
		byte |= (fb_splitmix(state) % WHOLE < set) << bit;
	return byte;
}

/*
 * A program clears bits and an erase sets them; the longer it ran, the more. A bit that is clear before a program stays
 * clear. An erased bit stays erased, and so does a bad-block mark of 0xff. The cells of a torn neighbour are noise:
 * half of the bits are set.
 */
static u8 torn_byte(const struct fb_chip_torn *torn, const u8 *before, u8 byte, u64 *state)
{
	switch (torn->op) {
	case FB_CHIP_PROGRAM:
		return *before & (byte | noise(state, WHOLE - torn->done));
	case FB_CHIP_ERASE:
		return byte | noise(state, torn->done);
	default:
		return noise(state, WHOLE / 2);
	}
}

void fb_chip_tear(const struct fb_params *p, const struct fb_chip_torn *torn, u32 page, u64 seed, const u8 *before,
		  u8 *content)
{
	u64 state = fb_mix(seed ^ fb_mix(page + FB_SPLITMIX_STEP));
	u32 from = torn->op == FB_CHIP_ERASE ? 0 : torn->span.column;
	u32 bytes = torn->op == FB_CHIP_ERASE ? fb_raw_page_bytes(p) : torn->span.bytes;
	u32 i;

	for (i = from; i < from + bytes; i++)
		content[i] = torn_byte(torn, before + i, content[i], &state);
}
