/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between the supported kernels, 6.1 and 6.12. The driver is written for 6.12. */
#ifndef PROGRAM_REGION_COMPAT_H
#define PROGRAM_REGION_COMPAT_H

#include <linux/blkdev.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
static inline struct gendisk *program_region_alloc_disk(void)
{
	struct queue_limits limits = { .features = BLK_FEAT_DAX };

	return blk_alloc_disk(&limits, NUMA_NO_NODE);
}
#else
static inline struct gendisk *program_region_alloc_disk(void)
{
	struct gendisk *disk = blk_alloc_disk(NUMA_NO_NODE);

	if (!disk)
		return ERR_PTR(-ENOMEM);
	blk_queue_flag_set(QUEUE_FLAG_DAX, disk->queue);
	blk_queue_flag_set(QUEUE_FLAG_NONROT, disk->queue);
	return disk;
}
#endif

#endif
