/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The content of the flash: the tag of every page of every good block, and the newest copy of each
 * logical page.
 *
 * A power cut leaves three kinds of traces, and ECC may accept them as sound: a code that corrects
 * one bit also "corrects" three, or any odd number.
 *
 * First, the page being programmed may have a sound tag and torn data. Nothing is ever programmed
 * behind it, so the data of the last page of each block are read. If they had to be corrected, the
 * sequence number decides: programs follow one another, so a page is complete if a higher number
 * exists. The page with the highest number is undecidable. It does not count, and its block is left
 * at once (torn.c), before a higher number would vouch for it. The same applies if it cannot be
 * read, because an interrupted erase may change that. The price: a write followed by a cut before
 * any other write is lost if its page happens to have a wrong bit.
 *
 * Second, a block being erased may hold anything. If several of its tags are irregular, or one
 * before the last is illegible or out of sequence, the whole block is read, and only pages with
 * uncorrected data count. A page whose tag and data both had to be corrected never counts.
 *
 * Third, a block that looks erased may not be: such blocks are erased before use.
 */
#ifndef SFTL_SCAN_H
#define SFTL_SCAN_H

#include "layer.h"

#define SFTL_NOWHERE (~(u32)0)

/* ppn: page of the flash, counted through its blocks */
struct sftl_found {
	u32 page;		/* SFTL_MAX_PAGES: not current */
	bool copied;
	bool corrected;		/* the tag was corrected */
	u64 sequence;
};

struct sftl_scan {
	const struct sftl_flash *flash;
	struct sftl_found *found;	/* of each flash page */
	/* of each block: pages up to the last that is not erased; bad blocks have 0 */
	u32 *programmed;
	bool *torn; /* of each block: an operation in it was interrupted; it takes no more pages */
	u32 *newest;			/* of each logical page: its ppn, or SFTL_NOWHERE */
	u32 *newest_pages; /* of each block: the logical pages whose newest copy it holds */
	u32 pages;			/* logical pages */
	bool in_order; /* the layer programs all pages of a block, from the first on */
	u64 highest_sequence;
	/* the flash page programmed last, if its data are not clean, or SFTL_NOWHERE */
	u32 maybe_torn;
	void *buffer;			/* a page */
};

/*
 * Scans the flash. -ENOMEM, or an error of the flash; call sftl_scan_end() in any case. With
 * in_order one page of a blank block is read.
 */
int sftl_scan(struct sftl_scan *scan, const struct sftl_flash *flash, u32 pages, bool in_order);
void sftl_scan_end(struct sftl_scan *scan);

/* Recomputes the newest copies after changes of *found */
int sftl_scan_newest(struct sftl_scan *scan);

/* Erases a block, or marks it bad; it is empty afterwards */
void sftl_scan_erase(struct sftl_scan *scan, u32 block);

/* Finds an erased block without current pages; -ENOSPC if there is none */
int sftl_scan_fresh_block(struct sftl_scan *scan, u32 *block);

#endif
