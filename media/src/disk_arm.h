/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The arm and its reservations: runs of sectors, one after the other. Their completion times are already promised. A
 * later run may therefore go before a reserved one only if the reserved one is still done in time: it uses time in
 * which the arm would otherwise wait for the platter.
 */
#ifndef FB_DISK_ARM_H
#define FB_DISK_ARM_H

#include "disk_geometry.h"

#define FB_MAX_REORDER 32

struct fb_medium;

/*
 * A run of sectors to pass under the head. The arm may move from start_ns on; data to be written is there at data_ns.
 */
struct fb_run {
	u64 first;
	u64 count;
	struct fb_place place;	/* of the first sector */
	u64 start_ns;
	u64 data_ns;
	bool writes;
};

/* A pass of a run under the head: when, and where the time goes */
struct fb_pass {
	u64 begin_ns;		/* the first sector is under the head */
	u64 end_ns;
	u64 move_ns;
	u64 rotation_ns;
	u64 transfer_ns;
	u32 seeks;
	u32 head_switches;
	struct fb_track track;	/* the arm's track afterwards */
};

struct fb_reservation {
	struct fb_run run;
	struct fb_pass pass;
};

struct fb_arm {
	struct fb_track track;	/* after all reservations */
	u64 free_ns;
	u64 oldest;		/* index of the first reservation in the ring */
	u64 reserved;
	struct fb_reservation reservation[FB_MAX_REORDER];	/* a ring: the latest ones, in the order of execution */
};

/* Returns a reservation by its number; 0 is executed first */
static inline struct fb_reservation *fb_arm_reservation(const struct fb_arm *arm, u64 number)
{
	return (struct fb_reservation *)&arm->reservation[(arm->oldest + number) % FB_MAX_REORDER];
}

/* The time of moving the arm to a track, including settling */
u64 fb_arm_move_ns(const struct fb_medium *m, struct fb_track from, struct fb_track to, bool writes);

/* The wait from now_ns until an angle of the platter is under the head */
u64 fb_arm_wait_ns(const struct fb_geometry *geometry, u64 now_ns, u64 angle_ns);

/* The beginning of a run's pass, for an arm that is free and on a track */
struct fb_pass fb_arm_begin(const struct fb_medium *m, struct fb_track from, const struct fb_run *run);

/* The whole pass, for an arm that is free and on a track. Changes nothing. */
struct fb_pass fb_arm_plan(const struct fb_medium *m, struct fb_track from, const struct fb_run *run);

/* Inserts a run between two reservations if neither changes; returns false if it fits nowhere */
bool fb_arm_insert(struct fb_medium *m, const struct fb_run *run, struct fb_pass *pass);

/* Appends a run behind all reservations */
struct fb_pass fb_arm_append(struct fb_medium *m, const struct fb_run *run);

#endif
