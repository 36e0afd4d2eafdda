// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The arm of a disk: its movements, and the runs that have reserved time on it */
#include "arith.h"
#include "state.h"

u64 fb_arm_move_ns(const struct fb_medium *m, struct fb_track from, struct fb_track to, bool writes)
{
	u32 distance = from.cylinder > to.cylinder ? from.cylinder - to.cylinder : to.cylinder - from.cylinder;

	if (distance)
		return fb_seek_ns(writes ? &m->disk.write_seeks : &m->disk.read_seeks, distance);
	if (from.head == to.head)
		return 0;
	return m->params.head_switch_ns + (writes ? m->params.write_settle_ns : 0);
}

u64 fb_arm_wait_ns(const struct fb_geometry *g, u64 now_ns, u64 angle_ns)
{
	u64 at_ns = now_ns % g->revolution_ns;

	return angle_ns >= at_ns ? angle_ns - at_ns : angle_ns + g->revolution_ns - at_ns;
}

static void move(const struct fb_medium *m, struct fb_pass *pass, struct fb_track to, bool writes)
{
	u64 move_ns = fb_arm_move_ns(m, pass->track, to, writes);

	if (pass->track.cylinder != to.cylinder)
		pass->seeks++;
	else if (pass->track.head != to.head)
		pass->head_switches++;
	pass->track = to;
	pass->end_ns += move_ns;
	pass->move_ns += move_ns;
}

static void rotate(const struct fb_geometry *g, struct fb_pass *pass, u64 angle_ns)
{
	u64 wait_ns = fb_arm_wait_ns(g, pass->end_ns, angle_ns);

	pass->end_ns += wait_ns;
	pass->rotation_ns += wait_ns;
}

/* Adds the wait until the run's first sector is under the head */
static void go(const struct fb_medium *m, struct fb_pass *pass, const struct fb_run *run, const struct fb_place *place)
{
	move(m, pass, place->track, run->writes);
	pass->end_ns = fb_max(pass->end_ns, run->data_ns);
	rotate(&m->disk.geometry, pass, fb_geometry_angle_ns(&m->disk.geometry, place));
}

static void transfer(const struct fb_medium *m, struct fb_pass *pass, const struct fb_place *place, u64 sectors)
{
	u64 transfer_ns = fb_geometry_pass_ns(&m->disk.geometry, place, sectors);

	pass->end_ns += transfer_ns;
	pass->transfer_ns += transfer_ns;
}

struct fb_pass fb_arm_begin(const struct fb_medium *m, struct fb_track from, const struct fb_run *run)
{
	struct fb_pass pass = { .end_ns = run->start_ns, .track = from };

	go(m, &pass, run, &run->place);
	pass.begin_ns = pass.end_ns;
	return pass;
}

struct fb_pass fb_arm_plan(const struct fb_medium *m, struct fb_track from, const struct fb_run *run)
{
	u64 end = run->first + run->count;
	u64 first = run->first;
	struct fb_place place = run->place;
	struct fb_pass pass;

	if (!run->count)
		return (struct fb_pass) { .begin_ns = run->start_ns, .end_ns = run->start_ns, .track = from };
	pass = fb_arm_begin(m, from, run);
	for (;;) {
		u64 on_track = fb_min(end - first, place.sectors_per_track - place.sector);

		transfer(m, &pass, &place, on_track);
		first += on_track;
		if (first == end)
			return pass;
		place = fb_geometry_locate(&m->disk.geometry, &m->params, first);
		go(m, &pass, run, &place);
	}
}

static void count(struct fb_counters *c, const struct fb_pass *pass)
{
	c->disk_seeks += pass->seeks;
	c->disk_head_switches += pass->head_switches;
	c->disk_seek_ns += pass->move_ns;
	c->disk_rotation_ns += pass->rotation_ns;
	c->disk_transfer_ns += pass->transfer_ns;
}

static void take_back(struct fb_counters *c, const struct fb_pass *pass)
{
	c->disk_seeks -= pass->seeks;
	c->disk_head_switches -= pass->head_switches;
	c->disk_seek_ns -= pass->move_ns;
	c->disk_rotation_ns -= pass->rotation_ns;
	c->disk_transfer_ns -= pass->transfer_ns;
}

static void remove_first(struct fb_arm *arm)
{
	arm->oldest = (arm->oldest + 1) % FB_MAX_REORDER;
	arm->reserved--;
}

static void put(struct fb_medium *m, u64 at, const struct fb_run *run, const struct fb_pass *pass)
{
	struct fb_arm *arm = &m->disk.arm;
	struct fb_reservation *reservation;
	u64 i;

	for (i = arm->reserved; i > at; i--)
		*fb_arm_reservation(arm, i) = *fb_arm_reservation(arm, i - 1);
	reservation = fb_arm_reservation(arm, at);
	reservation->run = *run;
	reservation->pass = *pass;
	arm->reserved++;
	count(&m->counters, pass);
}

/* True if the arm, after `before` and then the run, is at the next run's first sector in time */
static bool fits(const struct fb_medium *m, const struct fb_pass *before, const struct fb_run *run, u64 angle_ns,
		 const struct fb_reservation *after)
{
	u64 min_ns = run->count * m->disk.geometry.revolution_ns / run->place.sectors_per_track;
	u64 ns = before->end_ns;

	/* Most gaps are too short for any movement: the cheapest test first */
	if (ns + min_ns > after->pass.begin_ns)
		return false;
	ns += fb_arm_move_ns(m, before->track, run->place.track, run->writes);
	ns = fb_max(ns, run->data_ns);
	if (ns + min_ns > after->pass.begin_ns)
		return false;
	ns += fb_arm_wait_ns(&m->disk.geometry, ns, angle_ns) + min_ns;
	ns += fb_arm_move_ns(m, run->place.track, after->run.place.track, after->run.writes);
	return ns <= after->pass.begin_ns;
}

/*
 * The arm is on its way to the first unfinished reservation, so that one stays first. At most reorder_depth
 * reservations are considered.
 */
bool fb_arm_insert(struct fb_medium *m, const struct fb_run *run, struct fb_pass *pass)
{
	struct fb_arm *arm = &m->disk.arm;
	u64 i, angle_ns;

	while (arm->reserved && fb_arm_reservation(arm, 0)->pass.end_ns <= run->start_ns)
		remove_first(arm);
	if (arm->reserved < 2 || arm->reserved >= m->params.reorder_depth)
		return false;
	angle_ns = fb_geometry_angle_ns(&m->disk.geometry, &run->place);
	for (i = 1; i < arm->reserved; i++) {
		const struct fb_pass *before = &fb_arm_reservation(arm, i - 1)->pass;
		struct fb_reservation *after = fb_arm_reservation(arm, i);
		struct fb_run here = *run, later = after->run;
		struct fb_pass again;

		if (!fits(m, before, run, angle_ns, after))
			continue;
		here.start_ns = before->end_ns;
		*pass = fb_arm_plan(m, before->track, &here);
		later.start_ns = pass->end_ns;
		again = fb_arm_plan(m, pass->track, &later);
		if (again.end_ns > after->pass.end_ns)
			continue;
		again.begin_ns = after->pass.begin_ns;
		again.end_ns = after->pass.end_ns;
		take_back(&m->counters, &after->pass);
		count(&m->counters, &again);
		after->pass = again;
		put(m, i, run, pass);
		m->counters.disk_reordered++;
		return true;
	}
	return false;
}

struct fb_pass fb_arm_append(struct fb_medium *m, const struct fb_run *run)
{
	struct fb_arm *arm = &m->disk.arm;
	struct fb_pass pass = fb_arm_plan(m, arm->track, run);

	if (m->params.reorder_depth == 1) {
		count(&m->counters, &pass);
	} else {
		if (arm->reserved == m->params.reorder_depth)
			remove_first(arm);
		put(m, arm->reserved, run, &pass);
	}
	arm->track = pass.track;
	arm->free_ns = pass.end_ns;
	return pass;
}
