/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A translation layer in software: the media core's layers (media/src/ftl*.c) on real flash instead
 * of the core's model (media/src/array.h, soft_nand.c). The core decides where a page goes. Its
 * reads and programs are executed on the flash, which takes its own time; the core's times are not
 * used.
 *
 * Each page's tag (tag.h) holds what a restart needs to find everything. A written page is on flash
 * when sftl_write() returns, so there is nothing to flush. A power cut loses at most the write
 * under way.
 *
 * Blocks go bad: block_pool.c replaces them from a reserve.
 */
#ifndef SFTL_LAYER_H
#define SFTL_LAYER_H

#include "fb_medium.h"
#include "soft_flash.h"

#define SFTL_HELD_PAGES 16

struct sftl_config {
	enum fb_ftl_word ftl;		/* page, bast or fast */
	u32 spare_percent;		/* of all blocks, to replace bad ones */
	u32 over_provisioning_percent;	/* page: of the remaining blocks, hidden from the host */
	u32 log_blocks;			/* bast, fast */
};

/* A page read in order to be programmed elsewhere */
struct sftl_held {
	u32 page;
	bool held;
	bool lost;
};

struct sftl_statistics {
	u64 bad_blocks;			/* gone bad under the layer */
	u64 lost_pages;			/* moved although unreadable */
	u64 merged_at_start;		/* logical groups merged at the start */
};

struct sftl {
	struct sftl_flash flash;
	struct fb_medium *medium;
	struct sftl_statistics statistics;
	size_t bytes;			/* total memory of the layer */

	/* block_pool.c */
	u32 block_count;		/* of the core */
	u32 *physical;			/* of each block of the core */
	u8 *unclean; /* physical blocks that must be erased before use */
	u32 *spares;
	u32 spare_count;
	u8 *rescue;			/* a page being copied from a failed block */

	/* soft_nand.c */
	u64 sequence;			/* of the next program */
	struct sftl_held held[SFTL_HELD_PAGES];
	u64 batch;			/* the core's batch in which these were read */
	u8 *held_data;
	int error;			/* of the current request */
	bool broken; /* a block failed without a spare: tables and flash differ */

	/* The host's current page */
	u32 host_page;
	const void *host_data;		/* the data of a write, or NULL */
	void *host_buffer;		/* the buffer of a read, or NULL */
};

/*
 * Scans the flash and makes a layer of it; an erased flash is an empty layer. Returns 0; -EINVAL if
 * the flash is too small or too large for the configuration; -ENOSPC if too many blocks are bad;
 * -ENOMEM; an error of the flash.
 */
int sftl_start(const struct sftl_flash *flash, const struct sftl_config *config,
	       struct sftl **layer);
void sftl_stop(struct sftl *layer);

u32 sftl_pages(const struct sftl *layer);

/*
 * Reads a page as last written; zeros if it never was. -EIO if it is lost, or the layer is broken.
 */
int sftl_read(struct sftl *layer, u32 page, void *data);

/*
 * Writes a page. -EROFS if the spares or the sequence numbers are used up. A write needs at most
 * one spare, unless two blocks fail at once. In that case the layer is broken until its next start,
 * which finds all pages written before.
 */
int sftl_write(struct sftl *layer, u32 page, const void *data);

/*
 * Discards the pages [first, end). Only the page-mapped layer honours it, and only until its next
 * start: then the pages may hold their old content again.
 */
void sftl_discard(struct sftl *layer, u32 first, u32 end);

#endif
