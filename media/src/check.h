/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Range checks of one parameter, for rules between a kind's parameters. On failure they fill in *complaint and return
 * false.
 */
#ifndef FB_CHECK_H
#define FB_CHECK_H

#include "fb_params.h"

bool fb_complain(struct fb_complaint *complaint, const struct fb_params *params, enum fb_param param,
		 u64 min, u64 max, const char *reason);
bool fb_check_range(struct fb_complaint *complaint, const struct fb_params *params, enum fb_param param,
		    u64 min, u64 max, const char *reason);
bool fb_check_power_of_two(struct fb_complaint *complaint, const struct fb_params *params, enum fb_param param);
bool fb_check_whole(struct fb_complaint *complaint, const struct fb_params *params, enum fb_param param,
		    u64 unit, const char *reason);
bool fb_check_multiple(struct fb_complaint *complaint, const struct fb_params *params, enum fb_param param);

/* The checks shared by all kinds with sectors */
bool fb_check_sectors(const struct fb_params *params, struct fb_complaint *complaint);

#endif
