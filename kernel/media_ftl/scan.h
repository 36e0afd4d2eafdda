/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What lies on the flash: the tag of every page of every good block, and for each logical page where its newest copy is.
 *
 * A power cut leaves three kinds of traces. The page that was being programmed may have a sound tag and torn data. Nothing
 * is ever programmed behind it, so the data of the last page of each block are read. A block that was being erased may hold anything: where the
 * tags of a block are illegible or do not count up, all its pages are read, and those that fail are left out. And what
 * looks erased may not be: such blocks are erased before they are used.
 */
#ifndef SFTL_SCAN_H
#define SFTL_SCAN_H

#include "layer.h"

#define SFTL_NOWHERE (~(u32)0)

/* Physical places: page of the flash, counted through its blocks */
struct sftl_found {
	u32 page;		/* SFTL_MOST_PAGES: nothing that counts */
	bool copied;
	u64 sequence;
};

struct sftl_scan {
	const struct sftl_flash *flash;
	struct sftl_found *found;	/* of each place */
	u32 *programmed;		/* of each block: pages up to the last that is not erased; bad blocks have 0 */
	bool *torn;			/* of each block: something in it was not programmed as it should; it takes no more pages */
	u32 *newest;			/* of each logical page its place, or SFTL_NOWHERE */
	u32 *newest_pages;		/* of each block: how many pages have their newest copy there */
	u32 pages;			/* logical */
	u64 highest_sequence;
	void *buffer;			/* a page */
};

/* -ENOMEM, or an error of the flash; sftl_scan_end() is due in any case */
int sftl_scan(struct sftl_scan *scan, const struct sftl_flash *flash, u32 pages);
void sftl_scan_end(struct sftl_scan *scan);

/* Finds the newest copies again, after *found has changed */
int sftl_scan_newest(struct sftl_scan *scan);

/* The block holds nothing any more */
void sftl_scan_forget_block(struct sftl_scan *scan, u32 block);

#endif
