/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A translation layer in software: the media core's layers (media/src/ftl*.c), which decide where a
 * page goes, on real flash instead of the core's model of one (media/src/array.h, soft_nand.c):
 * where the core asks for a page to be read or programmed, it is, and no time is worked out,
 * because the flash takes its own.
 *
 * What is needed to find everything again stands beside each page (tag.h). A page that was written
 * is on flash when sftl_write() returns, so there is nothing to flush; a power cut loses at most
 * the write that was under way.
 *
 * Blocks go bad underneath: block_pool.c gives the core's blocks good ones, from a reserve.
 */
#ifndef SFTL_LAYER_H
#define SFTL_LAYER_H

#include "fb_medium.h"
#include "soft_flash.h"

#define SFTL_HELD_PAGES 16

struct sftl_config {
	enum fb_ftl_word ftl;		/* page, bast or fast */
	u32 spare_percent;		/* of all blocks, for bad ones */
	u32 over_provisioning_percent;	/* page: of the others, not offered to the host */
	u32 log_blocks;			/* bast, fast */
};

/* A page that was read in order to be programmed elsewhere */
struct sftl_held {
	u32 page;
	bool held;
	bool lost;
};

struct sftl_statistics {
	u64 bad_blocks;			/* that went bad under the layer */
	u64 lost_pages;			/* moved although they could not be read */
	u64 merged_at_start;		/* logical groups put in order when the layer was started */
};

struct sftl {
	struct sftl_flash flash;
	struct fb_medium *medium;
	struct sftl_statistics statistics;
	size_t bytes;			/* of memory that the layer keeps, all in all */

	/* block_pool.c */
	u32 block_count;		/* of the core */
	u32 *physical;			/* of each block of the core */
	u8 *unclean; /* physical blocks to be erased before they are programmed */
	u32 *spares;
	u32 spare_count;
	u8 *rescue;			/* a page on its way from a block that failed */

	/* soft_nand.c */
	u64 sequence;			/* of the next program */
	struct sftl_held held[SFTL_HELD_PAGES];
	u64 batch;			/* of the core, in which these were read */
	u8 *held_data;
	int error;			/* of the request at hand */
	bool broken; /* a block failed and there was no spare: tables and flash differ */

	/* The host's page at hand */
	u32 host_page;
	const void *host_data;		/* what it writes, or NULL */
	void *host_buffer;		/* where it wants what it reads, or NULL */
};

/*
 * Finds what is on the flash and makes a layer of it; an erased flash is an empty one. Returns 0;
 * -EINVAL if the flash is too small or too large for the configuration; -ENOSPC if too many blocks
 * are bad; -ENOMEM; an error of the flash.
 */
int sftl_start(const struct sftl_flash *flash, const struct sftl_config *config,
	       struct sftl **layer);
void sftl_stop(struct sftl *layer);

u32 sftl_pages(const struct sftl *layer);

/* A page as it was written last; zeros if it never was. -EIO if it is lost, or the layer broken. */
int sftl_read(struct sftl *layer, u32 page, void *data);

/*
 * -EROFS when the last spare or the last sequence number is gone. A write needs at most one of the
 * spares, unless two blocks fail at once: then the layer is broken until it is started anew, which
 * finds all pages that were written before.
 */
int sftl_write(struct sftl *layer, u32 page, const void *data);

/*
 * Pages from first to before end are of no use any more. Only the page-mapped layer listens, and
 * only until it is started anew: then they may hold again what they once held.
 */
void sftl_discard(struct sftl *layer, u32 first, u32 end);

#endif
