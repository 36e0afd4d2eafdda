// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "arith.h"
#include "check.h"
#include "state.h"

/* Page numbers within a die are 32 bits wide, and the tables use three values for "none", "erased" and "stale" */
#define MAX_PAGES_PER_DIE 0xfffffffcull

/* Pages of a block are counted in 16 bits */
#define MAX_PAGES_IN_STEP 65535ull

bool fb_flash_check(const struct fb_params *p, struct fb_complaint *complaint)
{
	return fb_check_power_of_two(complaint, p, FB_PARAM_page_bytes) &&
	       fb_check_range(complaint, p, FB_PARAM_page_bytes, p->sector_bytes, 65536,
			      "at least sector_bytes") &&
	       fb_check_range(complaint, p, FB_PARAM_channels, 1, p->dies,
			      "no more than dies") &&
	       fb_check_range(complaint, p, FB_PARAM_planes, 1, p->blocks_per_die / 4,
			      "at least four blocks in a plane") &&
	       fb_check_range(complaint, p, FB_PARAM_planes, 1, MAX_PAGES_IN_STEP / p->pages_per_block,
			      "the planes' blocks of one number have fewer than 65536 pages") &&
	       fb_check_whole(complaint, p, FB_PARAM_blocks_per_die, p->planes, "must be a multiple of planes") &&
	       fb_check_range(complaint, p, FB_PARAM_blocks_per_die, 4, MAX_PAGES_PER_DIE / p->pages_per_block,
			      "a die has fewer than 2^32 pages") &&
	       fb_ftl(p)->check(p, complaint);
}

static void lay_out(const struct fb_params *p, struct fb_nand_layout *nand, struct fb_ftl_layout *ftl, u64 *end_offset)
{
	*end_offset = 0;
	fb_add_table(end_offset, sizeof(struct fb_medium));
	*nand = fb_nand_layout(p, end_offset);
	*ftl = fb_ftl(p)->layout(p, end_offset);
}

u64 fb_flash_state_bytes(const struct fb_params *p)
{
	struct fb_nand_layout nand;
	struct fb_ftl_layout ftl;
	u64 end_offset;

	lay_out(p, &nand, &ftl, &end_offset);
	return end_offset;
}

void fb_flash_init(struct fb_medium *m)
{
	u64 end_offset;

	lay_out(&m->params, &m->flash.nand.layout, &m->flash.ftl, &end_offset);
	fb_ftl(&m->params)->init(m);
}

/* Structures of 64-bit numbers only */
static bool same(const void *a, const void *b, size_t bytes)
{
	const u64 *left = a;
	const u64 *right = b;
	u32 i;

	for (i = 0; i < bytes / sizeof(u64); i++)
		if (left[i] != right[i])
			return false;
	return true;
}

bool fb_flash_undamaged(const struct fb_medium *m)
{
	struct fb_nand_layout nand;
	struct fb_ftl_layout ftl;
	u64 end_offset;

	lay_out(&m->params, &nand, &ftl, &end_offset);
	return same(&nand, &m->flash.nand.layout, sizeof(nand)) && same(&ftl, &m->flash.ftl, sizeof(ftl));
}

void fb_flash_power_on(struct fb_medium *m)
{
	fb_nand_power_on(m);
}

const char *fb_flash_verify(const struct fb_medium *m)
{
	const char *fault = fb_nand_verify(m);

	return fault ? fault : fb_ftl(&m->params)->verify(m);
}

/* A page that was never written has nothing on flash: controller and link only */
static u64 read_page(struct fb_medium *m, u64 page, u64 bytes, u64 command_done_ns)
{
	return fb_link_take(m, fb_ftl(&m->params)->read(m, page, bytes, command_done_ns), bytes);
}

/*
 * The old content that a part-page write needs can be fetched while the new content is still on the link. The program
 * waits for both.
 */
static u64 write_page(struct fb_medium *m, u64 page, u64 bytes, u64 command_done_ns)
{
	const struct fb_ftl *ftl = fb_ftl(&m->params);
	u64 arrived_ns = fb_link_take(m, command_done_ns, bytes);

	if (bytes < m->params.page_bytes && ftl->mapped(m, page)) {
		arrived_ns = fb_later(arrived_ns, ftl->read(m, page, m->params.page_bytes - bytes, command_done_ns));
		m->counters.flash_modified_pages++;
	}
	return ftl->write(m, page, arrived_ns);
}

/* Pages that are not covered whole stay mapped */
static void discard(struct fb_medium *m, const struct fb_request *request)
{
	u64 first = fb_divide_up(request->offset_bytes, m->params.page_bytes);
	u64 end = (request->offset_bytes + request->length_bytes) / m->params.page_bytes;

	if (first < end)
		fb_ftl(&m->params)->discard(m, first, end);
}

u64 fb_flash_submit(struct fb_medium *m, const struct fb_request *request, u64 command_done_ns)
{
	u64 page_bytes = m->params.page_bytes;
	u64 page = request->offset_bytes / page_bytes;
	u64 skip = request->offset_bytes % page_bytes;
	u64 left = request->length_bytes;
	u64 done_ns = command_done_ns;

	fb_nand_begin_batch(m);
	if (request->op == FB_DISCARD) {
		discard(m, request);
		return command_done_ns;
	}
	while (left) {
		u64 bytes = left < page_bytes - skip ? left : page_bytes - skip;
		u64 page_done_ns = request->op == FB_READ ? read_page(m, page, bytes, command_done_ns) :
							    write_page(m, page, bytes, command_done_ns);

		done_ns = fb_later(done_ns, page_done_ns);
		left -= bytes;
		skip = 0;
		page++;
	}
	return done_ns;
}
