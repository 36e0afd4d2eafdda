/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The arm and what it has been told to do: runs of sectors, one after the other. When each is done has been answered
 * already, so a run that comes later is taken before another only if that one is done when it was reserved all the
 * same: in the time in which the arm would else wait for the platter.
 */
#ifndef FB_DISK_ARM_H
#define FB_DISK_ARM_H

#include "disk_geometry.h"

#define FB_MAX_REORDER 32

struct fb_medium;

/* Sectors that the head is to pass. The arm may move from start_ns on; what is to be written is there at data_ns. */
struct fb_run {
	u64 first;
	u64 count;
	struct fb_place place;	/* of the first */
	u64 start_ns;
	u64 data_ns;
	bool writes;
};

/* A run passing under the head: when, and what the time went into */
struct fb_pass {
	u64 begin_ns;		/* the first sector comes */
	u64 end_ns;
	u64 move_ns;
	u64 rotation_ns;
	u64 transfer_ns;
	u32 seeks;
	u32 head_switches;
	struct fb_track track;	/* where the arm is left */
};

struct fb_reservation {
	struct fb_run run;
	struct fb_pass pass;
};

struct fb_arm {
	struct fb_track track;	/* after all that was reserved */
	u64 free_ns;
	u64 oldest;		/* where the first reservation is in the ring */
	u64 reserved;
	struct fb_reservation reservation[FB_MAX_REORDER];	/* a ring: the last ones, as they are carried out */
};

/* By number; 0 is carried out first */
static inline struct fb_reservation *fb_arm_reservation(const struct fb_arm *arm, u64 number)
{
	return (struct fb_reservation *)&arm->reservation[(arm->oldest + number) % FB_MAX_REORDER];
}

/* Time of moving the arm to a track, settling included */
u64 fb_arm_move_ns(const struct fb_medium *m, struct fb_track from, struct fb_track to, bool writes);

/* When an angle of the platter comes under the head, from now_ns on */
u64 fb_arm_wait_ns(const struct fb_geometry *geometry, u64 now_ns, u64 angle_ns);

/* When the first sector of a run comes under the head of the arm, free and on a track */
struct fb_pass fb_arm_begin(const struct fb_medium *m, struct fb_track from, const struct fb_run *run);

/* What happens if the arm, free and on a track, does this. Changes nothing. */
struct fb_pass fb_arm_plan(const struct fb_medium *m, struct fb_track from, const struct fb_run *run);

/* Puts a run between two that were reserved, if both stay as they are; false if it fits nowhere */
bool fb_arm_insert(struct fb_medium *m, const struct fb_run *run, struct fb_pass *pass);

/* Puts a run behind all others */
struct fb_pass fb_arm_append(struct fb_medium *m, const struct fb_run *run);

#endif
