/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A kind of medium: what is behind the requests that medium.c takes. Each is a table of functions, found by the
 * parameter "kind"; medium.c and the rooms of power cuts know only this file. A function that may be NULL is one that
 * the kind has no use for.
 */
#ifndef FB_KIND_H
#define FB_KIND_H

#include "check.h"
#include "fb_medium.h"

struct fb_cut;
struct fb_pending;

struct fb_kind_ops {
	/* The rules between the kind's parameters; false: *complaint is filled in */
	bool (*check)(const struct fb_params *params, struct fb_complaint *complaint);

	/* Of the whole state, with what every medium has */
	u64 (*state_bytes)(const struct fb_params *params);
	void (*init)(struct fb_medium *m);			/* may be NULL */
	bool (*undamaged)(const struct fb_medium *m);		/* may be NULL */
	const char *(*verify)(const struct fb_medium *m);	/* may be NULL */
	void (*power_on)(struct fb_medium *m);			/* may be NULL */

	/* After a power cut the firmware looks for what it last did: returns how long that takes. May be NULL. */
	u64 (*restart)(struct fb_medium *m);

	/* A request that came at m->now_ns; returns when it is done. NULL: the kind takes no requests for sectors. */
	u64 (*submit)(struct fb_medium *m, const struct fb_request *request);

	/* A read or write will come soon (fb_prefetch()). May be NULL. */
	void (*prefetch)(const struct fb_medium *m, const struct fb_request *request, u32 step);

	/* All idle work that is left, from m->now_ns on; returns when it is done (fb_rest()). May be NULL. */
	u64 (*rest)(struct fb_medium *m);

	/* Every write is refused from now on. May be NULL. */
	bool (*read_only)(const struct fb_medium *m);

	/* NULL, all three: the medium does not wear */
	struct fb_wear (*wear)(const struct fb_medium *m);
	u64 (*blocks)(const struct fb_medium *m);
	u32 (*block_erases)(const struct fb_medium *m, u64 block);

	/* --- what is not on the medium yet (power.h) --- */

	/* The parameter that says how much the volatile cache holds; 0: there is none */
	enum fb_param volatile_cache;

	/* How many parts of writes may be pending */
	u64 (*pending_parts)(const struct fb_params *params);

	/* As how many parts a write is noted, at most. NULL: as one. */
	u64 (*parts_of)(const struct fb_medium *m, u64 length_bytes);

	/* The volatile cache writes back all that it has. NULL: it decides at once when. */
	void (*write_back)(struct fb_medium *m, u64 now_ns);

	/* Before a cut: what the medium does by itself until then. May be NULL. */
	void (*catch_up)(struct fb_medium *m, u64 cut_ns);

	/* Tells what is left of a part that was under way at the cut. NULL: nothing ever is. */
	void (*tear)(struct fb_cut *cut, u64 sequence, const struct fb_pending *part);
};

extern const struct fb_kind_ops fb_kind_flash;
extern const struct fb_kind_ops fb_kind_disk;
extern const struct fb_kind_ops fb_kind_null;
extern const struct fb_kind_ops fb_kind_nand;

/* By the values of the parameter */
extern const struct fb_kind_ops *const fb_kinds[FB_KIND_COUNT];

static inline const struct fb_kind_ops *fb_kind_ops(const struct fb_params *params)
{
	return fb_kinds[params->kind];
}

#endif
