/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What lies on the flash: the tag of every page of every good block, and for each logical page
 * where its newest copy is.
 *
 * A power cut leaves three kinds of traces, and an ECC may take them for sound: one that corrects a
 * single bit also "corrects" three, or any odd number.
 *
 * The page that was being programmed may have a sound tag and torn data. Nothing is ever programmed
 * behind it, so the data of the last page of each block are read. If they had to be corrected, its
 * number tells: programs follow one another, so a page is complete if a higher number was seen. Of
 * the highest number nobody can tell. It does not count, and its block is left at once (torn.c),
 * before a higher one would vouch for it; also if it cannot be read, for an erase that is cut short
 * may change that. The price: a write which a cut follows before any other is lost if its page
 * happens to have a wrong bit.
 *
 * A block that was being erased may hold anything. Where several tags are not as they should be, or
 * one before the last is illegible or does not count up, all of the block is read, and only those
 * pages count whose data did not have to be corrected. A page whose tag and data both had to be
 * never counts.
 *
 * What looks erased may not be: such blocks are erased before they are used.
 */
#ifndef SFTL_SCAN_H
#define SFTL_SCAN_H

#include "layer.h"

#define SFTL_NOWHERE (~(u32)0)

/* ppn: page of the flash, counted through its blocks */
struct sftl_found {
	u32 page;		/* SFTL_MAX_PAGES: nothing that counts */
	bool copied;
	bool corrected;		/* the tag was */
	u64 sequence;
};

struct sftl_scan {
	const struct sftl_flash *flash;
	struct sftl_found *found;	/* of each flash page */
	/* of each block: pages up to the last that is not erased; bad blocks have 0 */
	u32 *programmed;
	bool *torn; /* of each block: something in it was cut short; it takes no more pages */
	u32 *newest;			/* of each logical page its ppn, or SFTL_NOWHERE */
	u32 *newest_pages; /* of each block: how many pages have their newest copy there */
	u32 pages;			/* logical */
	bool in_order; /* in each block the layer programs all pages, from the first on */
	u64 highest_sequence;
	/* the flash page programmed last, if its data are not clean, or SFTL_NOWHERE */
	u32 maybe_torn;
	void *buffer;			/* a page */
};

/*
 * -ENOMEM, or an error of the flash; sftl_scan_end() is due in any case. With in_order one page of
 * a blank block is read.
 */
int sftl_scan(struct sftl_scan *scan, const struct sftl_flash *flash, u32 pages, bool in_order);
void sftl_scan_end(struct sftl_scan *scan);

/* Finds the newest copies again, after *found has changed */
int sftl_scan_newest(struct sftl_scan *scan);

/* Erases a block, or marks it bad. It holds nothing any more. */
void sftl_scan_erase(struct sftl_scan *scan, u32 block);

/* An erased block in which nothing counts; -ENOSPC if there is none */
int sftl_scan_fresh_block(struct sftl_scan *scan, u32 *block);

#endif
