/* SPDX-License-Identifier: GPL-2.0-only */
/* What the rooms of media_blk share: the one medium that the module drives */
#ifndef MEDIA_BLK_H
#define MEDIA_BLK_H

#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/spinlock.h>

#include "fb_medium.h"
#include "fb_undo.h"
#include "media_common.h"
#include "request_log.h"

/* As given at insmod */
struct media_blk_options {
	unsigned int pio_sector_ns;	/* 0: the medium transfers by DMA */
	unsigned int queue_depth;	/* 0: as the medium's parameters say */
	bool write_cache;
	unsigned long cut_at_request;	/* 0: the power stays on */
	unsigned long cut_after_ns;
};

#define MEDIA_BLK_MOMENTS	128

struct media_blk_moment {
	u64 now_ns;
	u64 pages;			/* programmed in the medium's life */
};

struct media_blk_programmed {
	u64 gap_ns;			/* between two moments */
	u64 next_ns;			/* no moment is noted before */
	u32 count;
	struct media_blk_moment at[MEDIA_BLK_MOMENTS];
};

struct media_blk {
	struct fb_medium *medium;
	spinlock_t lock;		/* one request at a time asks the medium */
	u8 *data;			/* the medium's content by address */
	struct media_blk_options options;
	struct request_log log;		/* guarded by lock */
	struct media_blk_programmed programmed;	/* guarded by lock */

	struct fb_undo *undo;		/* NULL: old content is not kept; guarded by lock */
	unsigned long requests;		/* that the medium was asked, for cut_at_request */
	struct hrtimer cut_timer;

	struct blk_mq_tag_set tags;
	struct gendisk *disk;

	/* Of a medium with one queue */
	atomic_t taken;			/* requests that the medium has */
	atomic_t refused;		/* 1: somebody waits for one of them to be done */
};

/* blk.c */
int media_blk_add(struct media_blk *mb);
void media_blk_remove(struct media_blk *mb);

/* programmed.c; the caller holds the lock */
extern const struct attribute_group media_blk_programmed_group;
void media_blk_forget_programmed(struct media_blk_programmed *p);
void media_blk_note_programmed(struct media_blk_programmed *p, u64 now_ns, u64 pages);

/* power.c */
u64 media_blk_undo_begin(struct media_blk *mb, u64 offset_bytes, u64 length_bytes);
void media_blk_cut_init(struct media_blk *mb);
void media_blk_cut_count(struct media_blk *mb, u64 now_ns);

#endif
