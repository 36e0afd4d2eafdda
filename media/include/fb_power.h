/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A power cut: which writes the medium has when its power goes at a given moment, which it has lost, and which sectors
 * it cannot read any more. The core says where; whoever keeps the content carries it out (fb_undo.h).
 *
 * Each write is known in parts (a page, a run of sectors), numbered in the order in which they came, until it is on the
 * medium. A medium knows a bounded number of them; a write that finds no room waits for the oldest.
 */
#ifndef FB_POWER_H
#define FB_POWER_H

#include "fb_medium.h"

enum fb_fate {
	FB_KEPT,		/* the new content is there */
	FB_LOST,		/* the old content stays, or comes back */
	FB_UNREADABLE,		/* neither, until it is written again */
};

/* Something that overtook a run of whole sectors */
struct fb_fated {
	u64 sequence;		/* of the part of a write; what is told follows it */
	u64 offset_bytes;
	u64 length_bytes;
	enum fb_fate fate;
	bool torn;		/* the part was under way at that very moment */
	bool neighbour;		/* nobody wrote here: it shares cells with a page that was under way */
};

typedef void fb_tell(void *context, const struct fb_fated *fated);

/*
 * The power goes at cut_ns, which no request is later than. Tells the fate of each write that was not known to be on
 * the medium, in the order in which they came; a part that is torn is told in pieces, in the order of addresses. The
 * seed decides what nobody can know. A raw chip has fb_chip_cut() in its place. Then the medium is off: the next call
 * is fb_power_on(), which charges the restart.
 */
void fb_cut(struct fb_medium *medium, u64 cut_ns, u64 seed, fb_tell *tell, void *context);

/* The power went and did not come back yet */
bool fb_off(const struct fb_medium *medium);

/* Erase blocks, of all planes of a die, that the last cut left half erased; the restart erases them again */
u64 fb_half_erased_blocks(const struct fb_medium *medium);

/* When the last request came */
u64 fb_last_request_ns(const struct fb_medium *medium);

/* The number that the first part of the next write will have */
u64 fb_next_sequence(const struct fb_medium *medium);

/* No part before this one can be lost any more, unless it shares cells with a later one */
u64 fb_oldest_pending(const struct fb_medium *medium);

/* A cut made it unreadable, in part or as a whole, and it was not written since: to read it is an error */
bool fb_unreadable(const struct fb_medium *medium, u64 offset_bytes, u64 length_bytes);
u64 fb_unreadable_sectors(const struct fb_medium *medium);

/* How many parts a medium with these parameters may have pending */
u64 fb_pending_parts(const struct fb_params *params);

/* Bytes of all parts that a medium with these parameters may have pending, not counting the newest request */
u64 fb_pending_bytes(const struct fb_params *params);

#endif
