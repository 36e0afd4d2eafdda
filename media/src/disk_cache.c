// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The write cache of a disk: waiting extents, writes still on the link, and the order of destaging */
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

/* Returns the index, in sector order, of the first extent that ends at or behind a sector */
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

/* Inserts the newest extent; `at` is its index in sector order */
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

/* Caches the place where an extent begins: it is read far more often than it changes */
static void place(struct fb_medium *m, u8 slot, const struct fb_place *at)
{
	m->disk.cache.extent[slot].place = *at;
	m->disk.cache.angle_ns[slot] = fb_geometry_angle_ns(&m->disk.geometry, at);
}

/* The part of an extent on its first track */
static struct fb_run piece(const struct fb_extent *e, u64 start_ns)
{
	return (struct fb_run) {
		.first = e->first,
		.count = fb_min(e->end - e->first, e->place.sectors_per_track - e->place.sector),
		.place = e->place,
		.start_ns = start_ns,
		.writes = true,
	};
}

/* Counts that all extents older than this one, in age order, were passed over once more */
static void pass_over(struct fb_cache *c, u64 at)
{
	if (!at)
		return;
	c->extent[c->by_age[at - 1]].passed_more++;
	c->passed_over++;
}

/*
 * Returns the index, in age order, of that one of the oldest extents which comes under the head first. No extent was
 * passed over more often than the oldest, so only the oldest can have waited too long. The arm's plan is computed only
 * for extents that the platter does not rule out: nothing is written before its angle comes, and no seek to another
 * cylinder is shorter than the seek to the next.
 */
static u64 choose(const struct fb_medium *m, u64 start_ns)
{
	const struct fb_cache *c = &m->disk.cache;
	const u64 revolution_ns = m->disk.geometry.revolution_ns;
	const u64 at_ns = start_ns % revolution_ns;
	const u64 min_seek_ns = m->disk.write_seeks.curve.track_ns;
	const struct fb_track arm = m->disk.arm.track;
	const u64 end = fb_min(c->extents, m->params.reorder_depth);
	u64 best = 0, best_ns = ~(u64)0, move_ns, i;

	if (c->passed_over >= FB_DESTAGE_PATIENCE)
		return 0;
	for (i = 0; i < end; i++) {
		u8 slot = c->by_age[i];
		const struct fb_extent *e = &c->extent[slot];
		u64 angle_ns = c->angle_ns[slot];
		u64 ns = angle_ns - at_ns;

		if (ns > angle_ns)
			ns += revolution_ns;
		if (ns >= best_ns)
			continue;
		if (e->place.track.cylinder != arm.cylinder && ns < min_seek_ns && ns + revolution_ns >= best_ns)
			continue;
		move_ns = fb_arm_move_ns(m, arm, e->place.track, true);
		if (ns < move_ns)
			ns += fb_div_round_up(move_ns - ns, revolution_ns) * revolution_ns;
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

/* Merges the extents [from, before), in sector order, into the slot of the oldest; returns the slot */
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
		c->extent[kept].end = fb_max(c->extent[kept].end, c->extent[slot].end);
		fb_power_join(m, &c->extent[kept].parts, &c->extent[slot].parts);
		remove_extent(c, i, age_of(c, slot));
	}
	return kept;
}

/* Merges [first, end) with all extents that it touches; returns the slot */
static u8 put(struct fb_medium *m, u64 first, u64 end)
{
	struct fb_cache *c = &m->disk.cache;
	u64 from = find(c, first);
	u64 before = from;
	struct fb_extent *e;
	u8 slot;

	/* Extents never touch each other, so those that touch the new one are all */
	for (; before < c->extents && by_sector(c, before)->first <= end; before++)
		c->sectors -= by_sector(c, before)->end - by_sector(c, before)->first;
	if (before == from)
		return insert_extent(c, from, first, end);
	slot = melt(m, from, before);
	e = &c->extent[slot];
	e->first = fb_min(e->first, first);
	e->end = fb_max(e->end, end);
	c->sectors += e->end - e->first;
	return slot;
}

static void join(struct fb_medium *m, const struct fb_arrival *arrival)
{
	struct fb_cache *c = &m->disk.cache;
	u8 slot = put(m, arrival->first, arrival->end);

	if (c->extent[slot].first == arrival->first)
		place(m, slot, &arrival->place);
	fb_power_join(m, &c->extent[slot].parts, &arrival->parts);
	c->arriving -= arrival->end - arrival->first;
}


/* Adds the writes that have arrived to the cache. Usually there are none. */
static void take_arrivals(struct fb_medium *m, u64 now_ns)
{
	struct fb_cache *c = &m->disk.cache;
	u64 i;

	while (c->arrivals && c->arrival[0].at_ns <= now_ns) {
		join(m, &c->arrival[0]);
		c->arrivals--;
		for (i = 0; i < c->arrivals; i++)
			c->arrival[i] = c->arrival[i + 1];
	}
}

/* Destages one piece, starting at start_ns. The cache must not be empty then. */
static void destage(struct fb_medium *m, u64 start_ns)
{
	struct fb_cache *c = &m->disk.cache;
	struct fb_extent *e;
	struct fb_run run;
	struct fb_pass pass;
	u64 at;

	take_arrivals(m, start_ns);
	fb_buffer_leave(m, start_ns);
	at = choose(m, start_ns);
	pass_over(c, at);
	e = &c->extent[c->by_age[at]];
	run = piece(e, start_ns);
	pass = fb_arm_append(m, &run);
	note_written_back(m, e, &run, &pass);
	c->leaving = run.count;
	c->leave_ns = pass.begin_ns;
	c->left_ns = pass.end_ns;
	c->written_ns = fb_max(c->written_ns, c->left_ns);
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

/* The first time from now_ns on at which the arm can begin to destage. Something must be cached or arriving. */
static u64 destage_ns(const struct fb_medium *m, u64 now_ns)
{
	const struct fb_cache *c = &m->disk.cache;
	u64 start_ns = fb_max(fb_max(m->disk.arm.free_ns, c->known_ns), now_ns);

	return c->extents ? start_ns : fb_max(start_ns, c->arrival[0].at_ns);
}

void fb_cache_catch_up(struct fb_medium *m, u64 now_ns)
{
	struct fb_cache *c = &m->disk.cache;

	while ((c->extents || c->arrivals) && m->disk.arm.free_ns < now_ns) {
		u64 start_ns = fb_max(destage_ns(m, 0), fb_buffer_idle_ns(m));

		if (start_ns >= now_ns)
			break;
		destage(m, start_ns);
	}
	c->known_ns = fb_max(c->known_ns, now_ns);
	take_arrivals(m, c->known_ns);
}

/* The sectors of the last piece that the head has not passed yet */
static u64 leaving(const struct fb_cache *c, u64 now_ns)
{
	if (now_ns >= c->left_ns)
		return 0;
	return now_ns <= c->leave_ns ? c->leaving :
	       c->leaving - (now_ns - c->leave_ns) * c->leaving / (c->left_ns - c->leave_ns);
}

/* The time at which at most `max` of them are left */
static u64 leaving_no_more_than(const struct fb_cache *c, u64 max)
{
	if (max >= c->leaving)
		return 0;
	return c->leave_ns + fb_div_round_up((c->leaving - max) * (c->left_ns - c->leave_ns), c->leaving);
}

/*
 * The time at which `count` more sectors fit without destaging another piece. They replace sectors of the last piece as
 * the head passes them, but that piece counts as an extent until its end. FB_NEVER: more must be destaged.
 */
static u64 vacant_ns(const struct fb_medium *m, u64 count)
{
	const struct fb_cache *c = &m->disk.cache;
	u64 capacity = m->params.write_cache_bytes / m->params.sector_bytes;
	u64 slots = FB_MAX_EXTENTS - c->extents - c->arrivals;

	if (!slots || c->arrivals == FB_MAX_ARRIVALS || c->sectors + c->arriving + count > capacity)
		return FB_NEVER;
	return slots == 1 ? c->left_ns : leaving_no_more_than(c, capacity - c->sectors - c->arriving - count);
}

static u64 make_room(struct fb_medium *m, u64 count, u64 now_ns)
{
	u64 ready_ns = vacant_ns(m, count);

	if (ready_ns <= now_ns)
		return now_ns;
	if (m->disk.arm.free_ns < now_ns) {
		fb_cache_catch_up(m, now_ns);
		ready_ns = vacant_ns(m, count);
	}
	while (ready_ns == FB_NEVER) {
		now_ns = fb_max(now_ns, m->disk.cache.left_ns);
		destage(m, destage_ns(m, now_ns));
		ready_ns = vacant_ns(m, count);
	}
	return fb_max(now_ns, ready_ns);
}

/* Notes the write by tracks, the unit of destaging; its times are still undecided */
static void note_cached(struct fb_medium *m, struct fb_arrival *arrival)
{
	u64 sector_bytes = m->params.sector_bytes;
	u64 left = arrival->place.sectors_per_track - arrival->place.sector;
	u64 first = arrival->first;

	while (arrival->end - first > left) {
		struct fb_place at;

		fb_power_note_cached(m, &arrival->parts, first * sector_bytes, left * sector_bytes);
		first += left;
		at = fb_geometry_locate(&m->disk.geometry, &m->params, first);
		left = at.sectors_per_track;
	}
	fb_power_note_cached(m, &arrival->parts, first * sector_bytes, (arrival->end - first) * sector_bytes);
}

u64 fb_cache_write(struct fb_medium *m, u64 first, u64 end, u64 arrived_ns)
{
	struct fb_cache *c = &m->disk.cache;
	u64 at_ns = make_room(m, end - first, arrived_ns);
	struct fb_arrival *arrival;
	u64 i;

	for (i = c->arrivals; i && c->arrival[i - 1].at_ns > at_ns; i--)
		c->arrival[i] = c->arrival[i - 1];
	arrival = &c->arrival[i];
	arrival->first = first;
	arrival->end = end;
	arrival->at_ns = at_ns;
	arrival->place = fb_geometry_locate(&m->disk.geometry, &m->params, first);
	arrival->parts = (struct fb_chain) { 0 };
	note_cached(m, arrival);
	c->arrivals++;
	c->arriving += end - first;
	c->room_ns = fb_max(c->room_ns, at_ns);
	m->counters.disk_cached_writes++;
	take_arrivals(m, c->known_ns);
	return at_ns;
}

u64 fb_cache_read(const struct fb_medium *m, u64 first, u64 end, u64 command_done_ns)
{
	const struct fb_cache *c = &m->disk.cache;
	u64 at = find(c, end), i;

	if (at < c->extents && c->extent[c->by_sector[at]].first <= first)
		return command_done_ns;
	for (i = 0; i < c->arrivals; i++)
		if (c->arrival[i].first <= first && c->arrival[i].end >= end)
			return fb_max(command_done_ns, c->arrival[i].at_ns);
	return FB_NEVER;
}

u64 fb_cache_flush(struct fb_medium *m, u64 now_ns)
{
	const struct fb_cache *c = &m->disk.cache;

	while (c->extents || c->arrivals)
		destage(m, destage_ns(m, now_ns));
	return fb_max(now_ns, c->written_ns);
}

/* Both orders hold every slot, and the same ones in front */
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

	for (i = 0; i < c->extents; i++)
		passed_over += c->extent[c->by_age[i]].passed_more;
	return passed_over != c->passed_over ? "the write cache passed its oldest extent over at other times" : NULL;
}

static const char *verify_arrivals(const struct fb_medium *m)
{
	const struct fb_cache *c = &m->disk.cache;
	u64 sectors = 0, i;

	if (c->arrivals > FB_MAX_ARRIVALS || c->extents + c->arrivals > FB_MAX_EXTENTS)
		return "more is on its way to the write cache than it can have";
	for (i = 0; i < c->arrivals; i++) {
		const struct fb_arrival *a = &c->arrival[i];

		if (a->first >= a->end || a->end > m->disk.geometry.sectors)
			return "what is on its way to the write cache is off the disk";
		if (i ? a->at_ns < c->arrival[i - 1].at_ns : a->at_ns <= c->known_ns)
			return "what is on its way to the write cache is out of order";
		sectors += a->end - a->first;
	}
	if (sectors != c->arriving)
		return "another number of sectors is on its way to the write cache than it says";
	return NULL;
}

static const char *verify_parts(const struct fb_medium *m)
{
	const struct fb_cache *c = &m->disk.cache;
	u64 parts = 0, i;

	/* A cut has already decided their fate */
	if (m->power.cut)
		return NULL;
	for (i = 0; i < c->extents; i++)
		parts += fb_power_chained(m, &c->extent[c->by_sector[i]].parts);
	for (i = 0; i < c->arrivals; i++)
		parts += fb_power_chained(m, &c->arrival[i].parts);
	return parts != fb_power_undecided(m) ? "the write cache holds other parts of writes than are pending" : NULL;
}

const char *fb_cache_verify(const struct fb_medium *m)
{
	const struct fb_cache *c = &m->disk.cache;
	const char *fault = verify_slots(c);
	u64 sectors = 0, i;

	if (!fault)
		fault = verify_ages(c);
	if (!fault)
		fault = verify_arrivals(m);
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
	if (sectors != c->sectors || sectors + c->arriving + leaving(c, c->room_ns) >
				     m->params.write_cache_bytes / m->params.sector_bytes)
		return "the write cache holds another number of sectors than it says";
	return verify_parts(m);
}
