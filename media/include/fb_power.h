/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A power cut: which writes the medium keeps when its power fails at a given moment, which it loses, and which sectors
 * become unreadable. The core reports the sectors; whoever keeps the content carries it out (fb_undo.h).
 *
 * Until a write is on the medium, it is tracked in parts (a page, a run of sectors), numbered in the order of arrival.
 * A medium tracks a bounded number of parts; a write that finds no room waits for the oldest.
 */
#ifndef FB_POWER_H
#define FB_POWER_H

#include "fb_medium.h"

enum fb_fate {
	FB_KEPT,		/* the new content is there */
	FB_LOST,		/* the old content stays, or comes back */
	FB_UNREADABLE,		/* neither, until the sector is written again */
};

/* The fate of a run of whole sectors */
struct fb_fated {
	u64 sequence;		/* of the write's part; reports come in this order */
	u64 offset_bytes;
	u64 length_bytes;
	enum fb_fate fate;
	bool torn;		/* the part was under way at the cut */
	bool neighbour;		/* not written itself: shares cells with a page that was under way */
};

typedef void fb_tell(void *context, const struct fb_fated *fated);

/*
 * Cuts the power at cut_ns; no request may be later. Reports the fate of each write that was not known to be on the
 * medium, in the order of arrival. A torn part is reported in pieces, in the order of addresses. The seed decides what
 * is undetermined. A raw chip has fb_chip_cut() instead. Afterwards the medium is off: the next call must be
 * fb_power_on(), which charges the restart.
 */
void fb_cut(struct fb_medium *medium, u64 cut_ns, u64 seed, fb_tell *tell, void *context);

/* True from a cut until the next power-on */
bool fb_off(const struct fb_medium *medium);

/* The erase blocks, over all planes of a die, that the last cut left half erased; the restart erases them again */
u64 fb_half_erased_blocks(const struct fb_medium *medium);

/* The time of the last request */
u64 fb_last_request_ns(const struct fb_medium *medium);

/* The sequence number of the next write's first part */
u64 fb_next_sequence(const struct fb_medium *medium);

/* No part before this one can be lost any more, unless it shares cells with a later one */
u64 fb_oldest_pending(const struct fb_medium *medium);

/* True if a cut made any of these sectors unreadable and it was not written since: reading them is an error */
bool fb_unreadable(const struct fb_medium *medium, u64 offset_bytes, u64 length_bytes);
u64 fb_unreadable_sectors(const struct fb_medium *medium);

/* The maximum number of pending parts for these parameters */
u64 fb_pending_parts(const struct fb_params *params);

/* The maximum bytes of all pending parts for these parameters, without the newest request */
u64 fb_pending_bytes(const struct fb_params *params);

#endif
