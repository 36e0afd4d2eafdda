// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The segments of a disk's read buffer, filled by reads and by read-ahead */
#include "arith.h"
#include "state.h"

static u64 sectors(const struct fb_medium *m, u64 bytes)
{
	return bytes / m->params.sector_bytes;
}

static struct fb_segment *reading(struct fb_medium *m)
{
	struct fb_buffer *b = &m->disk.buffer;

	return b->reading ? &b->segment[b->reading - 1] : NULL;
}

static void use(struct fb_buffer *b, struct fb_segment *s)
{
	s->used = ++b->uses;
}

static void keep_newest(const struct fb_medium *m, struct fb_segment *s)
{
	u64 capacity = sectors(m, m->params.segment_bytes);

	if (s->limit > s->start + capacity)
		s->start = s->limit - capacity;
	if (s->start > s->end)
		s->start = s->end;
}

static struct fb_run ahead(const struct fb_medium *m, const struct fb_segment *s, u64 end)
{
	return (struct fb_run) {
		.first = s->end, .count = end - s->end,
		.place = fb_geometry_locate(&m->disk.geometry, &m->params, s->end), .start_ns = s->stream_ns,
	};
}

u64 fb_buffer_idle_ns(const struct fb_medium *m)
{
	const struct fb_segment *s = reading((struct fb_medium *)m);
	struct fb_run rest;

	if (!s)
		return 0;
	rest = ahead(m, s, s->limit);
	return fb_arm_plan(m, m->disk.arm.track, &rest).end_ns;
}

/*
 * Adds the sectors of the current track that have passed by now_ns; the arm follows. True if they complete the track.
 */
static bool pass_track(struct fb_medium *m, struct fb_segment *s, u64 now_ns)
{
	const struct fb_geometry *g = &m->disk.geometry;
	u64 begin_ns, max, count;
	struct fb_place place;
	struct fb_run run;

	if (s->end == s->limit)
		return false;
	run = ahead(m, s, s->limit);
	place = run.place;
	max = fb_min(run.count, place.sectors_per_track - place.sector);
	begin_ns = fb_arm_begin(m, m->disk.arm.track, &run).begin_ns;
	if (begin_ns + fb_geometry_pass_ns(g, &place, 1) > now_ns)
		return false;
	/* A sector takes a whole number of ns or one more, so the estimate may be one or two too high */
	count = fb_min((now_ns - begin_ns) * place.sectors_per_track / g->revolution_ns + 1, max);
	while (begin_ns + fb_geometry_pass_ns(g, &place, count) > now_ns)
		count--;
	m->disk.arm.track = place.track;
	s->end += count;
	s->stream_ns = begin_ns + fb_geometry_pass_ns(g, &place, count);
	s->available_ns = s->stream_ns;
	return count == max;
}

/* True if read-ahead has reached its limit: continuing from there begins with a wait for the platter */
static bool came_to_limit(struct fb_medium *m, struct fb_segment *s, u64 now_ns)
{
	u64 min_ns = (s->limit - s->end) * m->disk.geometry.revolution_ns / m->params.outer_sectors_per_track;
	struct fb_pass pass;
	struct fb_run rest;

	if (s->stream_ns + min_ns > now_ns)
		return false;
	rest = ahead(m, s, s->limit);
	pass = fb_arm_plan(m, m->disk.arm.track, &rest);
	if (pass.end_ns > now_ns)
		return false;
	m->disk.arm.track = pass.track;
	if (s->end < s->limit)
		s->available_ns = pass.end_ns;
	s->end = s->limit;
	s->stream_ns = now_ns;
	return true;
}

void fb_buffer_leave(struct fb_medium *m, u64 now_ns)
{
	struct fb_segment *s = reading(m);

	if (!s)
		return;
	if (!came_to_limit(m, s, now_ns))
		while (pass_track(m, s, now_ns))
			;
	s->limit = s->end;
	m->disk.buffer.reading = 0;
}

/* Reads ahead up to `end`, as part of the arm's work */
static void read_on(struct fb_medium *m, struct fb_segment *s, u64 end)
{
	struct fb_run run = ahead(m, s, end);
	struct fb_pass pass = fb_arm_append(m, &run);

	s->end = end;
	s->available_ns = pass.end_ns;
	s->stream_ns = pass.end_ns;
}

static u64 farthest(const struct fb_medium *m, u64 end)
{
	return fb_min(end + sectors(m, m->params.readahead_bytes), m->disk.geometry.sectors);
}

static u64 read_stream(struct fb_medium *m, struct fb_segment *s, u64 end, u64 command_done_ns)
{
	came_to_limit(m, s, command_done_ns);
	if (end > s->end)
		read_on(m, s, end);
	if (farthest(m, end) > s->limit)
		s->limit = farthest(m, end);
	if (s->limit < s->end)
		s->limit = s->end;
	keep_newest(m, s);
	return fb_max(command_done_ns, s->available_ns);
}

u64 fb_buffer_read(struct fb_medium *m, u64 first, u64 end, u64 command_done_ns)
{
	struct fb_buffer *b = &m->disk.buffer;
	struct fb_segment *stream = reading(m);
	u64 i;

	for (i = 0; i < b->in_use; i++) {
		struct fb_segment *s = &b->segment[i];

		/* Most segments are elsewhere: one comparison covers both ends */
		if (first - s->start > s->limit - s->start || s->start == s->limit)
			continue;
		if (s == stream) {
			use(b, s);
			return read_stream(m, s, end, command_done_ns);
		}
		if (end <= s->end) {
			use(b, s);
			return fb_max(command_done_ns, s->available_ns);
		}
	}
	return 0;
}

static struct fb_segment *oldest(struct fb_medium *m)
{
	struct fb_segment *found = m->disk.buffer.segment;
	u64 i;

	for (i = 1; i < m->params.segments; i++)
		if (m->disk.buffer.segment[i].used < found->used)
			found = &m->disk.buffer.segment[i];
	return found;
}

static struct fb_segment *add(struct fb_medium *m, u64 first, u64 end, u64 limit, u64 end_ns)
{
	struct fb_segment *s = oldest(m);

	if (s == reading(m))
		m->disk.buffer.reading = 0;
	*s = (struct fb_segment) {
		.start = first, .end = end, .limit = limit, .available_ns = end_ns, .stream_ns = end_ns,
	};
	m->disk.buffer.in_use = fb_max(m->disk.buffer.in_use, s - m->disk.buffer.segment + 1);
	keep_newest(m, s);
	use(&m->disk.buffer, s);
	return s;
}

void fb_buffer_add(struct fb_medium *m, u64 first, u64 end, u64 end_ns)
{
	struct fb_segment *s;

	if (!sectors(m, m->params.segment_bytes))
		return;
	s = add(m, first, end, farthest(m, end), end_ns);
	m->disk.buffer.reading = s - m->disk.buffer.segment + 1;
}

void fb_buffer_add_closed(struct fb_medium *m, u64 first, u64 end, u64 end_ns)
{
	/* With a single segment, later read-ahead is worth more */
	if (sectors(m, m->params.segment_bytes) && m->params.segments > 1)
		add(m, first, end, end, end_ns);
}

void fb_buffer_forget(struct fb_medium *m, u64 first, u64 end)
{
	struct fb_buffer *b = &m->disk.buffer;
	u64 i;

	for (i = 0; i < b->in_use; i++) {
		struct fb_segment *s = &b->segment[i];

		if (first >= s->limit || end <= s->start)
			continue;
		if (s == reading(m))
			b->reading = 0;
		*s = (struct fb_segment) { 0 };
	}
}

const char *fb_buffer_verify(const struct fb_medium *m)
{
	const struct fb_buffer *b = &m->disk.buffer;
	u64 i;

	if (b->in_use > m->params.segments || b->reading > b->in_use)
		return "the disk reads on into a segment that it does not have";
	for (i = 0; i < m->params.segments; i++) {
		const struct fb_segment *s = &b->segment[i];

		if (i >= b->in_use && s->limit)
			return "a segment of the buffer is in use and not counted";
		if (s->start > s->end || s->end > s->limit || s->limit > m->disk.geometry.sectors)
			return "a segment of the buffer is off the disk";
		if (s->limit - s->start > sectors(m, m->params.segment_bytes))
			return "a segment of the buffer is larger than it may be";
		if (s->end != s->limit && i + 1 != b->reading)
			return "a segment is read on into, and the arm is elsewhere";
	}
	return NULL;
}
