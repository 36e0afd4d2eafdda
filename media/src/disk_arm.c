// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "arith.h"
#include "disk_seek.h"
#include "state.h"

static void move(const struct fb_params *p, struct fb_pass *pass, struct fb_track to, bool writes)
{
	u64 move_ns;

	if (pass->track.cylinder != to.cylinder) {
		u32 distance = pass->track.cylinder > to.cylinder ? pass->track.cylinder - to.cylinder :
								    to.cylinder - pass->track.cylinder;

		move_ns = writes ? fb_write_seek_ns(p, distance) : fb_seek_ns(p, distance);
		pass->seeks++;
	} else if (pass->track.head != to.head) {
		move_ns = p->head_switch_ns + (writes ? p->write_settle_ns : 0);
		pass->head_switches++;
	} else {
		return;
	}
	pass->track = to;
	pass->end_ns += move_ns;
	pass->move_ns += move_ns;
}

static void rotate(const struct fb_geometry *g, struct fb_pass *pass, u64 angle_ns)
{
	u64 wait_ns = (angle_ns + g->revolution_ns - pass->end_ns % g->revolution_ns) % g->revolution_ns;

	pass->end_ns += wait_ns;
	pass->rotation_ns += wait_ns;
}

struct fb_pass fb_arm_plan(const struct fb_medium *m, struct fb_track from, const struct fb_run *run)
{
	const struct fb_geometry *g = &m->disk.geometry;
	struct fb_pass pass = { .begin_ns = run->start_ns, .end_ns = run->start_ns, .track = from };
	u64 first = run->first, count = run->count;

	while (count) {
		struct fb_place place = fb_geometry_locate(g, &m->params, first);
		u64 on_track = fb_smaller(count, place.sectors_per_track - place.sector);
		u64 transfer_ns = (place.sector + on_track) * g->revolution_ns / place.sectors_per_track -
				  place.sector * g->revolution_ns / place.sectors_per_track;

		move(&m->params, &pass, place.track, run->writes);
		pass.end_ns = fb_later(pass.end_ns, run->data_ns);
		rotate(g, &pass, fb_geometry_angle_ns(g, &m->params, &place, place.sector));
		if (!pass.transfer_ns)
			pass.begin_ns = pass.end_ns;
		pass.end_ns += transfer_ns;
		pass.transfer_ns += transfer_ns;
		first += on_track;
		count -= on_track;
	}
	return pass;
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
	u64 i;

	for (i = 1; i < arm->promised; i++)
		arm->promise[i - 1] = arm->promise[i];
	arm->promised--;
}

static void put(struct fb_medium *m, u64 at, const struct fb_run *run, const struct fb_pass *pass)
{
	struct fb_arm *arm = &m->disk.arm;
	u64 i;

	for (i = arm->promised; i > at; i--)
		arm->promise[i] = arm->promise[i - 1];
	arm->promise[at].run = *run;
	arm->promise[at].pass = *pass;
	arm->promised++;
	count(&m->counters, pass);
}

/*
 * The arm is on its way to the first promise that is not done, so that one stays first. One more than reorder_depth
 * cannot be looked at.
 */
bool fb_arm_insert(struct fb_medium *m, const struct fb_run *run, struct fb_pass *pass)
{
	struct fb_arm *arm = &m->disk.arm;
	u64 i;

	while (arm->promised && arm->promise[0].pass.end_ns <= run->start_ns)
		remove_first(arm);
	if (arm->promised >= m->params.reorder_depth)
		return false;
	for (i = 1; i < arm->promised; i++) {
		const struct fb_pass *before = &arm->promise[i - 1].pass;
		struct fb_promise *after = &arm->promise[i];
		struct fb_run here = *run, later = after->run;
		struct fb_pass again;

		here.start_ns = before->end_ns;
		*pass = fb_arm_plan(m, before->track, &here);
		later.start_ns = pass->end_ns;
		again = fb_arm_plan(m, pass->track, &later);
		if (again.end_ns > after->pass.end_ns)
			continue;
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
		if (arm->promised == m->params.reorder_depth)
			remove_first(arm);
		put(m, arm->promised, run, &pass);
	}
	arm->track = pass.track;
	arm->free_ns = pass.end_ns;
	return pass;
}
