/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A power cut, carried out on a medium's content */
#ifndef CARRY_OUT_H
#define CARRY_OUT_H

#include "fb_power.h"
#include "fb_undo.h"

/*
 * Cuts the medium and changes data, which is exposed_bytes long, to what a restart finds. Told is passed on to the
 * caller after it is done. False, with a reason and nothing changed: the region does not have what is pending.
 */
bool carry_out_cut(struct fb_medium *medium, struct fb_undo *undo, u8 *data, u64 exposed_bytes, u64 cut_ns, u64 seed,
		   fb_tell *tell, void *context, const char **reason);

#endif
