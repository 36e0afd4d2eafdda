// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The operations of a raw NAND chip: the array's times, failures, and broken rules */
#include "chip.h"
#include "arith.h"
#include "nand_faults.h"
#include "state.h"

/* A page's program counts: of the page, and of its spare area if that is counted separately */
#define PROGRAMS(count)		((count) & 0xf)
#define SPARE_PROGRAMS(count)	((count) >> 4)
#define MAX_PROGRAMS		0xfu

bool fb_chip_bad_from_factory(const struct fb_medium *m, u32 block)
{
	return block < m->params.blocks_per_die && fb_chip_block(m, block)->flags & FB_BLOCK_FACTORY_BAD;
}

/* The makers' position: the sixth byte of the spare area of small pages, the first of large ones */
u32 fb_chip_bad_mark_column(const struct fb_params *p)
{
	return p->page_bytes + (p->page_bytes == 512 ? 5 : 0);
}

/* --- rules --- */

enum fb_chip_breach fb_chip_breach(const struct fb_medium *m)
{
	return m->chip.breach;
}

u64 fb_chip_breaches(const struct fb_medium *m)
{
	return m->counters.violations;
}

static void breach(struct fb_medium *m, enum fb_chip_breach which)
{
	m->chip.breach = which;
	m->counters.violations++;
}

/* Returns FB_NEVER. Nothing is carried out, and queued planes are dropped. */
static u64 refuse(struct fb_medium *m, enum fb_chip_breach which)
{
	breach(m, which);
	m->chip.queued.planes = 0;
	return FB_NEVER;
}

/* The time at which the chip starts an operation issued at now_ns */
static u64 take_up(struct fb_medium *m, u64 now_ns)
{
	m->chip.breach = FB_CHIP_KEPT;
	m->now_ns = fb_max(m->now_ns, now_ns);
	if (now_ns >= m->chip.ready_ns)
		return now_ns;
	breach(m, FB_CHIP_BUSY);
	return m->chip.ready_ns;
}

static bool within(const struct fb_medium *m, const struct fb_chip_span *span)
{
	u64 end = fb_raw_page_bytes(&m->params);

	return span->page < fb_chip_pages(&m->params) && span->column <= end && span->bytes <= end - span->column;
}

/* True if the span joins the queued planes: the same operation and page number, in a block of another plane */
static bool fits_the_others(const struct fb_medium *m, enum fb_chip_op op, const struct fb_chip_span *span)
{
	const struct fb_chip_work *queued = &m->chip.queued;
	u32 pages = m->params.pages_per_block, planes = m->params.planes;
	u32 i;

	if (!queued->planes)
		return true;
	if (queued->op != op || queued->planes == planes)
		return false;
	for (i = 0; i < queued->planes; i++) {
		if (span->page / pages % planes == queued->span[i].page / pages % planes)
			return false;
		if (op != FB_CHIP_ERASE && span->page % pages != queued->span[i].page % pages)
			return false;
	}
	return true;
}

/* --- the array --- */

u32 fb_chip_page_kind(const struct fb_params *p, u32 page)
{
	return page % (u32)p->pages_per_block % (u32)p->bits_per_cell;
}

static u64 by_page(const struct fb_params *p, u32 page, u64 lower_ns, u64 middle_ns, u64 upper_ns)
{
	u32 kind = fb_chip_page_kind(p, page);

	if (kind && kind == p->bits_per_cell - 1)
		return upper_ns ? upper_ns : lower_ns;
	return kind && middle_ns ? middle_ns : lower_ns;
}

static u64 array_ns(const struct fb_params *p, enum fb_chip_op op, u32 page)
{
	if (op == FB_CHIP_READ)
		return by_page(p, page, p->read_ns, p->read_middle_ns, p->read_upper_ns);
	if (op == FB_CHIP_PROGRAM)
		return by_page(p, page, p->program_ns, p->program_middle_ns, p->program_upper_ns);
	return p->erase_ns;
}

static u32 age_hours(const struct fb_medium *m)
{
	return fb_age_ns(m) / FB_HOUR_NS;
}

/* Increments a program count, saturating at its maximum */
static u32 once_more(u32 count)
{
	return count < MAX_PROGRAMS ? count + 1 : count;
}

/* Counts the programs of a page as the data sheet does, and checks its rules */
static void count_program(struct fb_medium *m, const struct fb_chip_span *span)
{
	const struct fb_params *p = &m->params;
	u32 row = span->page % (u32)p->pages_per_block;
	struct fb_nand_block *block = fb_chip_block(m, span->page / (u32)p->pages_per_block);
	u8 *count = fb_chip_programs(m, span->page);
	u32 main = PROGRAMS(*count), spare = SPARE_PROGRAMS(*count);
	bool in_main = !p->spare_partial_programs || span->column < p->page_bytes;
	/* A program of no bytes counts too, where it points */
	bool in_spare = p->spare_partial_programs &&
			(span->column >= p->page_bytes || span->column + span->bytes > p->page_bytes);

	if ((in_main && main >= p->partial_programs) || (in_spare && spare >= p->spare_partial_programs))
		breach(m, FB_CHIP_TOO_OFTEN);
	else if (p->in_order_pages && !*count && row < block->programmed_pages)
		breach(m, FB_CHIP_OUT_OF_ORDER);
	main = in_main ? once_more(main) : main;
	spare = in_spare ? once_more(spare) : spare;
	*count = main | spare << 4;
	if (row >= block->programmed_pages)
		block->programmed_pages = row + 1;
}

static bool program_page(struct fb_medium *m, const struct fb_chip_span *span)
{
	u32 number = span->page / (u32)m->params.pages_per_block;
	struct fb_nand_block *block = fb_chip_block(m, number);
	struct fb_fault_spot spot = { 0, span->page, block->erase_count };
	bool fails = block->flags & FB_BLOCK_BAD || fb_faults_program_fails(&m->params, &spot);

	count_program(m, span);
	fb_chip_past(m, number)->programmed_hours = age_hours(m);
	m->counters.flash_programmed_pages++;
	m->counters.spare_programmed_pages += span->column >= m->params.page_bytes;
	if (!fails)
		return true;
	m->counters.program_failures++;
	if (!(block->flags & FB_BLOCK_FACTORY_BAD))
		block->flags |= FB_BLOCK_GROWN_BAD;
	return false;
}

static bool erase_block(struct fb_medium *m, u32 number)
{
	struct fb_nand_block *block = fb_chip_block(m, number);
	struct fb_fault_spot spot = { 0, number, block->erase_count };
	bool fails = block->flags & FB_BLOCK_BAD || fb_faults_erase_fails(&m->params, &spot);
	u32 row;

	for (row = 0; row < block->programmed_pages; row++)
		*fb_chip_programs(m, number * (u32)m->params.pages_per_block + row) = 0;
	block->programmed_pages = 0;
	fb_chip_past(m, number)->reads = 0;
	block->erase_count++;
	m->counters.flash_erased_blocks++;
	if (!fails)
		return true;
	m->counters.erase_failures++;
	if (!(block->flags & FB_BLOCK_FACTORY_BAD))
		block->flags |= FB_BLOCK_GROWN_BAD;
	return false;
}

static void read_page(struct fb_medium *m, u32 page)
{
	if (m->params.read_bit_error_ppt)
		fb_chip_past(m, page / (u32)m->params.pages_per_block)->reads++;
	m->counters.flash_read_pages++;
}

static bool carry_out(struct fb_medium *m, enum fb_chip_op op, const struct fb_chip_span *span)
{
	if (op == FB_CHIP_PROGRAM)
		return program_page(m, span);
	if (op == FB_CHIP_ERASE)
		return erase_block(m, span->page / (u32)m->params.pages_per_block);
	read_page(m, span->page);
	return true;
}

static void count_time(struct fb_counters *counters, enum fb_chip_op op, u64 length_ns)
{
	if (op == FB_CHIP_READ)
		counters->flash_read_ns += length_ns;
	else if (op == FB_CHIP_PROGRAM)
		counters->flash_program_ns += length_ns;
	else
		counters->flash_erase_ns += length_ns;
}

/* Starts the queued operation on the array at begin_ns; returns its end */
static u64 begin(struct fb_medium *m, u64 begin_ns)
{
	struct fb_chip *chip = &m->chip;
	u64 length_ns = array_ns(&m->params, chip->queued.op, chip->queued.span[0].page);
	bool failed = false;
	u32 i;

	for (i = 0; i < chip->queued.planes; i++)
		failed |= !carry_out(m, chip->queued.op, &chip->queued.span[i]);
	count_time(&m->counters, chip->queued.op, length_ns);
	if (chip->queued.op != FB_CHIP_READ)
		chip->failed = (chip->failed << 1 & 2) | failed;
	chip->loaded = chip->queued.op == FB_CHIP_READ ? 1 + (u64)chip->queued.span[0].page : 0;
	chip->queued.begin_ns = begin_ns;
	chip->queued.end_ns = begin_ns + length_ns;
	chip->work[1] = chip->work[0];
	chip->work[0] = chip->queued;
	chip->queued.planes = 0;
	chip->array_free_ns = begin_ns + length_ns;
	return chip->array_free_ns;
}

static void add(struct fb_chip_work *queued, enum fb_chip_op op, const struct fb_chip_span *span)
{
	queued->op = op;
	queued->span[queued->planes++] = *span;
}

/* Issues the last or only plane; waits for the array */
static u64 operate(struct fb_medium *m, enum fb_chip_op op, const struct fb_chip_span *span, u64 now_ns)
{
	u64 begin_ns = take_up(m, now_ns);

	if (!within(m, span))
		return refuse(m, FB_CHIP_OUT_OF_RANGE);
	if (!fits_the_others(m, op, span))
		return refuse(m, FB_CHIP_NOT_TOGETHER);
	add(&m->chip.queued, op, span);
	m->chip.ready_ns = begin(m, fb_max(begin_ns, m->chip.array_free_ns));
	return m->chip.ready_ns;
}

u64 fb_chip_queue(struct fb_medium *m, enum fb_chip_op op, const struct fb_chip_span *span, u64 now_ns)
{
	u64 begin_ns = take_up(m, now_ns);

	if (!within(m, span))
		return refuse(m, FB_CHIP_OUT_OF_RANGE);
	if (m->chip.queued.planes + 1 >= m->params.planes || !fits_the_others(m, op, span))
		return refuse(m, FB_CHIP_NOT_TOGETHER);
	add(&m->chip.queued, op, span);
	m->chip.ready_ns = begin_ns + m->params.plane_busy_ns;
	return m->chip.ready_ns;
}

u64 fb_chip_read(struct fb_medium *m, u32 page, u64 now_ns)
{
	struct fb_chip_span span = { page, 0, 0 };

	return operate(m, FB_CHIP_READ, &span, now_ns);
}

/* The array reads the whole page; only the caller knows that it wants no data */
u64 fb_chip_read_spare(struct fb_medium *m, u32 page, u64 now_ns)
{
	u64 ready_ns = fb_chip_read(m, page, now_ns);

	m->counters.spare_read_pages += ready_ns != FB_NEVER;
	return ready_ns;
}

/* Moves the page that is being sensed to the cache register; then the array may sense the next */
u64 fb_chip_read_cached(struct fb_medium *m, bool last, u64 now_ns)
{
	struct fb_chip *chip = &m->chip;
	u64 begin_ns = take_up(m, now_ns);
	u32 i;

	if (!m->params.cache_operations || !chip->loaded || chip->queued.planes)
		return refuse(m, FB_CHIP_NOT_OFFERED);
	if (!last && chip->loaded % m->params.pages_per_block == 0)
		return refuse(m, FB_CHIP_OUT_OF_RANGE);
	chip->ready_ns = fb_max(begin_ns, chip->array_free_ns) + m->params.cache_busy_ns;
	if (last) {
		chip->loaded = 0;
		return chip->ready_ns;
	}
	chip->queued = chip->work[0];
	for (i = 0; i < chip->queued.planes; i++)
		chip->queued.span[i].page++;
	begin(m, chip->ready_ns);
	return chip->ready_ns;
}

u64 fb_chip_program(struct fb_medium *m, const struct fb_chip_span *span, u64 now_ns)
{
	return operate(m, FB_CHIP_PROGRAM, span, now_ns);
}

u64 fb_chip_program_cached(struct fb_medium *m, const struct fb_chip_span *span, u64 now_ns)
{
	u64 array_was_free_ns = m->chip.array_free_ns;
	u64 begin_ns;

	if (!m->params.cache_operations) {
		take_up(m, now_ns);
		return refuse(m, FB_CHIP_NOT_OFFERED);
	}
	begin_ns = fb_max(fb_max(now_ns, m->chip.ready_ns), array_was_free_ns) + m->params.cache_busy_ns;
	if (operate(m, FB_CHIP_PROGRAM, span, now_ns) == FB_NEVER)
		return FB_NEVER;
	m->chip.work[0].end_ns += begin_ns - m->chip.work[0].begin_ns;
	m->chip.work[0].begin_ns = begin_ns;
	m->chip.array_free_ns = m->chip.work[0].end_ns;
	m->chip.ready_ns = begin_ns;
	return begin_ns;
}

u64 fb_chip_erase(struct fb_medium *m, u32 block, u64 now_ns)
{
	/* A block beyond the last has no page either */
	struct fb_chip_span span = { block < m->params.blocks_per_die ? block * (u32)m->params.pages_per_block :
									FB_CHIP_NO_PAGE, 0, 0 };

	return operate(m, FB_CHIP_ERASE, &span, now_ns);
}

/* --- queries of the driver --- */

struct fb_chip_status fb_chip_status(const struct fb_medium *m, u64 now_ns)
{
	return (struct fb_chip_status) {
		.ready = now_ns >= m->chip.ready_ns,
		.array_ready = now_ns >= m->chip.ready_ns && now_ns >= m->chip.array_free_ns,
		.failed = m->chip.failed & 1,
		.failed_before = m->chip.failed & 2,
	};
}

u32 fb_chip_flips(struct fb_medium *m, u32 page, u32 *positions, u32 max)
{
	u32 block = page / (u32)m->params.pages_per_block, count;
	struct fb_fault_spot spot = { .ppn = page };

	if (!m->params.ecc_bits || page >= fb_chip_pages(&m->params) || !*fb_chip_programs(m, page))
		return 0;
	spot.erase_count = fb_chip_block(m, block)->erase_count;
	count = fb_min(fb_faults_wrong_bits(&m->params, &spot, fb_chip_past(m, block), age_hours(m)), max);
	fb_faults_positions(&m->params, &spot, positions, count);
	m->counters.wrong_bits += count;
	return count;
}
