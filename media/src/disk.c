// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A rotating disk as a kind of medium: its state, and the way of requests through buffer, cache and arm */
#include "arith.h"
#include "check.h"
#include "kind.h"
#include "state.h"

static bool check(const struct fb_params *p, struct fb_complaint *complaint)
{
	struct fb_geometry geometry;

	if (!fb_check_sectors(p, complaint) ||
	    !fb_check_range(complaint, p, FB_PARAM_zones, 1, fb_min(p->cylinders, FB_MAX_ZONES),
			    "no more than cylinders") ||
	    /* The parts of any write that the cache accepts must fit into the ring of pending_parts() */
	    !fb_check_range(complaint, p, FB_PARAM_inner_sectors_per_track,
			    fb_div_round_up(FB_CACHED_PART_BYTES, p->sector_bytes), p->outer_sectors_per_track,
			    "tracks of 4096 bytes or more, and no more than outer_sectors_per_track") ||
	    !fb_check_range(complaint, p, FB_PARAM_seek_full_ns, p->seek_track_ns, FB_MAX_NS,
			    "at least seek_track_ns") ||
	    !fb_check_range(complaint, p, FB_PARAM_seek_average_ns, fb_min_average_ns(p), fb_max_average_ns(p),
			    "what a curve from seek_track_ns to seek_full_ns can have") ||
	    (p->write_seek_average_ns &&
	     !fb_check_range(complaint, p, FB_PARAM_write_seek_average_ns, p->seek_average_ns + p->write_settle_ns,
			     fb_max_write_average_ns(p), "what a curve that seek_full_ns bounds can have; or 0")) ||
	    !fb_check_range(complaint, p, FB_PARAM_readahead_bytes, 0, p->segment_bytes, "no more than segment_bytes"))
		return false;
	fb_geometry_init(&geometry, p);
	return fb_check_range(complaint, p, FB_PARAM_capacity_bytes, 4096, geometry.sectors * p->sector_bytes,
			      "no more than cylinders, heads and sectors per track hold");
}

static void init(struct fb_medium *m)
{
	struct fb_seek_curve read_curve = fb_read_curve(&m->params), write_curve = fb_write_curve(&m->params);

	fb_geometry_init(&m->disk.geometry, &m->params);
	fb_seeks_init(&m->disk.read_seeks, &read_curve);
	fb_seeks_init(&m->disk.write_seeks, &write_curve);
	fb_cache_clear(&m->disk.cache);
}

static bool same_geometry(const struct fb_geometry *a, const struct fb_geometry *b)
{
	u32 i;

	if (a->sectors != b->sectors || a->revolution_ns != b->revolution_ns || a->zones != b->zones ||
	    a->head_skew_ns != b->head_skew_ns || a->cylinder_skew_ns != b->cylinder_skew_ns)
		return false;
	for (i = 0; i < a->zones; i++)
		if (a->zone[i].first_sector != b->zone[i].first_sector ||
		    a->zone[i].first_cylinder != b->zone[i].first_cylinder ||
		    a->zone[i].sectors_per_track != b->zone[i].sectors_per_track)
			return false;
	return true;
}

static bool undamaged(const struct fb_medium *m)
{
	const struct fb_disk *disk = &m->disk;
	struct fb_seek_curve read_curve = fb_read_curve(&m->params), write_curve = fb_write_curve(&m->params);
	struct fb_geometry geometry;

	fb_geometry_init(&geometry, &m->params);
	return same_geometry(&disk->geometry, &geometry) && fb_seeks_undamaged(&disk->read_seeks, &read_curve) &&
	       fb_seeks_undamaged(&disk->write_seeks, &write_curve) &&
	       disk->arm.track.cylinder < m->params.cylinders && disk->arm.track.head < m->params.heads;
}

/* The write cache counts as written back: a proper shutdown flushes it */
static void power_on(struct fb_medium *m)
{
	u32 i;

	m->disk.arm.free_ns = 0;
	m->disk.arm.reserved = 0;
	m->disk.arm.oldest = 0;
	fb_cache_clear(&m->disk.cache);
	m->disk.buffer.reading = 0;
	m->disk.buffer.in_use = 0;
	for (i = 0; i < FB_MAX_SEGMENTS; i++)
		m->disk.buffer.segment[i] = (struct fb_segment) { 0 };
}

/* Adds the run to the arm's work; sets *last if the arm stays there afterwards */
static struct fb_pass carry_out(struct fb_medium *m, struct fb_run run, bool *last)
{
	struct fb_pass pass;

	*last = !fb_arm_insert(m, &run, &pass);
	if (!*last)
		return pass;
	run.start_ns = fb_max(run.start_ns, m->disk.arm.free_ns);
	fb_buffer_leave(m, run.start_ns);
	return fb_arm_append(m, &run);
}

static u64 read_platter(struct fb_medium *m, u64 first, u64 count, u64 command_done_ns, u64 *link_ready_ns)
{
	struct fb_run run = {
		.first = first, .count = count, .place = fb_geometry_locate(&m->disk.geometry, &m->params, first),
		.start_ns = command_done_ns,
	};
	bool last;
	struct fb_pass pass = carry_out(m, run, &last);

	if (last)
		fb_buffer_add(m, first, first + count, pass.end_ns);
	else
		fb_buffer_add_closed(m, first, first + count, pass.end_ns);
	*link_ready_ns = pass.begin_ns;
	return pass.end_ns;
}

static u64 read(struct fb_medium *m, u64 first, u64 count, u64 command_done_ns)
{
	u64 link_ready_ns = command_done_ns;
	u64 buffered_ns = fb_cache_read(m, first, first + count, command_done_ns);
	u64 sent_ns;

	if (buffered_ns != FB_NEVER) {
		m->counters.disk_buffer_hits++;
	} else {
		buffered_ns = fb_buffer_read(m, first, first + count, command_done_ns);
		if (buffered_ns)
			m->counters.disk_buffer_hits++;
		else
			buffered_ns = read_platter(m, first, count, command_done_ns, &link_ready_ns);
	}
	/* Sectors are sent as they are read: the last one follows when it is there and the others are gone */
	sent_ns = fb_link_take(m, link_ready_ns, count * m->params.sector_bytes);
	return fb_max(sent_ns, buffered_ns + fb_transfer_ns(m->params.sector_bytes, m->params.link_ps_per_byte));
}

static u64 write_platter(struct fb_medium *m, u64 first, u64 count, u64 command_done_ns, u64 arrived_ns)
{
	struct fb_run run = {
		.first = first, .count = count, .place = fb_geometry_locate(&m->disk.geometry, &m->params, first),
		.start_ns = command_done_ns, .data_ns = arrived_ns, .writes = true,
	};
	bool last;
	struct fb_pass pass = carry_out(m, run, &last);

	fb_power_note(m, &(struct fb_pending) { .offset_bytes = first * m->params.sector_bytes,
						.length_bytes = count * m->params.sector_bytes,
						.begin_ns = pass.begin_ns, .durable_ns = pass.end_ns });
	m->disk.cache.written_ns = fb_max(m->disk.cache.written_ns, pass.end_ns);
	return pass.end_ns;
}

static u64 write(struct fb_medium *m, u64 first, u64 count, bool fua, u64 command_done_ns)
{
	u64 bytes = count * m->params.sector_bytes;
	u64 arrived_ns = fb_link_take(m, command_done_ns, bytes);

	fb_buffer_forget(m, first, first + count);
	if (fua || bytes > m->params.write_cache_bytes)
		return write_platter(m, first, count, command_done_ns, arrived_ns);
	return fb_cache_write(m, first, first + count, arrived_ns);
}

/* The controller takes one request after another; returns the time at which it is done with this one */
static u64 take_controller(struct fb_medium *m)
{
	m->counters.controller_ns += m->params.command_ns;
	m->controller_free_ns = fb_max(m->now_ns, m->controller_free_ns) + m->params.command_ns;
	return m->controller_free_ns;
}

static u64 submit(struct fb_medium *m, const struct fb_request *request)
{
	u64 command_done_ns = take_controller(m);
	u64 first = request->offset_bytes / m->params.sector_bytes;
	u64 count = request->length_bytes / m->params.sector_bytes;

	fb_cache_catch_up(m, m->now_ns);
	switch (request->op) {
	case FB_READ:
		return read(m, first, count, command_done_ns);
	case FB_WRITE:
		return write(m, first, count, request->fua && !m->params.flush_ignored, command_done_ns);
	case FB_FLUSH:
		return m->params.flush_ignored ? command_done_ns : fb_cache_flush(m, command_done_ns);
	case FB_DISCARD:
		break;
	}
	return command_done_ns;		/* a disk has no discard */
}

static const char *verify(const struct fb_medium *m)
{
	const struct fb_arm *arm = &m->disk.arm;
	const char *fault;
	u64 i;

	if (arm->track.cylinder >= m->params.cylinders || arm->track.head >= m->params.heads)
		return "the arm is off the disk";
	if (arm->reserved > m->params.reorder_depth)
		return "the arm has more to do than it can have";
	for (i = 1; i < arm->reserved; i++)
		if (fb_arm_reservation(arm, i)->pass.end_ns < fb_arm_reservation(arm, i - 1)->pass.end_ns)
			return "the arm's work is out of order";
	fault = fb_buffer_verify(m);
	return fault ? fault : fb_cache_verify(m);
}

static u64 pending_parts(const struct fb_params *p)
{
	return FB_MAX_PARTS + p->write_cache_bytes / FB_CACHED_PART_BYTES;
}

/* Counts tracks, each as short as the shortest */
static u64 parts_of(const struct fb_medium *m, u64 length_bytes)
{
	return length_bytes / m->params.sector_bytes / m->params.inner_sectors_per_track + 2;
}

static void write_back(struct fb_medium *m, u64 now_ns)
{
	fb_cache_flush(m, now_ns);
}

const struct fb_kind_ops fb_kind_disk = {
	.check = check,
	.state_bytes = fb_common_bytes,
	.init = init,
	.undamaged = undamaged,
	.verify = verify,
	.power_on = power_on,
	.submit = submit,
	.volatile_cache = FB_PARAM_write_cache_bytes,
	.pending_parts = pending_parts,
	.parts_of = parts_of,
	.write_back = write_back,
	.catch_up = fb_cache_catch_up,
	.tear = fb_tear_run,
};
