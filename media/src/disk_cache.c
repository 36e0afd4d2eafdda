// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "arith.h"
#include "state.h"

static void remove_extent(struct fb_cache *c, u64 at)
{
	u64 i;

	for (i = at + 1; i < c->extents; i++)
		c->extent[i - 1] = c->extent[i];
	c->extents--;
}

/* Makes note of where an extent begins: that is asked far more often than it changes */
static void place(const struct fb_medium *m, struct fb_extent *e)
{
	struct fb_place at = fb_geometry_locate(&m->disk.geometry, &m->params, e->first);

	e->track = at.track;
	e->angle_ns = fb_geometry_angle_ns(&m->disk.geometry, &m->params, &at, at.sector);
}

/* As much of an extent as lies on its first track */
static struct fb_run piece(const struct fb_medium *m, const struct fb_extent *e, u64 start_ns)
{
	struct fb_place at = fb_geometry_locate(&m->disk.geometry, &m->params, e->first);

	return (struct fb_run) {
		.first = e->first,
		.count = fb_smaller(e->end - e->first, at.sectors_per_track - at.sector),
		.start_ns = start_ns,
		.writes = true,
	};
}

/* When its first sector comes under the head; some time after best_ns if the platter alone makes that certain */
static u64 begin_ns(const struct fb_medium *m, const struct fb_extent *e, u64 start_ns, u64 best_ns)
{
	const struct fb_geometry *g = &m->disk.geometry;
	u64 earliest_ns = start_ns + fb_arm_wait_ns(g, start_ns, e->angle_ns);
	u64 arrived_ns;

	if (earliest_ns >= best_ns)
		return earliest_ns;
	arrived_ns = start_ns + fb_arm_move_ns(&m->params, m->disk.arm.track, e->track, true);
	return arrived_ns + fb_arm_wait_ns(g, arrived_ns, e->angle_ns);
}

/* The one that comes under the head first, among the oldest that are there */
static u64 choose(const struct fb_medium *m, u64 start_ns)
{
	const struct fb_cache *c = &m->disk.cache;
	u64 best = c->extents, best_ns = ~(u64)0, looked_at = 0, i;

	for (i = 0; i < c->extents && looked_at < m->params.reorder_depth; i++) {
		const struct fb_extent *e = &c->extent[i];
		u64 ns;

		if (e->since_ns > start_ns)
			continue;
		looked_at++;
		if (e->passed_over >= FB_DESTAGE_PATIENCE)
			return i;
		ns = begin_ns(m, e, start_ns, best_ns);
		if (ns < best_ns) {
			best_ns = ns;
			best = i;
		}
	}
	return best;
}

static void note_written_back(struct fb_medium *m, const struct fb_run *run, const struct fb_pass *pass)
{
	u64 sector_bytes = m->params.sector_bytes;

	fb_power_note_written_back(m, &(struct fb_pending) { .offset_bytes = run->first * sector_bytes,
							     .length_bytes = run->count * sector_bytes,
							     .begin_ns = pass->begin_ns, .durable_ns = pass->end_ns });
}

/* Writes back one piece, from start_ns on; something is there then */
static void destage(struct fb_medium *m, u64 start_ns)
{
	struct fb_cache *c = &m->disk.cache;
	u64 at, i;
	struct fb_run run;
	struct fb_pass pass;

	fb_buffer_leave(m, start_ns);
	at = choose(m, start_ns);
	for (i = 0; i < at; i++)
		c->extent[i].passed_over++;
	run = piece(m, &c->extent[at], start_ns);
	pass = fb_arm_append(m, &run);
	note_written_back(m, &run, &pass);
	c->left_ns = pass.end_ns;
	c->written_ns = fb_later(c->written_ns, c->left_ns);
	c->leaving = run.count;
	c->sectors -= run.count;
	c->extent[at].first += run.count;
	if (c->extent[at].first == c->extent[at].end)
		remove_extent(c, at);
	else
		place(m, &c->extent[at]);
	m->counters.disk_destages++;
}

static u64 earliest_ns(const struct fb_cache *c)
{
	u64 earliest = ~(u64)0, i;

	for (i = 0; i < c->extents; i++)
		if (c->extent[i].since_ns < earliest)
			earliest = c->extent[i].since_ns;
	return earliest;
}

void fb_cache_catch_up(struct fb_medium *m, u64 now_ns)
{
	const struct fb_cache *c = &m->disk.cache;

	while (c->extents && m->disk.arm.free_ns < now_ns) {
		u64 start_ns = fb_later(m->disk.arm.free_ns, earliest_ns(c));

		start_ns = fb_later(start_ns, fb_buffer_idle_ns(m));
		if (start_ns >= now_ns)
			return;
		destage(m, start_ns);
	}
}

static void destage_next(struct fb_medium *m, u64 now_ns)
{
	destage(m, fb_later(fb_later(m->disk.arm.free_ns, now_ns), earliest_ns(&m->disk.cache)));
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

/* Joins [first, end) with all extents that it touches, in the place of the oldest; returns that place */
static u64 join(struct fb_cache *c, u64 first, u64 end)
{
	u64 at = c->extents, i = 0;

	while (i < c->extents) {
		struct fb_extent *e = &c->extent[i];

		if (first > e->end || end < e->first || i == at) {
			i++;
			continue;
		}
		first = fb_smaller(first, e->first);
		end = fb_later(end, e->end);
		c->sectors -= e->end - e->first;
		if (at == c->extents) {
			at = i;
		} else {
			c->sectors -= c->extent[at].end - c->extent[at].first;
			remove_extent(c, i);
		}
		c->extent[at].first = first;
		c->extent[at].end = end;
		c->sectors += end - first;
		i = 0;
	}
	return at;
}

/* By tracks, as they are written back; when, nobody knows yet */
static void note_cached(struct fb_medium *m, u64 first, u64 end)
{
	u64 sector_bytes = m->params.sector_bytes;

	while (first < end) {
		struct fb_extent rest = { .first = first, .end = end };
		u64 count = piece(m, &rest, 0).count;

		fb_power_note(m, &(struct fb_pending) { .offset_bytes = first * sector_bytes,
							.length_bytes = count * sector_bytes,
							.begin_ns = FB_NEVER, .durable_ns = FB_NEVER });
		first += count;
	}
}

u64 fb_cache_write(struct fb_medium *m, u64 first, u64 end, u64 arrived_ns)
{
	struct fb_cache *c = &m->disk.cache;
	u64 room_ns = make_room(m, end - first, arrived_ns);
	u64 at = join(c, first, end);

	if (at == c->extents) {
		c->extent[c->extents++] = (struct fb_extent) { .first = first, .end = end };
		c->sectors += end - first;
	}
	c->extent[at].since_ns = room_ns;
	place(m, &c->extent[at]);
	note_cached(m, first, end);
	m->counters.disk_cached_writes++;
	return room_ns;
}

bool fb_cache_holds(const struct fb_medium *m, u64 first, u64 end)
{
	const struct fb_cache *c = &m->disk.cache;
	u64 i;

	for (i = 0; i < c->extents; i++)
		if (first >= c->extent[i].first && end <= c->extent[i].end)
			return true;
	return false;
}

u64 fb_cache_flush(struct fb_medium *m, u64 now_ns)
{
	while (m->disk.cache.extents)
		destage_next(m, now_ns);
	return fb_later(now_ns, m->disk.cache.written_ns);
}

const char *fb_cache_verify(const struct fb_medium *m)
{
	const struct fb_cache *c = &m->disk.cache;
	u64 sectors = 0, i, j;

	if (c->extents > FB_MAX_EXTENTS)
		return "the write cache has more extents than it can have";
	for (i = 0; i < c->extents; i++) {
		const struct fb_extent *e = &c->extent[i];

		if (e->first >= e->end || e->end > m->disk.geometry.sectors)
			return "an extent of the write cache is off the disk";
		for (j = 0; j < i; j++)
			if (e->first <= c->extent[j].end && c->extent[j].first <= e->end)
				return "two extents of the write cache touch each other";
		sectors += e->end - e->first;
	}
	if (sectors != c->sectors || sectors + c->leaving > m->params.write_cache_bytes / m->params.sector_bytes)
		return "the write cache holds another number of sectors than it says";
	return NULL;
}
