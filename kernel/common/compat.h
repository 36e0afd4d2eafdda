/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences for block drivers between the supported kernels, 6.1 and 6.12. Drivers are written
 * for 6.12.
 */
#ifndef FB_COMPAT_H
#define FB_COMPAT_H

#include <linux/blk-mq.h>
#include <linux/version.h>

struct media_features {
	bool rotational;
	bool write_cache;	/* with FUA writes */
};

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
static inline struct gendisk *media_alloc_disk(struct blk_mq_tag_set *tags,
					       struct queue_limits *limits,
					       struct media_features features, void *queuedata)
{
	if (features.rotational)
		limits->features |= BLK_FEAT_ROTATIONAL;
	if (features.write_cache)
		limits->features |= BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA;
	return blk_mq_alloc_disk(tags, limits, queuedata);
}
#else
/*
 * The queue is created first, and its limits are set one by one; 0 stands for the kernel's default
 */
static inline struct gendisk *media_alloc_disk(struct blk_mq_tag_set *tags,
					       struct queue_limits *limits,
					       struct media_features features, void *queuedata)
{
	struct gendisk *disk = blk_mq_alloc_disk(tags, queuedata);
	struct request_queue *q;

	if (IS_ERR(disk))
		return disk;
	q = disk->queue;
	blk_queue_logical_block_size(q, limits->logical_block_size);
	blk_queue_max_hw_sectors(q, limits->max_hw_sectors);
	if (limits->max_segments)
		blk_queue_max_segments(q, limits->max_segments);
	blk_queue_write_cache(q, features.write_cache, features.write_cache);
	blk_queue_flag_clear(QUEUE_FLAG_ADD_RANDOM, q);
	if (!features.rotational)
		blk_queue_flag_set(QUEUE_FLAG_NONROT, q);
	if (limits->physical_block_size)
		blk_queue_physical_block_size(q, limits->physical_block_size);
	if (limits->io_min)
		blk_queue_io_min(q, limits->io_min);
	if (limits->io_opt)
		blk_queue_io_opt(q, limits->io_opt);
	q->limits.discard_granularity = limits->discard_granularity;
	if (limits->max_hw_discard_sectors)
		blk_queue_max_discard_sectors(q, limits->max_hw_discard_sectors);
	return disk;
}
#endif

#endif
