// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "arith.h"
#include "check.h"
#include "disk_seek.h"
#include "state.h"

/* A run of sectors passing under the head: when, and what the time went into */
struct fb_pass {
	u64 begin_ns;
	u64 end_ns;
	u64 move_ns;
	u64 rotation_ns;
	u64 transfer_ns;
	u32 seeks;
	u32 head_switches;
	struct fb_track arm;	/* where it is left */
};

bool fb_disk_check(const struct fb_params *p, struct fb_complaint *complaint)
{
	struct fb_geometry geometry;

	if (!fb_check_range(complaint, p, FB_PARAM_zones, 1, fb_smaller(p->cylinders, FB_MAX_ZONES),
			    "no more than cylinders") ||
	    !fb_check_range(complaint, p, FB_PARAM_inner_sectors_per_track, 1, p->outer_sectors_per_track,
			    "no more than outer_sectors_per_track") ||
	    !fb_check_range(complaint, p, FB_PARAM_seek_average_ns, p->seek_track_ns, FB_MAX_NS,
			    "at least seek_track_ns") ||
	    !fb_check_range(complaint, p, FB_PARAM_seek_full_ns, p->seek_average_ns, FB_MAX_NS,
			    "at least seek_average_ns"))
		return false;
	fb_geometry_init(&geometry, p);
	return fb_check_range(complaint, p, FB_PARAM_capacity_bytes, 4096, geometry.sectors * p->sector_bytes,
			      "no more than cylinders, heads and sectors per track hold");
}

void fb_disk_init(struct fb_medium *m)
{
	fb_geometry_init(&m->disk.geometry, &m->params);
}

bool fb_disk_undamaged(const struct fb_medium *m)
{
	struct fb_geometry expected;
	const struct fb_geometry *is = &m->disk.geometry;
	u32 i;

	fb_geometry_init(&expected, &m->params);
	if (is->sectors != expected.sectors || is->revolution_ns != expected.revolution_ns ||
	    is->zones != expected.zones)
		return false;
	for (i = 0; i < expected.zones; i++)
		if (is->zone[i].first_sector != expected.zone[i].first_sector ||
		    is->zone[i].first_cylinder != expected.zone[i].first_cylinder ||
		    is->zone[i].sectors_per_track != expected.zone[i].sectors_per_track)
			return false;
	return true;
}

void fb_disk_power_on(struct fb_medium *m)
{
	m->disk.arm_free_ns = 0;
	m->disk.segment = (struct fb_segment) { 0 };
}

static void move(const struct fb_params *p, struct fb_pass *pass, struct fb_track to, bool writes)
{
	u64 move_ns;

	if (pass->arm.cylinder != to.cylinder) {
		u32 distance = pass->arm.cylinder > to.cylinder ? pass->arm.cylinder - to.cylinder :
								  to.cylinder - pass->arm.cylinder;

		move_ns = fb_seek_ns(p, distance);
		pass->seeks++;
	} else if (pass->arm.head != to.head) {
		move_ns = p->head_switch_ns;
		pass->head_switches++;
	} else {
		return;
	}
	if (writes)
		move_ns += p->write_settle_ns;
	pass->arm = to;
	pass->end_ns += move_ns;
	pass->move_ns += move_ns;
}

static void rotate(const struct fb_geometry *g, struct fb_pass *pass, u64 angle_ns)
{
	u64 wait_ns = (angle_ns + g->revolution_ns - pass->end_ns % g->revolution_ns) % g->revolution_ns;

	pass->end_ns += wait_ns;
	pass->rotation_ns += wait_ns;
}

/*
 * What happens if the head, at present where arm says, passes count sectors from the first one on: it may move from
 * start_ns on, and may read or write from data_ns on. Changes nothing: a question as well as a plan.
 */
static struct fb_pass plan(const struct fb_medium *m, struct fb_track arm, u64 first, u64 count,
			   u64 start_ns, u64 data_ns, bool writes)
{
	const struct fb_geometry *g = &m->disk.geometry;
	struct fb_pass pass = { .begin_ns = start_ns, .end_ns = start_ns, .arm = arm };
	bool begun = false;

	while (count) {
		struct fb_place place = fb_geometry_locate(g, &m->params, first);
		u64 on_track = fb_smaller(count, place.sectors_per_track - place.sector);
		u64 transfer_ns = (place.sector + on_track) * g->revolution_ns / place.sectors_per_track -
				  place.sector * g->revolution_ns / place.sectors_per_track;

		move(&m->params, &pass, place.track, writes);
		pass.end_ns = fb_later(pass.end_ns, data_ns);
		rotate(g, &pass, fb_geometry_angle_ns(g, &m->params, &place, place.sector));
		if (!begun)
			pass.begin_ns = pass.end_ns;
		begun = true;
		pass.end_ns += transfer_ns;
		pass.transfer_ns += transfer_ns;
		first += on_track;
		count -= on_track;
	}
	return pass;
}

static void carry_out(struct fb_medium *m, const struct fb_pass *pass)
{
	m->disk.arm = pass->arm;
	m->disk.arm_free_ns = pass->end_ns;
	m->counters.disk_seeks += pass->seeks;
	m->counters.disk_head_switches += pass->head_switches;
	m->counters.disk_seek_ns += pass->move_ns;
	m->counters.disk_rotation_ns += pass->rotation_ns;
	m->counters.disk_transfer_ns += pass->transfer_ns;
}

static u64 readahead_sectors(const struct fb_medium *m)
{
	return m->params.readahead_bytes / m->params.sector_bytes;
}

/* The disk reads on behind the request, and forgets what lies far before it */
static void extend_segment(struct fb_medium *m, u64 end)
{
	struct fb_segment *s = &m->disk.segment;
	u64 limit = fb_smaller(end + readahead_sectors(m), m->disk.geometry.sectors);

	if (limit > s->limit)
		s->limit = limit;
	if (end > s->start + readahead_sectors(m))
		s->start = end - readahead_sectors(m);
}

static bool in_segment(const struct fb_medium *m, u64 first)
{
	const struct fb_segment *s = &m->disk.segment;

	return s->start < s->limit && first >= s->start && first <= s->limit;
}

/* If reading on came to its limit before now, all of it is there, and going on begins with a wait for the platter */
static void settle_segment(struct fb_medium *m, u64 now_ns)
{
	struct fb_segment *s = &m->disk.segment;
	struct fb_pass ahead = plan(m, m->disk.arm, s->end, s->limit - s->end, s->stream_ns, 0, false);

	if (ahead.end_ns > now_ns)
		return;
	m->disk.arm = ahead.arm;
	s->end = s->limit;
	s->stream_ns = now_ns;
}

/* Returns when the request's last sector is in the buffer */
static u64 read_from_segment(struct fb_medium *m, u64 first, u64 count, u64 command_done_ns)
{
	struct fb_segment *s = &m->disk.segment;
	u64 end = first + count;

	m->counters.disk_buffer_hits++;
	settle_segment(m, command_done_ns);
	if (end > s->end) {
		struct fb_pass pass = plan(m, m->disk.arm, s->end, end - s->end, s->stream_ns, 0, false);

		carry_out(m, &pass);
		s->end = end;
		s->available_ns = pass.end_ns;
		s->stream_ns = pass.end_ns;
	}
	extend_segment(m, end);
	return fb_later(command_done_ns, s->available_ns);
}

static u64 start_ns(const struct fb_medium *m, u64 command_done_ns)
{
	return fb_later(command_done_ns, m->disk.arm_free_ns);
}

static void start_segment(struct fb_medium *m, u64 first, u64 end, u64 end_ns)
{
	m->disk.segment = (struct fb_segment) {
		.start = first, .end = end, .limit = end, .available_ns = end_ns, .stream_ns = end_ns,
	};
	extend_segment(m, end);
}

static u64 read(struct fb_medium *m, u64 first, u64 count, u64 command_done_ns)
{
	u64 bytes = count * m->params.sector_bytes;
	u64 link_ready_ns = command_done_ns;
	u64 buffered_ns, sent_ns;

	if (in_segment(m, first)) {
		buffered_ns = read_from_segment(m, first, count, command_done_ns);
	} else {
		struct fb_pass pass = plan(m, m->disk.arm, first, count, start_ns(m, command_done_ns), 0, false);

		carry_out(m, &pass);
		start_segment(m, first, first + count, pass.end_ns);
		link_ready_ns = pass.begin_ns;
		buffered_ns = pass.end_ns;
	}
	/* Sectors go out as they come in: the last one follows when it is there and the others are gone */
	sent_ns = fb_link_take(m, link_ready_ns, bytes);
	return fb_later(sent_ns, buffered_ns + fb_transfer_ns(m->params.sector_bytes, m->params.link_ps_per_byte));
}

static u64 write(struct fb_medium *m, u64 first, u64 count, u64 command_done_ns)
{
	u64 arrived_ns = fb_link_take(m, command_done_ns, count * m->params.sector_bytes);
	struct fb_pass pass = plan(m, m->disk.arm, first, count, start_ns(m, command_done_ns), arrived_ns, true);

	carry_out(m, &pass);
	fb_power_note(m, &(struct fb_pending) { .offset_bytes = first * m->params.sector_bytes,
						.length_bytes = count * m->params.sector_bytes,
						.begin_ns = pass.begin_ns, .durable_ns = pass.end_ns });
	m->disk.segment = (struct fb_segment) { 0 };
	return pass.end_ns;
}

u64 fb_disk_submit(struct fb_medium *m, const struct fb_request *request, u64 command_done_ns)
{
	u64 first = request->offset_bytes / m->params.sector_bytes;
	u64 count = request->length_bytes / m->params.sector_bytes;

	if (request->op == FB_READ)
		return read(m, first, count, command_done_ns);
	if (request->op == FB_WRITE)
		return write(m, first, count, command_done_ns);
	return command_done_ns;		/* a disk has nothing to discard */
}

const char *fb_disk_verify(const struct fb_medium *m)
{
	const struct fb_disk *d = &m->disk;

	if (d->arm.cylinder >= m->params.cylinders || d->arm.head >= m->params.heads)
		return "the arm is off the disk";
	if (d->segment.start > d->segment.end || d->segment.end > d->segment.limit ||
	    d->segment.limit > d->geometry.sectors)
		return "the track buffer's segment is off the disk";
	return NULL;
}
