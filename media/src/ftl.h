/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A translation layer: it decides where on the dies a logical page lies and makes room for new ones. Each is a table of
 * functions, found by the parameter "ftl"; whoever has a page to read or to write knows only this file. The layer keeps
 * what it knows in tables of the state that only it reads.
 */
#ifndef FB_FTL_H
#define FB_FTL_H

#include "arith.h"
#include "check.h"
#include "fb_medium.h"
#include "nand.h"

/* Where the layers' tables lie, in bytes from the start of the state; each layer uses those that it has */
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
	/* The layer's rules between parameters; false: *complaint is filled in */
	bool (*check)(const struct fb_params *params, struct fb_complaint *complaint);
	struct fb_ftl_layout (*layout)(const struct fb_params *params, u64 *end_offset);
	void (*init)(struct fb_medium *m);

	/* What the controller had in its own memory is gone; NULL: nothing that matters */
	void (*power_on)(struct fb_medium *m);

	bool (*mapped)(const struct fb_medium *m, u64 page);

	/* The page will be read (step 0 only) or written soon (fb_prefetch()); NULL: the layer has no use for that */
	void (*prefetch)(const struct fb_medium *m, u64 page, u32 step);

	/* Brings bytes of a page to the controller; ready_ns, if it is not on flash */
	u64 (*read)(struct fb_medium *m, u64 page, u64 bytes, u64 ready_ns);

	/* Puts a page, which is in the controller at ready_ns, into a fresh flash page; returns when it is there */
	u64 (*write)(struct fb_medium *m, u64 page, u64 ready_ns);

	/* Collection or folding has moved a page of the die to another flash page; NULL: nobody else need know */
	void (*moved)(struct fb_medium *m, u32 die, u32 index, u64 ready_ns);

	/* What was written goes onto flash: rows that are partly programmed are padded. NULL: there are none. */
	void (*pad)(struct fb_medium *m);

	/* Pages from first to before end hold nothing any more */
	void (*discard)(struct fb_medium *m, u64 first, u64 end);

	/* All idle work that is left; returns when it is done. NULL: the layer does nothing while idle. */
	u64 (*rest)(struct fb_medium *m);

	/* The logical page whose newest content lies there; FB_NO_PAGE, if there is none */
	u64 (*page_at)(const struct fb_medium *m, u32 die, u32 ppn);

	/* Pages of each die that the firmware reads after a power cut, to know again what lies where */
	u64 (*scan_pages)(const struct fb_medium *m);

	/*
	 * In a new medium of one die and one plane: what a scan of it found, as the layer would have it. pages[ppn] is
	 * 0, or 1 + the logical page whose newest content lies there; programmed[block] counts pages from the block's
	 * start.
	 */
	void (*restore)(struct fb_medium *m, const u32 *pages, const u32 *programmed);

	/* NULL if the layer's tables agree with each other and with the dies, else what does not */
	const char *(*verify)(const struct fb_medium *m);
};

extern const struct fb_ftl fb_ftl_page;
extern const struct fb_ftl fb_ftl_bast;
extern const struct fb_ftl fb_ftl_fast;
extern const struct fb_ftl fb_ftl_dftl;

/* By the values of the parameter */
extern const struct fb_ftl *const fb_ftls[FB_FTL_COUNT];

static inline const struct fb_ftl *fb_ftl(const struct fb_params *params)
{
	return fb_ftls[params->ftl];
}

#endif
