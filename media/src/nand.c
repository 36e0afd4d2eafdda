// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The model of dies and channels: the begin and end of operations on flash pages, and the chip's rules */
#include "arith.h"
#include "nand_health.h"
#include "state.h"

struct fb_nand_layout fb_nand_layout(const struct fb_params *p, u64 *end_offset)
{
	struct fb_nand_layout layout = fb_nand_geometry(p);

	layout.dies_offset = fb_add_table(end_offset, p->dies * sizeof(struct fb_die));
	layout.channels_offset = fb_add_table(end_offset, p->channels * sizeof(struct fb_timeline));
	layout.blocks_offset = fb_add_table(end_offset,
					    p->dies * layout.blocks_per_die * sizeof(struct fb_nand_block));
	if (p->ecc_bits)
		layout.pasts_offset = fb_add_table(end_offset,
						   p->dies * layout.blocks_per_die * sizeof(struct fb_nand_past));
	layout.special = p->ecc_bits || p->suspend_ns ? FB_SPECIAL_DIES : 0;
	layout.reserves_offset = fb_health_layout(p, end_offset);
	return layout;
}

static struct fb_die *die_of(const struct fb_nand *nand, u32 die)
{
	return (struct fb_die *)fb_nand_table(nand, nand->layout.dies_offset) + die;
}

static struct fb_timeline *channel_of(const struct fb_nand *nand, u32 die)
{
	return (struct fb_timeline *)fb_nand_table(nand, nand->layout.channels_offset) +
	       fb_remainder(&nand->layout.by_channels, die);
}

void fb_nand_power_on(struct fb_medium *m)
{
	u32 i;

	for (i = 0; i < m->params.dies; i++)
		*die_of(&m->flash.nand, i) = (struct fb_die) { .last_joint = FB_NO_JOINT, .last_program = FB_NO_JOINT };
	for (i = 0; i < m->params.channels; i++)
		channel_of(&m->flash.nand, i)->count = 0;
}

void fb_nand_begin_batch(struct fb_medium *m)
{
	m->flash.nand.batch++;
}

/* Callers hold the die's register throughout, so a die with a channel of its own needs no search for a gap */
static u64 bus_take(struct fb_medium *m, u32 die, u64 ready_ns, u64 bytes)
{
	u64 length_ns = fb_transfer_ns(bytes, m->params.bus_ps_per_byte);

	m->counters.flash_bus_ns += length_ns;
	if (m->params.dies == m->params.channels)
		return ready_ns + length_ns;
	return fb_timeline_take(channel_of(&m->flash.nand, die), m->now_ns, ready_ns, length_ns);
}

static bool in_slc_mode(const struct fb_medium *m, u32 die, u32 ppn)
{
	return m->params.slc_cache_bytes && fb_nand_block_of(&m->flash.nand, die, ppn)->flags & FB_BLOCK_SLC;
}

u32 fb_nand_page_kind(const struct fb_medium *m, u32 die, u32 ppn)
{
	const struct fb_params *p = &m->params;

	if (p->bits_per_cell == 1 || in_slc_mode(m, die, ppn))
		return 0;
	return ppn / (u32)p->planes % (u32)p->pages_per_block % (u32)p->bits_per_cell;
}

/* Operation times by page kind; zero stands for the lower page's */
struct page_times {
	u64 slc_ns;
	u64 lower_ns;
	u64 middle_ns;
	u64 upper_ns;
};

static u64 of_several_bits(const struct fb_medium *m, u32 die, u32 ppn, const struct page_times *times)
{
	u32 bits = m->params.bits_per_cell;
	u64 ns = times->lower_ns;
	u32 kind = fb_nand_page_kind(m, die, ppn);

	if (kind)
		ns = kind == bits - 1 ? times->upper_ns : times->middle_ns;
	else if (in_slc_mode(m, die, ppn))
		ns = times->slc_ns;
	return ns ? ns : times->lower_ns;
}

/* Most media have one bit a cell and one plane; the rest stays out of line */
static inline u64 by_page(const struct fb_medium *m, u32 die, u32 ppn, const struct page_times *times)
{
	return m->params.bits_per_cell == 1 ? times->lower_ns : of_several_bits(m, die, ppn, times);
}

static u64 begin_of(const struct fb_joint_program *joint)
{
	return fb_max(joint->loaded_ns, joint->array_was_free_ns);
}

static u32 row_of(const struct fb_medium *m, u32 ppn)
{
	return fb_quotient(&m->flash.nand.layout.by_planes, ppn);
}

static u32 plane_of(const struct fb_medium *m, u32 ppn, u32 row)
{
	return 1u << (ppn - row * (u32)m->params.planes);
}

/* Joins a read of the same batch. False: the read is separate, and others may join it from now on. */
static bool read_joins(struct fb_medium *m, struct fb_die *d, u32 ppn)
{
	struct fb_joint_read *joint = &d->joint_read;
	u32 row = row_of(m, ppn);
	u32 plane = plane_of(m, ppn, row);

	if (joint->planes && joint->row == row && joint->batch == m->flash.nand.batch && !(joint->planes & plane)) {
		joint->planes |= plane;
		return true;
	}
	*joint = (struct fb_joint_read) { .batch = m->flash.nand.batch, .row = row, .planes = plane };
	return false;
}

/*
 * True if the page joins the last program, to which nothing was issued since; that may delay the program's begin. Pages
 * of one batch join. A controller with a write buffer also adds a page to a program that still waits for its die.
 */
static bool joins_last(const struct fb_medium *m, const struct fb_joint_program *joint, u64 ready_ns)
{
	if (joint->batch == m->flash.nand.batch)
		return true;
	return m->flash.buffer.pages && joint->batch > m->flash.nand.acknowledged_batch && ready_ns < begin_of(joint);
}

/* The page is sent to the die before the program begins */
static bool joins_waiting(const struct fb_medium *m, const struct fb_joint_program *joint, u64 ready_ns, u64 bytes)
{
	return m->flash.buffer.pages &&
	       fb_max(ready_ns, joint->loaded_ns) + fb_transfer_ns(bytes, m->params.bus_ps_per_byte) <= begin_of(joint);
}

/* The program that waits for this page; FB_NO_JOINT if there is none */
static u32 program_of_row(const struct fb_medium *m, const struct fb_die *d, u32 ppn)
{
	u32 row = row_of(m, ppn);
	u32 i;

	for (i = 0; i < FB_JOINT_PROGRAMS; i++)
		if (d->joint_programs[i].planes && d->joint_programs[i].row == row)
			return d->joint_programs[i].planes & plane_of(m, ppn, row) ? FB_NO_JOINT : i;
	return FB_NO_JOINT;
}

/* The joint program to replace: one of its own row, or the oldest */
static u32 joint_to_replace(const struct fb_medium *m, const struct fb_die *d, u32 ppn)
{
	u32 row = row_of(m, ppn);
	u32 oldest = 0;
	u32 i;

	if (m->params.planes == 1)
		return 0;
	for (i = 0; i < FB_JOINT_PROGRAMS; i++) {
		if (d->joint_programs[i].planes && d->joint_programs[i].row == row)
			return i;
		if (d->joint_programs[i].batch < d->joint_programs[oldest].batch)
			oldest = i;
	}
	return oldest;
}

void fb_nand_acknowledge(struct fb_medium *m)
{
	m->flash.nand.acknowledged_batch = m->flash.nand.batch;
}

/* --- suspended for reads --- */

static void make_suspendable(struct fb_medium *m, struct fb_die *d, enum fb_die_op op, u64 begin_ns)
{
	d->suspendable = op;
	d->interrupted = 0;
	d->resumed_ns = begin_ns;
	d->read_until_ns = begin_ns;
	d->issued_batch = m->flash.nand.batch;
}

static u64 row_part_of_last(const struct fb_die *d)
{
	return d->last_program == FB_NO_JOINT ? 0 : d->joint_programs[d->last_program].row_part;
}

/* True for a program of a page that the host did not write, or of a buffered page that no flush waited for */
static bool end_is_unacknowledged(const struct fb_medium *m, const struct fb_die *d)
{
	return d->suspendable == FB_DIE_ERASE || !row_part_of_last(d) ||
	       (m->flash.buffer.pages && d->issued_batch > m->flash.nand.acknowledged_batch);
}

static bool can_suspend(const struct fb_medium *m, const struct fb_die *d, u64 ready_ns)
{
	bool suspended = d->resumed_ns > d->read_until_ns;

	if (!d->suspendable || ready_ns >= d->array_free_ns || !end_is_unacknowledged(m, d))
		return false;
	if (ready_ns >= d->resumed_ns)
		return d->array_free_ns - ready_ns > m->params.suspend_ns;
	/* A program that has not begun keeps its page in the register that the read needs */
	return suspended || d->suspendable == FB_DIE_ERASE;
}

/* The time at which the array begins to read */
static u64 begin_read(struct fb_medium *m, struct fb_die *d, u64 ready_ns)
{
	if (!can_suspend(m, d, ready_ns)) {
		d->suspendable = FB_DIE_IDLE;
		d->interrupted = 0;
		return fb_max(ready_ns, d->array_free_ns);
	}
	d->interrupted = 1;
	if (ready_ns < d->resumed_ns) {
		d->resume_ns = d->resumed_ns - d->read_until_ns;
		return fb_max(ready_ns, d->read_until_ns);
	}
	m->counters.flash_suspends++;
	d->resumed_ns = ready_ns;
	d->read_until_ns = ready_ns;
	d->resume_ns = m->params.resume_ns;
	return ready_ns + m->params.suspend_ns;
}

/* Ends a read; the suspended operation resumes, and ends later by the time lost */
static void resume(struct fb_medium *m, u32 die, struct fb_die *d, u64 read_until_ns)
{
	u64 left_ns = d->array_free_ns - d->resumed_ns;
	u64 ended_ns = d->array_free_ns;

	d->read_until_ns = read_until_ns;
	d->resumed_ns = read_until_ns + d->resume_ns;
	d->array_free_ns = d->resumed_ns + left_ns;
	if (d->suspendable == FB_DIE_ERASE) {
		fb_power_erase_later(m, &(struct fb_erasing) { ended_ns - left_ns, ended_ns, die, d->erasing_block },
				     d->array_free_ns);
		return;
	}
	fb_power_program_later(m, row_part_of_last(d), d->array_free_ns);
	if (row_part_of_last(d))
		m->durable_ns = fb_max(m->durable_ns, d->array_free_ns);
}

u64 fb_nand_read(struct fb_medium *m, u32 die, u32 ppn, u64 ready_ns, u64 transfer_bytes)
{
	const struct fb_params *p = &m->params;
	struct fb_die *d = die_of(&m->flash.nand, die);
	u64 read_ns = by_page(m, die, ppn, &(struct page_times) { p->slc_read_ns, p->read_ns, p->read_middle_ns,
								    p->read_upper_ns });
	bool special = m->flash.nand.layout.special;
	u64 out_ns;

	m->counters.flash_read_pages++;
	d->last_joint = FB_NO_JOINT;
	if (p->planes == 1 || !read_joins(m, d, ppn)) {
		m->counters.flash_read_ns += read_ns;
		d->joint_read.sensed_ns = read_ns + (special ? begin_read(m, d, ready_ns) :
								   fb_max(ready_ns, d->array_free_ns));
	}
	if (special && p->ecc_bits) {
		u64 again_ns = fb_health_read(m, die, ppn) * read_ns;

		m->counters.flash_read_ns += again_ns;
		d->joint_read.sensed_ns += again_ns;
	}
	out_ns = fb_max(d->joint_read.sensed_ns, d->register_free_ns);
	d->register_free_ns = bus_take(m, die, out_ns, transfer_bytes);
	if (special && d->interrupted)
		resume(m, die, d, out_ns);
	else
		d->array_free_ns = p->cache_operations ? out_ns : d->register_free_ns;
	return d->register_free_ns;
}

static inline void keep_rules(struct fb_medium *m, u32 die, u32 ppn)
{
	u32 number = fb_quotient(&m->flash.nand.layout.by_pages_per_block, ppn);
	struct fb_nand_block *block = fb_nand_block(&m->flash.nand, die, number);
	bool slc = block->flags & FB_BLOCK_SLC;

	m->counters.slc_programmed_pages += slc;
	if (block->programmed_pages != ppn - number * (u32)m->flash.nand.layout.pages_per_block ||
	    (slc && block->programmed_pages >= m->flash.nand.layout.slc_pages_per_block))
		m->flash.nand.violations++;
	else
		block->programmed_pages++;
}

static void note_special(struct fb_medium *m, u32 die, u32 ppn, u64 begin_ns)
{
	if (m->params.ecc_bits)
		fb_health_date_block(m, die, ppn);
	if (m->params.suspend_ns)
		make_suspendable(m, die_of(&m->flash.nand, die), FB_DIE_PROGRAM, begin_ns);
}

/* The unit is sent to the die only when the controller has its last page, and so all of them */
static u64 program_unit(struct fb_medium *m, u32 die, u32 ppn, u32 pages, u64 program_ns, u64 ready_ns)
{
	const struct fb_params *p = &m->params;
	struct fb_die *d = die_of(&m->flash.nand, die);
	u64 begin_ns = ready_ns;
	u64 end_ns = ready_ns;

	if (ppn % pages == pages - 1) {
		d->joint_read.planes = 0;
		d->last_joint = FB_NO_JOINT;
		d->last_program = FB_NO_JOINT;
		begin_ns = fb_max(bus_take(m, die, fb_max(ready_ns, d->register_free_ns), pages * p->page_bytes),
				  d->array_free_ns);
		end_ns = begin_ns + program_ns;
		m->counters.flash_program_ns += program_ns;
		d->array_free_ns = end_ns;
		d->register_free_ns = p->cache_operations ? begin_ns : end_ns;
		if (m->flash.nand.layout.special)
			note_special(m, die, ppn, begin_ns);
	}
	m->flash.nand.last = (struct fb_programming) { .begin_ns = begin_ns, .end_ns = end_ns, .die = die, .ppn = ppn,
						       .joint = FB_NO_JOINT,
						       .page_kind = fb_nand_page_kind(m, die, ppn) };
	return end_ns;
}

/* The page joins a program that waits among others, which delays none of those behind it */
static u64 join_waiting(struct fb_medium *m, u32 die, u32 ppn, u32 joint, u64 program_ns, u64 ready_ns, u64 bytes)
{
	struct fb_joint_program *program = &die_of(&m->flash.nand, die)->joint_programs[joint];
	u64 begin_ns = begin_of(program);

	program->planes |= plane_of(m, ppn, program->row);
	program->loaded_ns = fb_max(program->loaded_ns, ready_ns) + fb_transfer_ns(bytes, m->params.bus_ps_per_byte);
	bus_take(m, die, ready_ns, bytes);
	if (m->params.ecc_bits)
		fb_health_date_block(m, die, ppn);
	m->flash.nand.last = (struct fb_programming) { begin_ns, begin_ns + program_ns, die, ppn, 1, joint,
						       fb_nand_page_kind(m, die, ppn) };
	return begin_ns + program_ns;
}

static u64 program_page(struct fb_medium *m, u32 die, u32 ppn, u64 program_ns, u64 ready_ns)
{
	const struct fb_params *p = &m->params;
	struct fb_die *d = die_of(&m->flash.nand, die);
	u64 bytes = m->flash.nand.has_page ? 0 : p->page_bytes;
	u32 joint = p->planes > 1 ? program_of_row(m, d, ppn) : FB_NO_JOINT;
	bool waits = joint != FB_NO_JOINT;
	bool joined = waits && joint == d->last_joint && joins_last(m, &d->joint_programs[joint], ready_ns);
	struct fb_joint_program *program;
	u64 begin_ns;

	if (waits && !joined && joins_waiting(m, &d->joint_programs[joint], ready_ns, bytes))
		return join_waiting(m, die, ppn, joint, program_ns, ready_ns, bytes);
	d->joint_read.planes = 0;
	if (joined) {
		program = &d->joint_programs[joint];
		program->planes |= plane_of(m, ppn, program->row);
		program->loaded_ns = bus_take(m, die, fb_max(ready_ns, program->loaded_ns), bytes);
	} else {
		joint = joint_to_replace(m, d, ppn);
		program = &d->joint_programs[joint];
		m->counters.flash_program_ns += program_ns;
		program->array_was_free_ns = d->array_free_ns;
		program->loaded_ns = bus_take(m, die, fb_max(ready_ns, d->register_free_ns), bytes);
		program->row = row_of(m, ppn);
		program->planes = plane_of(m, ppn, program->row);
		program->row_part = 0;
	}
	program->batch = m->flash.nand.batch;
	begin_ns = begin_of(program);
	d->last_joint = joint;
	d->last_program = joint;
	d->array_free_ns = begin_ns + program_ns;
	d->register_free_ns = p->cache_operations ? begin_ns : d->array_free_ns;
	if (m->flash.nand.layout.special)
		note_special(m, die, ppn, begin_ns);
	m->flash.nand.last = (struct fb_programming) { begin_ns, d->array_free_ns, die, ppn, joined, joint,
						       p->bits_per_cell == 1 ? 0 : fb_nand_page_kind(m, die, ppn) };
	return d->array_free_ns;
}

u64 fb_nand_program(struct fb_medium *m, u32 die, u32 ppn, u64 page, u64 ready_ns)
{
	const struct fb_params *p = &m->params;
	u64 program_ns = by_page(m, die, ppn, &(struct page_times) { p->slc_program_ns, p->program_ns,
								       p->program_middle_ns, p->program_upper_ns });

	(void)page;
	keep_rules(m, die, ppn);
	m->counters.flash_programmed_pages++;
	if (p->one_shot && !in_slc_mode(m, die, ppn))
		return program_unit(m, die, ppn, p->bits_per_cell * p->planes, p->program_ns, ready_ns);
	if (m->flash.nand.gathering)
		return program_unit(m, die, ppn, p->planes, program_ns, ready_ns);
	return program_page(m, die, ppn, program_ns, ready_ns);
}

void fb_nand_pad(struct fb_medium *m, u32 die, u32 ppn)
{
	keep_rules(m, die, ppn);
	m->counters.flash_programmed_pages++;
}

/* Erases a block in all planes as soon as the array has finished what was issued before */
static void erase_in_array(struct fb_medium *m, struct fb_die *d, u64 ready_ns)
{
	fb_nand_count_erase(m);
	d->array_free_ns = fb_max(ready_ns, d->array_free_ns) + m->params.erase_ns;
	if (!m->params.cache_operations)
		d->register_free_ns = d->array_free_ns;
}

static void erase_journal(struct fb_medium *m, struct fb_die *d, u64 unit_pages, u64 ready_ns)
{
	struct fb_nand *nand = &m->flash.nand;

	if (nand->journal_pages < nand->layout.pages_per_block ||
	    nand->journal_pages % nand->layout.pages_per_block >= unit_pages)
		return;
	nand->journal_erases++;
	erase_in_array(m, d, ready_ns);
}

u64 fb_nand_program_log(struct fb_medium *m, u32 die, u64 ready_ns)
{
	const struct fb_params *p = &m->params;
	struct fb_die *d = die_of(&m->flash.nand, die);
	u64 pages = p->planes * p->bits_per_cell;
	u64 upper_ns = p->program_upper_ns ? p->program_upper_ns : p->program_ns;
	u64 middle_ns = p->program_middle_ns ? p->program_middle_ns : p->program_ns;
	u64 program_ns = p->program_ns;
	u64 begin_ns;

	if (!p->one_shot && p->bits_per_cell > 1)
		program_ns += upper_ns + (p->bits_per_cell > 2 ? middle_ns : 0);
	erase_journal(m, d, pages, ready_ns);
	begin_ns = fb_max(bus_take(m, die, fb_max(ready_ns, d->register_free_ns), pages * p->page_bytes),
			  d->array_free_ns);
	m->counters.flash_program_ns += program_ns;
	m->counters.flash_programmed_pages += pages;
	m->counters.map_written_pages += pages;
	m->flash.nand.journal_pages += pages;
	d->joint_read.planes = 0;
	d->last_joint = FB_NO_JOINT;
	d->last_program = FB_NO_JOINT;
	d->suspendable = FB_DIE_IDLE;
	d->array_free_ns = begin_ns + program_ns;
	d->register_free_ns = p->cache_operations ? begin_ns : d->array_free_ns;
	return d->array_free_ns;
}

u64 fb_nand_erase(struct fb_medium *m, u32 die, u32 block, u64 ready_ns)
{
	struct fb_die *d = die_of(&m->flash.nand, die);
	struct fb_nand_block *b = fb_nand_block(&m->flash.nand, die, block);

	b->programmed_pages = 0;
	b->flags &= ~FB_BLOCK_SLC;
	b->erase_count++;
	if (m->params.ecc_bits)
		fb_health_forget_reads(m, die, block);
	if (b->flags & FB_BLOCK_BAD)
		m->flash.nand.violations++;
	d->joint_read.planes = 0;
	d->last_joint = FB_NO_JOINT;
	erase_in_array(m, d, ready_ns);
	d->erasing_block = block;
	if (m->params.suspend_ns)
		make_suspendable(m, d, FB_DIE_ERASE, d->array_free_ns - m->params.erase_ns);
	fb_power_note_erase(m, &(struct fb_erasing) { d->array_free_ns - m->params.erase_ns, d->array_free_ns,
						      die, block });
	return d->array_free_ns;
}

u64 *fb_nand_row_part(struct fb_medium *m)
{
	const struct fb_nand *nand = &m->flash.nand;
	u16 joint = nand->last.joint;

	return joint == FB_NO_JOINT ? NULL : &die_of(nand, nand->last.die)->joint_programs[joint].row_part;
}

u64 fb_nand_free_ns(const struct fb_medium *m, u32 die)
{
	return die_of(&m->flash.nand, die)->array_free_ns;
}
