// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A flash device as a kind of medium: cuts requests into pages and takes them through controller, link and buffers */
#include "arith.h"
#include "array.h"
#include "check.h"
#include "kind.h"
#include "nand_faults.h"
#include "nand_health.h"
#include "state.h"

/* Page numbers within a die have 32 bits, and the tables reserve three values for "none", "erased" and "stale" */
#define MAX_PAGES_PER_DIE 0xfffffffcull

/* The page count of a block has 16 bits */
#define MAX_PAGES_IN_STEP 65535ull

static bool check(const struct fb_params *p, struct fb_complaint *complaint)
{
	return fb_check_sectors(p, complaint) &&
	       fb_check_power_of_two(complaint, p, FB_PARAM_page_bytes) &&
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
	       fb_faults_check(p, complaint) &&
	       fb_check_range(complaint, p, FB_PARAM_suspend_ns, 0, p->cache_operations ? FB_MAX_NS : 0,
			      "0 without cache_operations: a second register holds the page that waits") &&
	       fb_check_range(complaint, p, FB_PARAM_power_loss_protection, 0, p->flush_units ? 0 : 1,
			      "0 with flush_units: nothing is flushed") &&
	       fb_health_check(p, complaint) &&
	       fb_ftl(p)->check(p, complaint);
}

/* Lays out the array; `other` is NULL for the model */
static struct fb_nand_layout array_layout(const struct fb_params *p, const struct fb_array *other, u64 *end_offset)
{
	struct fb_nand_layout layout;

	if (!other)
		return fb_nand_layout(p, end_offset);
	layout = other->layout(p, end_offset);
	layout.special = FB_OTHER_ARRAY;
	layout.other = other;
	return layout;
}

/* Derives the layout from the parameters; it follows the part that every medium has */
static u64 lay_out(const struct fb_params *p, const struct fb_array *other, struct fb_flash *flash)
{
	u64 end_offset = fb_common_bytes(p);

	flash->nand.layout = array_layout(p, other, &end_offset);
	flash->ftl = fb_ftl(p)->layout(p, &end_offset);
	fb_buffer_lay_out(p, &flash->buffer, &end_offset);
	fb_read_ahead_lay_out(p, &flash->ahead, &end_offset);
	return end_offset;
}

static u64 state_bytes(const struct fb_params *p)
{
	struct fb_flash flash = { 0 };

	return lay_out(p, NULL, &flash);
}

size_t fb_array_state_bytes(const struct fb_params *p, const struct fb_array *array)
{
	struct fb_complaint complaint;
	struct fb_flash flash = { 0 };

	return fb_check_params(p, &complaint) ? lay_out(p, array, &flash) : 0;
}

static void init(struct fb_medium *m)
{
	lay_out(&m->params, NULL, &m->flash);
	fb_health_init(m);
	fb_ftl(&m->params)->init(m);
}

enum fb_error fb_array_init(void *memory, size_t bytes, const struct fb_params *p, const struct fb_array *array)
{
	size_t state_bytes = fb_array_state_bytes(p, array);
	struct fb_medium *m = memory;

	if (!state_bytes)
		return FB_BAD_PARAMETER;
	if (bytes < state_bytes)
		return FB_TRUNCATED;
	fb_begin_state(m, p, state_bytes);
	lay_out(&m->params, array, &m->flash);
	fb_ftl(&m->params)->init(m);
	return FB_OK;
}

/* Compares structures of 64-bit numbers only */
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

static bool undamaged(const struct fb_medium *m)
{
	struct fb_flash expected = { 0 };

	lay_out(&m->params, NULL, &expected);
	return same(&expected.nand.layout, &m->flash.nand.layout, sizeof(expected.nand.layout)) &&
	       same(&expected.ftl, &m->flash.ftl, sizeof(expected.ftl)) &&
	       expected.buffer.offset == m->flash.buffer.offset && expected.buffer.pages == m->flash.buffer.pages &&
	       same(&expected.buffer.by_pages, &m->flash.buffer.by_pages, sizeof(expected.buffer.by_pages)) &&
	       expected.ahead.offset == m->flash.ahead.offset && expected.ahead.pages == m->flash.ahead.pages;
}

static void power_on(struct fb_medium *m)
{
	u32 i;

	m->flash.unlogged = 0;
	for (i = 0; i < FB_MAX_LANES; i++)
		m->flash.lane_free_ns[i] = m->flash.write_lane_free_ns[i] = 0;
	fb_nand_power_on(m);
	fb_buffer_power_on(m);
	fb_read_ahead_power_on(m);
	if (fb_ftl(&m->params)->power_on)
		fb_ftl(&m->params)->power_on(m);
}

/*
 * Takes the first free lane of the controller; returns the time at which the request has passed it. Firmware handles a
 * write by updating its buffer and map, but must find and await a read. Writes may therefore have cores of their own.
 */
static u64 take_lane(struct fb_medium *m, enum fb_op op)
{
	const struct fb_params *p = &m->params;
	bool apart = op == FB_WRITE && p->write_lanes;
	u64 command_ns = op == FB_WRITE && p->write_command_ns ? p->write_command_ns : p->command_ns;
	u64 lanes = apart ? p->write_lanes : p->controller_lanes;
	u64 *lane = apart ? m->flash.write_lane_free_ns : m->flash.lane_free_ns;
	u64 *first = lane;
	u64 ready_ns = fb_max(m->now_ns, m->controller_free_ns);
	u32 i;

	for (i = 1; i < lanes; i++)
		if (lane[i] < *first)
			first = &lane[i];
	m->counters.controller_ns += command_ns;
	*first = fb_max(ready_ns, *first) + command_ns;
	return *first;
}

/*
 * The layer scans the dies and erases half-erased blocks again. A die erases one block at a time; all dies work in
 * parallel.
 */
static u64 restart(struct fb_medium *m)
{
	u64 took_ns = fb_nand_scan(m, fb_ftl(&m->params)->scan_pages(m));
	u32 i;

	if (m->power.half_erased)
		took_ns += m->params.erase_ns;
	for (i = 0; i < FB_MAX_LANES; i++)
		m->flash.lane_free_ns[i] = m->flash.write_lane_free_ns[i] = took_ns;
	return took_ns;
}

static const char *verify(const struct fb_medium *m)
{
	const char *fault = fb_nand_verify(m);

	if (!fault)
		fault = fb_health_verify(m);
	if (!fault)
		fault = fb_read_ahead_verify(m);
	return fault ? fault : fb_ftl(&m->params)->verify(m);
}

/* Reads from a buffer or from flash, or returns at once if the page was never written; then transfers over the link */
static u64 read_page(struct fb_medium *m, u64 page, u64 bytes, u64 command_done_ns)
{
	const struct fb_fetched *fetched;
	u64 flash_done_ns;

	if (fb_buffer_holds(m, page)) {
		m->counters.buffer_read_pages++;
		return fb_link_take(m, command_done_ns, bytes);
	}
	fetched = fb_read_ahead_find(m, page);
	if (fetched) {
		m->counters.read_ahead_hits++;
		if (fetched->failed)
			m->outcome = FB_UNCORRECTABLE;
		return fb_link_take(m, fb_max(command_done_ns, fetched->there_ns), bytes);
	}
	m->flash.nand.read_failed = 0;
	flash_done_ns = fb_ftl(&m->params)->read(m, page, bytes, command_done_ns);
	if (m->flash.nand.read_failed)
		m->outcome = FB_UNCORRECTABLE;
	return fb_link_take(m, flash_done_ns, bytes);
}

/* Notes the written part of the page programmed last. The rest of the page is safe at its old place. */
static void note_pending(struct fb_medium *m, u64 offset_bytes, u64 length_bytes)
{
	const struct fb_programming *last = &m->flash.nand.last;
	struct fb_pending part = {
		.offset_bytes = offset_bytes,
		.length_bytes = length_bytes,
		.begin_ns = last->begin_ns,
		.durable_ns = last->end_ns,
		.die = last->die,
		.page_kind = last->page_kind,
		.ppn = last->ppn,
	};
	u64 *row_part = fb_nand_row_part(m);

	if (last->joined)
		fb_power_note_joint(m, &part, *row_part);
	else
		fb_power_note(m, &part);
	if (row_part)
		*row_part = fb_next_sequence(m);
}

/*
 * Fetches the old content for a part-page write, possibly while the new content is still on the link. The program waits
 * for both. If the old content is uncorrectable, all of the page but the written part is lost.
 */
static u64 fetch_rest(struct fb_medium *m, u64 page, u64 skip, u64 bytes, u64 ready_ns)
{
	const struct fb_ftl *ftl = fb_ftl(&m->params);
	u64 page_bytes = m->params.page_bytes;

	if (bytes == page_bytes || !ftl->mapped(m, page) || fb_buffer_holds(m, page))
		return ready_ns;
	m->counters.flash_modified_pages++;
	m->flash.nand.read_failed = 0;
	ready_ns = ftl->read(m, page, page_bytes - bytes, ready_ns);
	if (m->flash.nand.read_failed) {
		fb_power_lose(m, page * page_bytes, skip);
		fb_power_lose(m, page * page_bytes + skip + bytes, page_bytes - skip - bytes);
	}
	return ready_ns;
}

static u64 write_page(struct fb_medium *m, u64 page, u64 skip, u64 bytes, bool through, u64 command_done_ns)
{
	u64 room_ns = fb_buffer_room_ns(m, command_done_ns);
	u64 arrived_ns = fb_link_take(m, room_ns, bytes);
	u64 ready_ns = fb_max(arrived_ns, fetch_rest(m, page, skip, bytes, command_done_ns));
	u64 programmed_ns = fb_ftl(&m->params)->write(m, page, ready_ns);
	u64 done_ns = fb_buffer_put(m, page, arrived_ns, programmed_ns);

	note_pending(m, page * m->params.page_bytes + skip, bytes);
	fb_read_ahead_forget(m, page, page + 1);
	m->counters.buffer_wait_ns += room_ns - command_done_ns;
	m->durable_ns = fb_max(m->durable_ns, programmed_ns);
	return through ? programmed_ns : done_ns;
}

/* Partly covered pages stay mapped. Traces may hold discards for devices without discard. */
static void discard(struct fb_medium *m, const struct fb_request *request)
{
	u64 first = fb_div_round_up(request->offset_bytes, m->params.page_bytes);
	u64 end = (request->offset_bytes + request->length_bytes) / m->params.page_bytes;

	if (first >= end || !m->params.discard)
		return;
	fb_ftl(&m->params)->discard(m, first, end);
	fb_read_ahead_forget(m, first, end);
}

/*
 * Flushes a write buffer: its pages go to flash, so their rows are padded. A restart finds them only if the map's
 * journal is on flash too. The journal's units go to the dies in turn, each after the one before it.
 */
static u64 write_log(struct fb_medium *m, u64 ready_ns)
{
	u64 i;

	if (!m->flash.unlogged)
		return ready_ns;
	m->flash.unlogged = 0;
	if (m->flash.buffer.pages && m->params.planes > 1 && fb_ftl(&m->params)->pad)
		fb_ftl(&m->params)->pad(m);
	for (i = 0; i < m->params.flush_units; i++) {
		ready_ns = fb_nand_program_log(m, m->flash.log_die, ready_ns);
		m->flash.log_die = m->flash.log_die + 1 < m->params.dies ? m->flash.log_die + 1 : 0;
	}
	return ready_ns;
}

static u64 flush(struct fb_medium *m, u64 command_done_ns)
{
	if (m->params.flush_ignored || m->params.power_loss_protection)
		return command_done_ns;
	fb_nand_acknowledge(m);
	return write_log(m, fb_max(command_done_ns, m->durable_ns));
}

static void prefetch(const struct fb_medium *m, const struct fb_request *request, u32 step)
{
	if (fb_ftl(&m->params)->prefetch)
		fb_ftl(&m->params)->prefetch(m, request->offset_bytes >> m->flash.nand.layout.page_shift, step);
}

static u64 submit(struct fb_medium *m, const struct fb_request *request)
{
	u64 command_done_ns = take_lane(m, request->op);
	u64 page_bytes = m->params.page_bytes;
	u64 page = request->offset_bytes >> m->flash.nand.layout.page_shift;
	u64 skip = request->offset_bytes & (page_bytes - 1);
	u64 left = request->length_bytes;
	u64 done_ns = command_done_ns;
	bool through = request->fua && !m->params.flush_ignored && !m->params.power_loss_protection;

	if (m->flash.ahead.pages)
		fb_read_ahead_catch_up(m, request);
	if (request->op == FB_FLUSH)
		return flush(m, command_done_ns);
	if (m->flash.nand.worn_out && request->op != FB_READ) {
		m->outcome = FB_READ_ONLY;
		m->counters.refused_writes++;
		return command_done_ns;
	}
	fb_nand_begin_batch(m);
	m->flash.write_bytes = request->op == FB_WRITE ? request->length_bytes : 0;
	if (request->op == FB_DISCARD) {
		discard(m, request);
		return command_done_ns;
	}
	while (left) {
		u64 bytes = left < page_bytes - skip ? left : page_bytes - skip;
		u64 page_done_ns = request->op == FB_READ ? read_page(m, page, bytes, command_done_ns) :
							    write_page(m, page, skip, bytes, through, command_done_ns);

		done_ns = fb_max(done_ns, page_done_ns);
		left -= bytes;
		skip = 0;
		page++;
	}
	if (request->op == FB_WRITE)
		m->flash.unlogged = 1;
	if (through) {
		fb_nand_acknowledge(m);
		done_ns = write_log(m, done_ns);
	}
	if (request->op == FB_READ && m->flash.ahead.pages)
		fb_read_ahead_note(m, request, done_ns);
	return done_ns;
}

static u64 rest(struct fb_medium *m)
{
	return fb_ftl(&m->params)->rest ? fb_ftl(&m->params)->rest(m) : m->now_ns;
}

static u64 blocks(const struct fb_medium *m)
{
	return m->params.dies * m->flash.nand.layout.blocks_per_die;
}

static u32 block_erases(const struct fb_medium *m, u64 block)
{
	return fb_nand_block(&m->flash.nand, 0, block)->erase_count;
}

/* A small device has fewer, so that the ring of parts stays small compared with its tables */
static u64 pending_parts(const struct fb_params *p)
{
	u64 parts = fb_min(FB_MAX_PARTS, p->capacity_bytes / p->page_bytes / FB_PAGES_PER_PART);

	return fb_max(parts, FB_FEWEST_PARTS) + p->write_buffer_bytes / p->page_bytes;
}

static u64 parts_of(const struct fb_medium *m, u64 length_bytes)
{
	return (length_bytes >> m->flash.nand.layout.page_shift) + 2;
}

const struct fb_kind_ops fb_kind_flash = {
	.check = check,
	.state_bytes = state_bytes,
	.init = init,
	.undamaged = undamaged,
	.verify = verify,
	.power_on = power_on,
	.restart = restart,
	.submit = submit,
	.prefetch = prefetch,
	.rest = rest,
	.read_only = fb_health_read_only,
	.wear = fb_nand_wear,
	.blocks = blocks,
	.block_erases = block_erases,
	.volatile_cache = FB_PARAM_write_buffer_bytes,
	.pending_parts = pending_parts,
	.parts_of = parts_of,
	.tear = fb_tear_page,
};
