/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A translation layer: it maps logical pages to flash pages and makes room for new ones. Each layer is a table of
 * functions, selected by the parameter "ftl". Its users know only this file. A layer's tables lie in the state, and
 * only the layer reads them.
 */
#ifndef FB_FTL_H
#define FB_FTL_H

#include "arith.h"
#include "check.h"
#include "fb_medium.h"
#include "nand.h"

/* Offsets of the layers' tables from the start of the state; each layer uses its own */
struct fb_ftl_layout {
	u64 map_offset;
	u64 owner_offset;

	/* page-mapped */
	u64 dies_offset;
	u64 blocks_offset;
	u64 ages_offset;		/* 0: there is none */
	u64 blocks_per_die;
	u64 block_records_per_die;
	u64 pages_per_block;
	u64 logical_pages_per_die;
	u64 physical_pages_per_die;
	u64 slc_blocks_per_die;
	struct fb_divisor by_dies;

	/* dftl */
	u64 cache_offset;
	u64 cache_pages;
	u64 map_pages_per_die;
	u64 changes_offset;		/* 0: there is none */
	u64 change_words_per_die;
	u64 max_changes_per_die;

	/* log-block */
	u64 free_offset;
	u64 groups_offset;
	u64 logs_offset;
	u64 latest_offset;
	u64 known_offset;
	u64 counted_offset;
	u64 groups;
	u64 pages_per_group;
	u64 logical_groups;
	u64 block_at_offset;
	u64 layer_block_offset;
	u64 layer_blocks_per_die;
};

struct fb_ftl {
	/* The layer's rules between parameters; returns false and fills in *complaint */
	bool (*check)(const struct fb_params *params, struct fb_complaint *complaint);
	struct fb_ftl_layout (*layout)(const struct fb_params *params, u64 *end_offset);
	void (*init)(struct fb_medium *m);

	/* Drops what the controller held in its own memory; NULL: nothing that matters */
	void (*power_on)(struct fb_medium *m);

	bool (*mapped)(const struct fb_medium *m, u64 page);

	/* Prefetches for a page that is read (step 0 only) or written soon (fb_prefetch()); NULL: nothing to do */
	void (*prefetch)(const struct fb_medium *m, u64 page, u32 step);

	/* Transfers bytes of a page to the controller; returns ready_ns if the page is not on flash */
	u64 (*read)(struct fb_medium *m, u64 page, u64 bytes, u64 ready_ns);

	/* Programs a page, in the controller at ready_ns, to a fresh flash page; returns the end of the program */
	u64 (*write)(struct fb_medium *m, u64 page, u64 ready_ns);

	/* Collection or folding has moved a page of the die; NULL: nothing to update */
	void (*moved)(struct fb_medium *m, u32 die, u32 index, u64 ready_ns);

	/* Pads partly programmed rows, so that written pages go to flash. NULL: there are no such rows. */
	void (*pad)(struct fb_medium *m);

	/* Unmaps the pages [first, end) */
	void (*discard)(struct fb_medium *m, u64 first, u64 end);

	/* Does all background work; returns the time at which it is done. NULL: there is none. */
	u64 (*rest)(struct fb_medium *m);

	/* The logical page whose newest content is there, or FB_NO_PAGE */
	u64 (*page_at)(const struct fb_medium *m, u32 die, u32 ppn);

	/* The pages of each die that the firmware reads after a power cut to rebuild its map */
	u64 (*scan_pages)(const struct fb_medium *m);

	/*
	 * Restores a new medium of one die and one plane from the result of a scan. pages[ppn] is 0, or 1 + the logical
	 * page whose newest content is there. programmed[block] counts pages from the block's start.
	 */
	void (*restore)(struct fb_medium *m, const u32 *pages, const u32 *programmed);

	/* NULL if the layer's tables agree with each other and with the dies, else the contradiction */
	const char *(*verify)(const struct fb_medium *m);
};

extern const struct fb_ftl fb_ftl_page;
extern const struct fb_ftl fb_ftl_bast;
extern const struct fb_ftl fb_ftl_fast;
extern const struct fb_ftl fb_ftl_dftl;

/* Indexed by the parameter's value */
extern const struct fb_ftl *const fb_ftls[FB_FTL_COUNT];

static inline const struct fb_ftl *fb_ftl(const struct fb_params *params)
{
	return fb_ftls[params->ftl];
}

#endif
