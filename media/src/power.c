// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "power.h"
#include "arith.h"
#include "kind.h"
#include "state.h"

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
	m->power.room = fb_pending_parts(&m->params);
	m->power.by_room = fb_divisor(m->power.room);
}

bool fb_power_undamaged(const struct fb_medium *m, u64 parts_offset)
{
	struct fb_divisor by_room = fb_divisor(fb_pending_parts(&m->params));

	return m->power.parts_offset == parts_offset && m->power.room == by_room.by &&
	       m->power.by_room.by == by_room.by && m->power.by_room.reciprocal == by_room.reciprocal;
}

static struct fb_pending *part_of(const struct fb_medium *m, u64 sequence)
{
	return (struct fb_pending *)fb_table(m, m->power.parts_offset) + fb_remainder(&m->power.by_room, sequence);
}

u64 fb_next_sequence(const struct fb_medium *m)
{
	return m->power.first_sequence + m->power.parts;
}

u64 fb_oldest_pending(const struct fb_medium *m)
{
	return m->power.first_sequence;
}

u64 fb_last_request_ns(const struct fb_medium *m)
{
	return m->now_ns;
}

u64 fb_half_erased_blocks(const struct fb_medium *m)
{
	return m->power.half_erased;
}

u64 fb_pending_bytes(const struct fb_params *params)
{
	return FB_PENDING_BYTES + volatile_bytes(params);
}

/* Parts leave in the order in which they came */
static void forget_first(struct fb_power *power, const struct fb_pending *part)
{
	power->bytes -= part->length_bytes;
	power->first_sequence++;
	power->parts--;
}

static void forget_durable(struct fb_medium *m, u64 now_ns)
{
	while (m->power.parts) {
		const struct fb_pending *first = part_of(m, m->power.first_sequence);

		if (first->durable_ns > now_ns)
			return;
		forget_first(&m->power, first);
	}
}

static bool has_room(const struct fb_medium *m, u64 parts, u64 length_bytes)
{
	u64 bytes = m->power.bytes + length_bytes;

	return m->power.parts + parts <= m->power.room &&
	       (bytes <= FB_PENDING_BYTES || bytes <= fb_pending_bytes(&m->params));
}

/* When the oldest part is on the medium. A cache that was told no time yet writes back all that it has. */
static u64 oldest_durable_ns(struct fb_medium *m, u64 now_ns)
{
	if (part_of(m, m->power.first_sequence)->durable_ns == FB_NEVER)
		fb_kind_ops(&m->params)->write_back(m, now_ns);
	return part_of(m, m->power.first_sequence)->durable_ns;
}

u64 fb_power_begin_write(struct fb_medium *m, u64 length_bytes, u64 now_ns)
{
	const struct fb_kind_ops *kind = fb_kind_ops(&m->params);
	u64 parts;

	forget_durable(m, now_ns);
	if (!m->power.parts)
		return now_ns;
	parts = kind->parts_of ? fb_smaller(kind->parts_of(m, length_bytes), m->power.room) : 1;
	while (m->power.parts && !has_room(m, parts, length_bytes)) {
		now_ns = fb_later(now_ns, oldest_durable_ns(m, now_ns));
		forget_durable(m, now_ns);
	}
	return now_ns;
}

/* --- sectors that a cut made unreadable --- */

u64 fb_unreadable_sectors(const struct fb_medium *m)
{
	u64 count = 0;
	u32 i;

	for (i = 0; i < m->power.unreadable_sectors; i++)
		count += !m->power.unreadable[i].rewritten;
	return count;
}

struct sectors {
	u64 first;
	u64 end;
};

static struct sectors sectors_of(const struct fb_medium *m, u64 offset_bytes, u64 length_bytes)
{
	u64 first = offset_bytes / m->params.sector_bytes;

	return (struct sectors) { first, first + length_bytes / m->params.sector_bytes };
}

static bool within(const struct sectors *range, u64 sector)
{
	return sector >= range->first && sector < range->end;
}

bool fb_unreadable(const struct fb_medium *m, u64 offset_bytes, u64 length_bytes)
{
	struct sectors range = sectors_of(m, offset_bytes, length_bytes);
	u32 i;

	for (i = 0; i < m->power.unreadable_sectors; i++)
		if (!m->power.unreadable[i].rewritten && within(&range, m->power.unreadable[i].sector))
			return true;
	return false;
}

static void readable_again(struct fb_power *power, u32 i)
{
	power->unreadable[i] = power->unreadable[--power->unreadable_sectors];
}

/* What was written again counts as readable, and is for good when the write cannot be lost any more */
static void note_rewritten(struct fb_medium *m, const struct fb_pending *part, u64 sequence)
{
	struct sectors range = sectors_of(m, part->offset_bytes, part->length_bytes);
	u32 i;

	for (i = 0; i < m->power.unreadable_sectors; i++)
		if (!m->power.unreadable[i].rewritten && within(&range, m->power.unreadable[i].sector))
			m->power.unreadable[i].rewritten = sequence + 1;
}

/* Of the rewritten sectors, those whose part has left the ring are mended */
static void forget_mended(struct fb_power *power)
{
	u32 i = 0;

	while (i < power->unreadable_sectors)
		if (power->unreadable[i].rewritten && power->unreadable[i].rewritten <= power->first_sequence)
			readable_again(power, i);
		else
			i++;
}

/* --- noting --- */

void fb_power_note(struct fb_medium *m, const struct fb_pending *part)
{
	struct fb_power *power = &m->power;
	u64 sequence = fb_next_sequence(m);

	if (power->unreadable_sectors)
		note_rewritten(m, part, sequence);
	power->bytes += part->length_bytes;
	if (power->parts == power->room) {
		/* Longer than the whole ring: its last part takes the rest */
		struct fb_pending *last = part_of(m, sequence - 1);

		last->length_bytes += part->length_bytes;
		last->durable_ns = fb_later(last->durable_ns, part->durable_ns);
		return;
	}
	*part_of(m, sequence) = *part;
	power->parts++;
}

void fb_power_note_joint(struct fb_medium *m, const struct fb_pending *part, u64 row)
{
	struct fb_pending joint = *part;
	struct fb_pending *other;
	u64 before;

	joint.row = row;
	for (before = row; before > m->power.first_sequence; before = other->row) {
		other = part_of(m, before - 1);
		other->begin_ns = part->begin_ns;
		other->durable_ns = part->durable_ns;
	}
	fb_power_note(m, &joint);
}

/* Linear in the run: the head takes one sector after another */
static u64 time_in(const struct fb_pending *run, u64 offset_bytes)
{
	return run->begin_ns +
	       (offset_bytes - run->offset_bytes) / 512 * (run->durable_ns - run->begin_ns) / (run->length_bytes / 512);
}

static void append(struct fb_medium *m, struct fb_chain *chain, u64 first, u64 last)
{
	if (chain->first)
		part_of(m, chain->last - 1)->row = first;
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
		struct fb_pending *part = part_of(m, at - 1);
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
		const struct fb_pending *part = part_of(m, at - 1);

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
		count += part_of(m, m->power.first_sequence + i)->durable_ns == FB_NEVER;
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
		part = part_of(m, row - 1);
		part->durable_ns = end_ns;
	}
}

/* One that has not begun begins later, too. The newest is found first. */
void fb_power_erase_later(struct fb_medium *m, const struct fb_erasing *erasing, u64 end_ns)
{
	u64 known = fb_smaller(m->power.erases, FB_KNOWN_ERASES);
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

/* --- the cut --- */

struct fb_cut {
	struct fb_medium *m;
	u64 cut_ns;
	u64 random;
	fb_tell *tell;
	void *context;
};

/* splitmix64 (Steele et al. 2014): numbers that look random, from any seed */
static u64 next_random(struct fb_cut *cut)
{
	u64 z = cut->random += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static void mark_unreadable(struct fb_power *power, const struct sectors *range)
{
	u64 sector;
	u32 i;

	for (i = 0; i < power->unreadable_sectors;)
		if (within(range, power->unreadable[i].sector))
			readable_again(power, i);
		else
			i++;
	for (sector = range->first; sector < range->end; sector++)
		power->unreadable[power->unreadable_sectors++] = (struct fb_unreadable_sector) { .sector = sector };
}

static void mark(struct fb_power *power, const struct sectors *range, u64 sequence, enum fb_fate fate)
{
	u32 i = 0;

	if (fate == FB_UNREADABLE) {
		mark_unreadable(power, range);
		return;
	}
	while (i < power->unreadable_sectors) {
		struct fb_unreadable_sector *u = &power->unreadable[i];

		if (fate == FB_LOST && u->rewritten == sequence + 1)
			u->rewritten = 0;
		if (fate == FB_KEPT && within(range, u->sector))
			readable_again(power, i);
		else
			i++;
	}
}

static void tell(struct fb_cut *cut, struct fb_fated fated)
{
	struct sectors range = sectors_of(cut->m, fated.offset_bytes, fated.length_bytes);

	if (!fated.length_bytes)
		return;
	if (cut->m->power.unreadable_sectors || fated.fate == FB_UNREADABLE)
		mark(&cut->m->power, &range, fated.sequence, fated.fate);
	cut->tell(cut->context, &fated);
}

static bool room_for_unreadable(const struct fb_medium *m, u64 length_bytes)
{
	return m->power.unreadable_sectors + length_bytes / m->params.sector_bytes <= FB_UNREADABLE_SECTORS;
}

void fb_power_lose(struct fb_medium *m, u64 offset_bytes, u64 length_bytes)
{
	u64 end_bytes = fb_smaller(offset_bytes + length_bytes, m->params.capacity_bytes);
	struct sectors range;

	if (offset_bytes >= end_bytes || !room_for_unreadable(m, end_bytes - offset_bytes))
		return;
	range = sectors_of(m, offset_bytes, end_bytes - offset_bytes);
	mark_unreadable(&m->power, &range);
}

static struct fb_fated torn(u64 sequence, u64 offset_bytes, u64 length_bytes, enum fb_fate fate)
{
	return (struct fb_fated) {
		.sequence = sequence,
		.offset_bytes = offset_bytes,
		.length_bytes = length_bytes,
		.fate = fate,
		.torn = true,
	};
}

/* Each sector is old or new, by itself; runs of the same are told together */
static void tear_into_sectors(struct fb_cut *cut, u64 sequence, const struct fb_pending *part)
{
	u64 sector_bytes = cut->m->params.sector_bytes;
	u64 bits = next_random(cut);
	u64 run = 0, at;
	u32 left = 64;

	for (at = 0; at < part->length_bytes; at += sector_bytes) {
		enum fb_fate fate = bits & 1 ? FB_KEPT : FB_LOST;

		run += sector_bytes;
		bits >>= 1;
		if (!--left) {
			bits = next_random(cut);
			left = 64;
		}
		if (at + sector_bytes < part->length_bytes && (bits & 1 ? FB_KEPT : FB_LOST) == fate)
			continue;
		tell(cut, torn(sequence, part->offset_bytes + at + sector_bytes - run, run, fate));
		run = 0;
	}
}

/* The chip finds the page half programmed: by seed its error correction gives up, or returns what it has */
static void tear_page(struct fb_cut *cut, u64 sequence, const struct fb_pending *part)
{
	if (next_random(cut) & 1 && room_for_unreadable(cut->m, part->length_bytes))
		tell(cut, torn(sequence, part->offset_bytes, part->length_bytes, FB_UNREADABLE));
	else
		tear_into_sectors(cut, sequence, part);
}

/* An upper page is programmed into cells that hold other pages already */
static void tear_neighbours(struct fb_cut *cut, u64 sequence, const struct fb_pending *part)
{
	struct fb_medium *m = cut->m;
	u32 lower = part->page_kind;

	while (lower) {
		u64 page = fb_ftl(&m->params)->page_at(m, part->die, part->place - lower-- * m->params.planes);
		u64 offset_bytes = page * m->params.page_bytes;
		struct fb_fated fated = {
			.sequence = sequence,
			.offset_bytes = offset_bytes,
			.length_bytes = m->params.page_bytes,
			.fate = FB_UNREADABLE,
			.neighbour = true,
		};

		if (page == FB_NO_PAGE || offset_bytes >= m->params.capacity_bytes)
			continue;
		fated.length_bytes = fb_smaller(fated.length_bytes, m->params.capacity_bytes - offset_bytes);
		if (next_random(cut) & 1 && room_for_unreadable(m, fated.length_bytes))
			tell(cut, fated);
	}
}

/* Sectors pass under the head one by one: those before are new, those behind are old; of the one under it, by seed */
void fb_tear_run(struct fb_cut *cut, u64 sequence, const struct fb_pending *part)
{
	u64 sector_bytes = cut->m->params.sector_bytes;
	u64 sectors = part->length_bytes / sector_bytes;
	u64 passed = (cut->cut_ns - part->begin_ns) * sectors / (part->durable_ns - part->begin_ns);
	u64 under = part->offset_bytes + passed * sector_bytes;
	u64 end = part->offset_bytes + part->length_bytes;
	bool readable = next_random(cut) & 1 || !room_for_unreadable(cut->m, sector_bytes);

	tell(cut, torn(sequence, part->offset_bytes, passed * sector_bytes, FB_KEPT));
	tell(cut, torn(sequence, under, sector_bytes, readable ? FB_LOST : FB_UNREADABLE));
	tell(cut, torn(sequence, under + sector_bytes, end - under - sector_bytes, FB_LOST));
}

void fb_tear_page(struct fb_cut *cut, u64 sequence, const struct fb_pending *part)
{
	tear_page(cut, sequence, part);
	if (cut->m->params.paired_page_loss)
		tear_neighbours(cut, sequence, part);
}

static void decide(struct fb_cut *cut, u64 sequence, const struct fb_pending *part)
{
	struct fb_fated whole = {
		.sequence = sequence,
		.offset_bytes = part->offset_bytes,
		.length_bytes = part->length_bytes,
		.fate = FB_KEPT,
	};

	if (part->durable_ns > cut->cut_ns && part->begin_ns < cut->cut_ns) {
		fb_kind_ops(&cut->m->params)->tear(cut, sequence, part);
		return;
	}
	if (part->durable_ns > cut->cut_ns)
		whole.fate = FB_LOST;
	tell(cut, whole);
}

static void cut_erases(struct fb_medium *m, u64 cut_ns)
{
	u64 known = fb_smaller(m->power.erases, FB_KNOWN_ERASES);
	u32 i;

	for (i = 0; i < known; i++) {
		const struct fb_erasing *e = &m->power.erasing[i];

		if (e->begin_ns >= cut_ns || e->end_ns <= cut_ns)
			continue;
		fb_nand_erase_again(m, e->die, e->block);
		m->power.half_erased++;
	}
}

bool fb_off(const struct fb_medium *m)
{
	return m->power.cut;
}

void fb_power_forget(struct fb_medium *m)
{
	struct fb_power *power = &m->power;

	power->first_sequence += power->parts;
	power->parts = 0;
	power->bytes = 0;
	power->erases = 0;
	forget_mended(power);
}

void fb_cut(struct fb_medium *m, u64 cut_ns, u64 seed, fb_tell *tell, void *context)
{
	const struct fb_kind_ops *kind = fb_kind_ops(&m->params);
	struct fb_cut cut = { m, cut_ns, seed, tell, context };
	u64 sequence = m->power.first_sequence;
	u64 end = fb_next_sequence(m);

	if (!kind->submit)
		return;
	if (kind->catch_up)
		kind->catch_up(m, cut_ns);
	forget_mended(&m->power);
	for (; sequence < end; sequence++)
		decide(&cut, sequence, part_of(m, sequence));
	cut_erases(m, cut_ns);
	fb_power_forget(m);
	m->power.cut = 1;
}

const char *fb_power_verify(const struct fb_medium *m)
{
	u64 bytes = 0;
	u64 i;

	if (m->power.parts > m->power.room)
		return "more writes are pending than there is room for";
	for (i = 0; i < m->power.parts; i++)
		bytes += part_of(m, m->power.first_sequence + i)->length_bytes;
	if (bytes != m->power.bytes)
		return "pending writes do not add up to their bytes";
	if (m->power.unreadable_sectors > FB_UNREADABLE_SECTORS)
		return "more sectors are unreadable than there is room for";
	for (i = 0; i < m->power.unreadable_sectors; i++)
		if (m->power.unreadable[i].sector >= m->params.capacity_bytes / m->params.sector_bytes)
			return "an unreadable sector is beyond the medium's end";
	return NULL;
}
