/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations shared by the files of the module */
#ifndef MEDIA_FTL_H
#define MEDIA_FTL_H

#include <linux/blk-mq.h>
#include <linux/mtd/mtd.h>
#include <linux/mutex.h>

#include "layer.h"
#include "request_log.h"
#include "transfer.h"

struct media_ftl {
	struct mtd_info *mtd;
	struct sftl *layer;
	struct mutex lock;		/* the layer takes one request at a time */
	struct sftl_transfer transfer;
	struct request_log log;
	struct blk_mq_tag_set tags;
	struct gendisk *disk;
	struct dentry *files;		/* the directory in debugfs */
};

/*
 * mtd.c: describes an MTD device as the layer's flash. -EINVAL, with a message, if it is
 * unsuitable.
 */
int media_ftl_flash(struct mtd_info *mtd, struct sftl_flash *flash);

/* blk.c */
int media_ftl_add_disk(struct media_ftl *f);
void media_ftl_remove_disk(struct media_ftl *f);

/* stats.c */
void media_ftl_add_files(struct media_ftl *f);

#endif
