// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "arith.h"
#include "state.h"

void fb_cache_clear(struct fb_cache *c)
{
	u32 i;

	*c = (struct fb_cache) { 0 };
	for (i = 0; i < FB_MAX_EXTENTS; i++)
		c->by_sector[i] = c->by_age[i] = i;
}

static struct fb_extent *by_sector(struct fb_cache *c, u64 at)
{
	return &c->extent[c->by_sector[at]];
}

/* The number, in the order of sectors, of the first extent that ends at a sector or behind it */
static u64 find(const struct fb_cache *c, u64 sector)
{
	u64 low = 0, high = c->extents;

	while (low < high) {
		u64 middle = (low + high) / 2;

		if (c->extent[c->by_sector[middle]].end < sector)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void insert_slot(u8 *order, u64 at, u64 count, u8 slot)
{
	u64 i;

	for (i = count; i > at; i--)
		order[i] = order[i - 1];
	order[at] = slot;
}

static void remove_slot(u8 *order, u64 at, u64 count)
{
	u64 i;

	for (i = at + 1; i < count; i++)
		order[i - 1] = order[i];
}

/* The newest; `at` is its number in the order of sectors */
static u8 insert_extent(struct fb_cache *c, u64 at, u64 first, u64 end)
{
	u8 slot = c->by_age[c->extents];

	insert_slot(c->by_sector, at, c->extents, slot);
	c->extent[slot] = (struct fb_extent) { .first = first, .end = end };
	c->sectors += end - first;
	c->extents++;
	return slot;
}

static u64 age_of(const struct fb_cache *c, u8 slot)
{
	u64 at = 0;

	while (c->by_age[at] != slot)
		at++;
	return at;
}

static void remove_extent(struct fb_cache *c, u64 at_sector, u64 at_age)
{
	u8 slot = c->by_age[at_age];

	if (at_age)
		c->extent[c->by_age[at_age - 1]].passed_more += c->extent[slot].passed_more;
	else
		c->passed_over -= c->extent[slot].passed_more;
	remove_slot(c->by_sector, at_sector, c->extents);
	remove_slot(c->by_age, at_age, c->extents);
	c->extents--;
	c->by_sector[c->extents] = c->by_age[c->extents] = slot;
}

/* Makes note of where an extent begins: that is asked far more often than it changes */
static void place(struct fb_medium *m, u8 slot, const struct fb_place *at)
{
	m->disk.cache.extent[slot].place = *at;
	m->disk.cache.angle_ns[slot] = fb_geometry_angle_ns(&m->disk.geometry, at);
}

/* As much of an extent as lies on its first track */
static struct fb_run piece(const struct fb_extent *e, u64 start_ns)
{
	return (struct fb_run) {
		.first = e->first,
		.count = fb_smaller(e->end - e->first, e->place.sectors_per_track - e->place.sector),
		.place = e->place,
		.start_ns = start_ns,
		.writes = true,
	};
}

/* How many of the oldest extents it takes to find reorder_depth that are there */
static u64 window(const struct fb_medium *m, u64 start_ns)
{
	const struct fb_cache *c = &m->disk.cache;
	u64 there = 0, i;

	if (c->there_ns <= start_ns)
		return fb_smaller(c->extents, m->params.reorder_depth);
	for (i = 0; i < c->extents && there < m->params.reorder_depth; i++)
		there += c->extent[c->by_age[i]].since_ns <= start_ns;
	return i;
}

/*
 * Who waited too long, in the order of age; past the window if nobody did. Nobody was passed over oftener than an older
 * one, so it is the oldest that is there, if anybody.
 */
static u64 too_long(const struct fb_cache *c, u64 window, u64 start_ns)
{
	u64 passed_over = c->passed_over, i;

	for (i = 0; i < window && passed_over >= FB_DESTAGE_PATIENCE; i++) {
		const struct fb_extent *e = &c->extent[c->by_age[i]];

		if (e->since_ns <= start_ns)
			return i;
		passed_over -= e->passed_more;
	}
	return window;
}

/* All that are older than this one, in the order of age, were passed over once more */
static void pass_over(struct fb_cache *c, u64 at)
{
	if (!at)
		return;
	c->extent[c->by_age[at - 1]].passed_more++;
	c->passed_over++;
}

/*
 * Which of the oldest that are there comes under the head first; its number in the order of age. What the arm
 * does is worked out for those only that the platter does not rule out: before an angle comes nothing is written there,
 * and no seek to another cylinder is shorter than that to the next.
 */
static u64 choose(const struct fb_medium *m, u64 start_ns)
{
	const struct fb_cache *c = &m->disk.cache;
	const u64 revolution_ns = m->disk.geometry.revolution_ns;
	const u64 at_ns = start_ns % revolution_ns;
	const u64 least_seek_ns = m->disk.write_seeks.curve.track_ns;
	const struct fb_track arm = m->disk.arm.track;
	const u64 end = window(m, start_ns);
	u64 best = too_long(c, end, start_ns), best_ns = ~(u64)0, move_ns, i;

	if (best < end)
		return best;
	for (i = 0; i < end; i++) {
		u8 slot = c->by_age[i];
		const struct fb_extent *e = &c->extent[slot];
		u64 angle_ns = c->angle_ns[slot];
		u64 ns = angle_ns - at_ns;

		if (ns > angle_ns)
			ns += revolution_ns;
		if (ns >= best_ns || e->since_ns > start_ns)
			continue;
		if (e->place.track.cylinder != arm.cylinder && ns < least_seek_ns && ns + revolution_ns >= best_ns)
			continue;
		move_ns = fb_arm_move_ns(m, arm, e->place.track, true);
		if (ns < move_ns)
			ns += fb_divide_up(move_ns - ns, revolution_ns) * revolution_ns;
		if (ns < best_ns) {
			best_ns = ns;
			best = i;
		}
	}
	return best;
}

static void note_written_back(struct fb_medium *m, struct fb_extent *e, const struct fb_run *run,
			      const struct fb_pass *pass)
{
	u64 sector_bytes = m->params.sector_bytes;

	fb_power_note_written_back(m, &e->parts, &(struct fb_pending) {
		.offset_bytes = run->first * sector_bytes, .length_bytes = run->count * sector_bytes,
		.begin_ns = pass->begin_ns, .durable_ns = pass->end_ns });
}

/* Writes back one piece, from start_ns on; something is there then */
static void destage(struct fb_medium *m, u64 start_ns)
{
	struct fb_cache *c = &m->disk.cache;
	struct fb_extent *e;
	struct fb_run run;
	struct fb_pass pass;
	u64 at;

	fb_buffer_leave(m, start_ns);
	at = choose(m, start_ns);
	pass_over(c, at);
	e = &c->extent[c->by_age[at]];
	run = piece(e, start_ns);
	pass = fb_arm_append(m, &run);
	note_written_back(m, e, &run, &pass);
	c->left_ns = pass.end_ns;
	c->written_ns = fb_later(c->written_ns, c->left_ns);
	c->leaving = run.count;
	c->sectors -= run.count;
	if (run.first + run.count == e->end) {
		remove_extent(c, find(c, e->end), at);
	} else {
		struct fb_place rest = fb_geometry_locate(&m->disk.geometry, &m->params, run.first + run.count);

		e->first += run.count;
		place(m, c->by_age[at], &rest);
	}
	m->counters.disk_destages++;
}

/* From start_ns on, when there is something to write back */
static u64 first_there_ns(const struct fb_cache *c, u64 start_ns)
{
	u64 earliest_ns = ~(u64)0, i;

	for (i = 0; i < c->extents; i++) {
		u64 since_ns = c->extent[c->by_age[i]].since_ns;

		if (since_ns <= start_ns)
			return start_ns;
		earliest_ns = fb_smaller(earliest_ns, since_ns);
	}
	return earliest_ns;
}

void fb_cache_catch_up(struct fb_medium *m, u64 now_ns)
{
	const struct fb_cache *c = &m->disk.cache;

	while (c->extents && m->disk.arm.free_ns < now_ns) {
		u64 start_ns = first_there_ns(c, m->disk.arm.free_ns);

		start_ns = fb_later(start_ns, fb_buffer_idle_ns(m));
		if (start_ns >= now_ns)
			return;
		destage(m, start_ns);
	}
}

static void destage_next(struct fb_medium *m, u64 now_ns)
{
	destage(m, first_there_ns(&m->disk.cache, fb_later(m->disk.arm.free_ns, now_ns)));
}

static u64 make_room(struct fb_medium *m, u64 count, u64 now_ns)
{
	struct fb_cache *c = &m->disk.cache;
	u64 room = m->params.write_cache_bytes / m->params.sector_bytes;

	for (;;) {
		if (c->left_ns <= now_ns)
			c->leaving = 0;
		if (c->sectors + c->leaving + count <= room && c->extents < FB_MAX_EXTENTS)
			return now_ns;
		if (!c->leaving)
			destage_next(m, now_ns);
		now_ns = fb_later(now_ns, c->left_ns);
	}
}

/* Extents from..before, in the order of sectors, become one in the place of the oldest; returns its slot */
static u8 melt(struct fb_medium *m, u64 from, u64 before)
{
	struct fb_cache *c = &m->disk.cache;
	u8 kept = c->by_sector[from];
	u64 i;

	for (i = from + 1; i < before; i++)
		if (age_of(c, c->by_sector[i]) < age_of(c, kept))
			kept = c->by_sector[i];
	for (i = before; i-- > from;) {
		u8 slot = c->by_sector[i];

		if (slot == kept)
			continue;
		if (c->extent[slot].first < c->extent[kept].first) {
			c->extent[kept].first = c->extent[slot].first;
			place(m, kept, &c->extent[slot].place);
		}
		c->extent[kept].end = fb_later(c->extent[kept].end, c->extent[slot].end);
		fb_power_join(m, &c->extent[kept].parts, &c->extent[slot].parts);
		remove_extent(c, i, age_of(c, slot));
	}
	return kept;
}

/* Puts [first, end) and all that it touches into one extent; returns its slot */
static u8 join(struct fb_medium *m, u64 first, u64 end)
{
	struct fb_cache *c = &m->disk.cache;
	u64 from = find(c, first);
	u64 before = from;
	struct fb_extent *e;
	u8 slot;

	/* Extents are apart, so those that touch what came are all that touch the whole */
	for (; before < c->extents && by_sector(c, before)->first <= end; before++)
		c->sectors -= by_sector(c, before)->end - by_sector(c, before)->first;
	if (before == from)
		return insert_extent(c, from, first, end);
	slot = melt(m, from, before);
	e = &c->extent[slot];
	e->first = fb_smaller(e->first, first);
	e->end = fb_later(e->end, end);
	c->sectors += e->end - e->first;
	return slot;
}

/* By tracks, as they are written back; when, nobody knows yet */
static void note_cached(struct fb_medium *m, struct fb_extent *e, const struct fb_place *begin, u64 first, u64 end)
{
	u64 sector_bytes = m->params.sector_bytes;
	u64 left = begin->sectors_per_track - begin->sector;

	while (end - first > left) {
		struct fb_place at;

		fb_power_note_cached(m, &e->parts, first * sector_bytes, left * sector_bytes);
		first += left;
		at = fb_geometry_locate(&m->disk.geometry, &m->params, first);
		left = at.sectors_per_track;
	}
	fb_power_note_cached(m, &e->parts, first * sector_bytes, (end - first) * sector_bytes);
}

u64 fb_cache_write(struct fb_medium *m, u64 first, u64 end, u64 arrived_ns)
{
	struct fb_cache *c = &m->disk.cache;
	struct fb_place at = fb_geometry_locate(&m->disk.geometry, &m->params, first);
	u64 room_ns = make_room(m, end - first, arrived_ns);
	u8 slot = join(m, first, end);
	struct fb_extent *e = &c->extent[slot];

	e->since_ns = room_ns;
	c->there_ns = fb_later(c->there_ns, room_ns);
	if (e->first == first)
		place(m, slot, &at);
	note_cached(m, e, &at, first, end);
	m->counters.disk_cached_writes++;
	return room_ns;
}

bool fb_cache_holds(const struct fb_medium *m, u64 first, u64 end)
{
	const struct fb_cache *c = &m->disk.cache;
	u64 at = find(c, end);

	return at < c->extents && c->extent[c->by_sector[at]].first <= first;
}

u64 fb_cache_flush(struct fb_medium *m, u64 now_ns)
{
	while (m->disk.cache.extents)
		destage_next(m, now_ns);
	return fb_later(now_ns, m->disk.cache.written_ns);
}

/* Both orders have all slots, and the same in front */
static const char *verify_slots(const struct fb_cache *c)
{
	u64 sector_slots = 0, age_slots = 0, i;

	if (c->extents > FB_MAX_EXTENTS)
		return "the write cache has more extents than it can have";
	for (i = 0; i < FB_MAX_EXTENTS; i++) {
		if (c->by_sector[i] >= FB_MAX_EXTENTS || c->by_age[i] >= FB_MAX_EXTENTS)
			return "the write cache has a slot beyond its last";
		sector_slots |= (u64)1 << c->by_sector[i];
		age_slots |= (u64)1 << c->by_age[i];
		if (i + 1 == c->extents && sector_slots != age_slots)
			return "an extent of the write cache has a sector and no age";
	}
	return ~sector_slots || ~age_slots ? "a slot of the write cache is missing" : NULL;
}

static const char *verify_ages(const struct fb_cache *c)
{
	u64 passed_over = 0, i;

	for (i = 0; i < c->extents; i++) {
		if (c->extent[c->by_age[i]].since_ns > c->there_ns)
			return "an extent of the write cache comes after the last";
		passed_over += c->extent[c->by_age[i]].passed_more;
	}
	return passed_over != c->passed_over ? "the write cache passed its oldest extent over at other times" : NULL;
}

static const char *verify_parts(const struct fb_medium *m)
{
	const struct fb_cache *c = &m->disk.cache;
	u64 parts = 0, i;

	/* A cut has told what becomes of them */
	if (m->power.cut)
		return NULL;
	for (i = 0; i < c->extents; i++)
		parts += fb_power_chained(m, &c->extent[c->by_sector[i]].parts);
	return parts != fb_power_undecided(m) ? "the write cache holds other parts of writes than are pending" : NULL;
}

const char *fb_cache_verify(const struct fb_medium *m)
{
	const struct fb_cache *c = &m->disk.cache;
	const char *fault = verify_slots(c);
	u64 sectors = 0, i;

	if (!fault)
		fault = verify_ages(c);
	if (fault)
		return fault;
	for (i = 0; i < c->extents; i++) {
		const struct fb_extent *e = &c->extent[c->by_sector[i]];

		if (e->first >= e->end || e->end > m->disk.geometry.sectors)
			return "an extent of the write cache is off the disk";
		if (i && c->extent[c->by_sector[i - 1]].end >= e->first)
			return "two extents of the write cache touch each other, or are out of order";
		sectors += e->end - e->first;
	}
	if (sectors != c->sectors || sectors + c->leaving > m->params.write_cache_bytes / m->params.sector_bytes)
		return "the write cache holds another number of sectors than it says";
	return verify_parts(m);
}
