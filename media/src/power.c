// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The ring of pending write parts, and how parts enter it */
#include "power.h"
#include "arith.h"
#include "kind.h"
#include "power_parts.h"

static u64 volatile_bytes(const struct fb_params *p)
{
	enum fb_param cache = fb_kind_ops(p)->volatile_cache;

	return cache ? p->by_index[cache] : 0;
}

u64 fb_pending_parts(const struct fb_params *p)
{
	return fb_kind_ops(p)->pending_parts(p);
}

u64 fb_power_layout(const struct fb_params *p, u64 *end_offset)
{
	return fb_add_table(end_offset, fb_pending_parts(p) * sizeof(struct fb_pending));
}

void fb_power_init(struct fb_medium *m, u64 parts_offset)
{
	m->power.parts_offset = parts_offset;
	m->power.capacity = fb_pending_parts(&m->params);
	m->power.by_capacity = fb_divisor(m->power.capacity);
}

bool fb_power_undamaged(const struct fb_medium *m, u64 parts_offset)
{
	struct fb_divisor by_capacity = fb_divisor(fb_pending_parts(&m->params));

	return m->power.parts_offset == parts_offset && m->power.capacity == by_capacity.by &&
	       m->power.by_capacity.by == by_capacity.by && m->power.by_capacity.reciprocal == by_capacity.reciprocal;
}

u64 fb_next_sequence(const struct fb_medium *m)
{
	return m->power.first_sequence + m->power.parts;
}

u64 fb_oldest_pending(const struct fb_medium *m)
{
	return m->power.first_sequence;
}

u64 fb_pending_bytes(const struct fb_params *params)
{
	return FB_PENDING_BYTES + volatile_bytes(params);
}

/* Parts leave in the order of arrival */
static void forget_first(struct fb_power *power, const struct fb_pending *part)
{
	power->bytes -= part->length_bytes;
	power->first_sequence++;
	power->parts--;
}

static void forget_durable(struct fb_medium *m, u64 now_ns)
{
	while (m->power.parts) {
		const struct fb_pending *first = fb_power_part(m, m->power.first_sequence);

		if (first->durable_ns > now_ns)
			return;
		forget_first(&m->power, first);
	}
}

static bool has_room(const struct fb_medium *m, u64 parts, u64 length_bytes)
{
	u64 bytes = m->power.bytes + length_bytes;

	return m->power.parts + parts <= m->power.capacity &&
	       (bytes <= FB_PENDING_BYTES || bytes <= fb_pending_bytes(&m->params));
}

/* The time at which the oldest part is on the medium. A cache with undecided parts writes everything back. */
static u64 oldest_durable_ns(struct fb_medium *m, u64 now_ns)
{
	if (fb_power_part(m, m->power.first_sequence)->durable_ns == FB_NEVER)
		fb_kind_ops(&m->params)->write_back(m, now_ns);
	return fb_power_part(m, m->power.first_sequence)->durable_ns;
}

/* Out of line: most writes find nothing pending */
__attribute__((__noinline__)) static u64 wait_for_room(struct fb_medium *m, u64 length_bytes, u64 now_ns)
{
	const struct fb_kind_ops *kind = fb_kind_ops(&m->params);
	u64 parts = kind->parts_of ? fb_min(kind->parts_of(m, length_bytes), m->power.capacity) : 1;

	while (!has_room(m, parts, length_bytes)) {
		now_ns = fb_max(now_ns, oldest_durable_ns(m, now_ns));
		forget_durable(m, now_ns);
		if (!m->power.parts)
			break;
	}
	return now_ns;
}

u64 fb_power_begin_write(struct fb_medium *m, u64 length_bytes, u64 now_ns)
{
	forget_durable(m, now_ns);
	return m->power.parts ? wait_for_room(m, length_bytes, now_ns) : now_ns;
}

/* --- noting --- */

void fb_power_note(struct fb_medium *m, const struct fb_pending *part)
{
	struct fb_power *power = &m->power;
	u64 sequence = fb_next_sequence(m);

	if (power->unreadable_sectors)
		fb_unreadable_rewritten(m, part, sequence);
	power->bytes += part->length_bytes;
	if (power->parts == power->capacity) {
		/* The write is longer than the whole ring: its last part takes the rest */
		struct fb_pending *last = fb_power_part(m, sequence - 1);

		last->length_bytes += part->length_bytes;
		last->durable_ns = fb_max(last->durable_ns, part->durable_ns);
		return;
	}
	*fb_power_part(m, sequence) = *part;
	power->parts++;
}

void fb_power_note_joint(struct fb_medium *m, const struct fb_pending *part, u64 row)
{
	struct fb_pending joint = *part;
	struct fb_pending *other;
	u64 before;

	joint.row = row;
	for (before = row; before > m->power.first_sequence; before = other->row) {
		other = fb_power_part(m, before - 1);
		other->begin_ns = part->begin_ns;
		other->durable_ns = part->durable_ns;
	}
	fb_power_note(m, &joint);
}

/* Linear in the run: the head passes the sectors at an even pace */
static u64 time_in(const struct fb_pending *run, u64 offset_bytes)
{
	return run->begin_ns +
	       (offset_bytes - run->offset_bytes) / 512 * (run->durable_ns - run->begin_ns) / (run->length_bytes / 512);
}

static void append(struct fb_medium *m, struct fb_chain *chain, u64 first, u64 last)
{
	if (chain->first)
		fb_power_part(m, chain->last - 1)->row = first;
	else
		chain->first = first;
	chain->last = last;
}

void fb_power_note_cached(struct fb_medium *m, struct fb_chain *chain, u64 offset_bytes, u64 length_bytes)
{
	u64 sequence = fb_next_sequence(m);

	fb_power_note(m, &(struct fb_pending) { .offset_bytes = offset_bytes, .length_bytes = length_bytes,
						.begin_ns = FB_NEVER, .durable_ns = FB_NEVER });
	if (fb_next_sequence(m) != sequence)
		append(m, chain, sequence + 1, sequence + 1);
}

void fb_power_join(struct fb_medium *m, struct fb_chain *chain, const struct fb_chain *other)
{
	if (other->first)
		append(m, chain, other->first, other->last);
}

void fb_power_note_written_back(struct fb_medium *m, struct fb_chain *chain, const struct fb_pending *run)
{
	u64 end_bytes = run->offset_bytes + run->length_bytes;
	struct fb_chain rest = { 0 };
	u64 at, next;

	for (at = chain->first; at; at = next) {
		struct fb_pending *part = fb_power_part(m, at - 1);
		u64 part_end = part->offset_bytes + part->length_bytes;

		next = part->row;
		part->row = 0;
		if (part->offset_bytes < run->offset_bytes || part_end > end_bytes) {
			append(m, &rest, at, at);
			continue;
		}
		part->begin_ns = time_in(run, part->offset_bytes);
		part->durable_ns = time_in(run, part_end);
	}
	*chain = rest;
}

u64 fb_power_chained(const struct fb_medium *m, const struct fb_chain *chain)
{
	u64 at = chain->first;
	u64 count = 0;

	while (at) {
		const struct fb_pending *part = fb_power_part(m, at - 1);

		if (at <= m->power.first_sequence || at > fb_next_sequence(m) || part->durable_ns != FB_NEVER ||
		    ++count > m->power.parts || (!part->row && at != chain->last))
			return m->power.parts + 1;
		at = part->row;
	}
	return count;
}

u64 fb_power_undecided(const struct fb_medium *m)
{
	u64 count = 0;
	u64 i;

	for (i = 0; i < m->power.parts; i++)
		count += fb_power_part(m, m->power.first_sequence + i)->durable_ns == FB_NEVER;
	return count;
}

void fb_power_note_erase(struct fb_medium *m, const struct fb_erasing *erasing)
{
	m->power.erasing[m->power.erases++ % FB_KNOWN_ERASES] = *erasing;
}

void fb_power_program_later(struct fb_medium *m, u64 row, u64 end_ns)
{
	struct fb_pending *part;

	for (; row > m->power.first_sequence; row = part->row) {
		part = fb_power_part(m, row - 1);
		part->durable_ns = end_ns;
	}
}

/* An erase that has not begun begins later, too. The search starts at the newest. */
void fb_power_erase_later(struct fb_medium *m, const struct fb_erasing *erasing, u64 end_ns)
{
	u64 known = fb_min(m->power.erases, FB_KNOWN_ERASES);
	u64 i;

	for (i = 1; i <= known; i++) {
		struct fb_erasing *e = &m->power.erasing[(m->power.erases - i) % FB_KNOWN_ERASES];

		if (e->die != erasing->die || e->block != erasing->block || e->end_ns != erasing->end_ns)
			continue;
		if (e->begin_ns == erasing->begin_ns)
			e->begin_ns += end_ns - e->end_ns;
		e->end_ns = end_ns;
		return;
	}
}

void fb_power_forget(struct fb_medium *m)
{
	struct fb_power *power = &m->power;

	power->first_sequence += power->parts;
	power->parts = 0;
	power->bytes = 0;
	power->erases = 0;
	fb_unreadable_forget_mended(power);
}

const char *fb_power_verify(const struct fb_medium *m)
{
	u64 bytes = 0;
	u64 i;

	if (m->power.parts > m->power.capacity)
		return "more writes are pending than there is room for";
	for (i = 0; i < m->power.parts; i++)
		bytes += fb_power_part(m, m->power.first_sequence + i)->length_bytes;
	if (bytes != m->power.bytes)
		return "pending writes do not add up to their bytes";
	if (m->power.unreadable_sectors > FB_UNREADABLE_SECTORS)
		return "more sectors are unreadable than there is room for";
	for (i = 0; i < m->power.unreadable_sectors; i++)
		if (m->power.unreadable[i].sector >= m->params.capacity_bytes / m->params.sector_bytes)
			return "an unreadable sector is beyond the medium's end";
	return NULL;
}
