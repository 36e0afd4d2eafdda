/* SPDX-License-Identifier: GPL-2.0-only */
/* The module's own parts, for each other */
#ifndef MEDIA_FTL_H
#define MEDIA_FTL_H

#include <linux/blk-mq.h>
#include <linux/mtd/mtd.h>
#include <linux/mutex.h>

#include "layer.h"
#include "request_log.h"

/*
 * What the host writes into a page piece by piece, until it is programmed at the end of the request or when the next page
 * comes: one run of bytes of one page.
 */
struct media_ftl_gather {
	u8 *data;			/* a page */
	u8 *rest;			/* a page: what lies around the run */
	u32 page;
	u32 begin;
	u32 end;			/* begin == end: nothing is gathered */
};

struct media_ftl {
	struct mtd_info *mtd;
	struct sftl *layer;
	struct mutex lock;		/* the layer takes one request at a time */
	struct media_ftl_gather gather;
	struct request_log log;
	struct blk_mq_tag_set tags;
	struct gendisk *disk;
};

/* mtd.c: an MTD device as the layer wants its flash. -EINVAL, with a message, if it has not what that needs. */
int media_ftl_flash(struct mtd_info *mtd, struct sftl_flash *flash);

/* transfer.c: the bytes of a request, in order; then what is gathered. An errno, of the first page that failed. */
int media_ftl_transfer(struct media_ftl *f, bool write, u64 offset, u8 *bytes, u32 length);
int media_ftl_flush_gather(struct media_ftl *f);

/* blk.c */
int media_ftl_add_disk(struct media_ftl *f);
void media_ftl_remove_disk(struct media_ftl *f);

/* stats.c */
extern const struct attribute_group *media_ftl_groups[];

#endif
