/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A kind of medium: the implementation behind medium.c's requests. Each is a table of functions, selected by the
 * parameter "kind". medium.c and the power-cut files know only this header. A function is NULL if the kind does not
 * need it.
 */
#ifndef FB_KIND_H
#define FB_KIND_H

#include "check.h"
#include "fb_medium.h"

struct fb_cut;
struct fb_pending;

struct fb_kind_ops {
	/* The rules between the kind's parameters; returns false and fills in *complaint */
	bool (*check)(const struct fb_params *params, struct fb_complaint *complaint);

	/* The size of the whole state, common part included */
	u64 (*state_bytes)(const struct fb_params *params);
	void (*init)(struct fb_medium *m);			/* may be NULL */
	bool (*undamaged)(const struct fb_medium *m);		/* may be NULL */
	const char *(*verify)(const struct fb_medium *m);	/* may be NULL */
	void (*power_on)(struct fb_medium *m);			/* may be NULL */

	/* Returns the duration of the firmware's recovery after a power cut. May be NULL. */
	u64 (*restart)(struct fb_medium *m);

	/* Serves a request issued at m->now_ns; returns its completion time. NULL: the kind has no sectors. */
	u64 (*submit)(struct fb_medium *m, const struct fb_request *request);

	/* Prefetches for a read or write to come (fb_prefetch()). May be NULL. */
	void (*prefetch)(const struct fb_medium *m, const struct fb_request *request, u32 step);

	/* Does all background work from m->now_ns on; returns its end (fb_rest()). May be NULL. */
	u64 (*rest)(struct fb_medium *m);

	/* True if every write is refused from now on. May be NULL. */
	bool (*read_only)(const struct fb_medium *m);

	/* All three are NULL if the medium does not wear */
	struct fb_wear (*wear)(const struct fb_medium *m);
	u64 (*blocks)(const struct fb_medium *m);
	u32 (*block_erases)(const struct fb_medium *m, u64 block);

	/* --- pending writes (power.h) --- */

	/* The parameter with the size of the volatile cache; 0: there is none */
	enum fb_param volatile_cache;

	/* The maximum number of pending parts */
	u64 (*pending_parts)(const struct fb_params *params);

	/* The maximum number of parts of a write. NULL: one. */
	u64 (*parts_of)(const struct fb_medium *m, u64 length_bytes);

	/* Writes back the whole volatile cache. NULL: the time of write-back is decided at once. */
	void (*write_back)(struct fb_medium *m, u64 now_ns);

	/* Before a cut: does the background work up to then. May be NULL. */
	void (*catch_up)(struct fb_medium *m, u64 cut_ns);

	/* Reports what is left of a part that was under way at the cut. NULL: none ever is. */
	void (*tear)(struct fb_cut *cut, u64 sequence, const struct fb_pending *part);
};

extern const struct fb_kind_ops fb_kind_flash;
extern const struct fb_kind_ops fb_kind_disk;
extern const struct fb_kind_ops fb_kind_null;
extern const struct fb_kind_ops fb_kind_nand;

/* Indexed by the parameter's value */
extern const struct fb_kind_ops *const fb_kinds[FB_KIND_COUNT];

static inline const struct fb_kind_ops *fb_kind_ops(const struct fb_params *params)
{
	return fb_kinds[params->kind];
}

#endif
