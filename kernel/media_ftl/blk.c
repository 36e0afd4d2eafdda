// SPDX-License-Identifier: GPL-2.0-only
/*
 * The block device, /dev/mftl0. Requests are served in the kernel's own worker, because the flash
 * blocks its caller. A completed write is on the flash, so there is no cache to flush.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/highmem.h>
#include <linux/module.h>

#include "compat.h"
#include "media_ftl.h"

#define MAX_SECTORS (SZ_512K >> SECTOR_SHIFT)

static int media_ftl_move_data(struct media_ftl *f, struct request *rq)
{
	u64 offset = (u64)blk_rq_pos(rq) << SECTOR_SHIFT;
	struct req_iterator iter;
	struct bio_vec bv;
	int err = 0;

	rq_for_each_segment(bv, rq, iter) {
		u8 *bytes = bvec_kmap_local(&bv);

		if (!err)
			err = sftl_transfer(&f->transfer, rq_data_dir(rq) == WRITE, offset, bytes,
					    bv.bv_len);
		kunmap_local(bytes);
		offset += bv.bv_len;
	}
	return sftl_transfer_end(&f->transfer, err);
}

static void media_ftl_discard(struct media_ftl *f, struct request *rq)
{
	u64 offset = (u64)blk_rq_pos(rq) << SECTOR_SHIFT;
	u32 bytes = f->layer->flash.page_bytes;

	sftl_discard(f->layer, DIV_ROUND_UP_ULL(offset, bytes),
		     div_u64(offset + blk_rq_bytes(rq), bytes));
}

static blk_status_t media_ftl_serve(struct media_ftl *f, struct request *rq)
{
	switch (req_op(rq)) {
	case REQ_OP_READ:
	case REQ_OP_WRITE:
		return errno_to_blk_status(media_ftl_move_data(f, rq));
	case REQ_OP_DISCARD:
		media_ftl_discard(f, rq);
		return BLK_STS_OK;
	default:
		return BLK_STS_NOTSUPP;
	}
}

static void media_ftl_log_request(struct media_ftl *f, struct request *rq, u64 now_ns)
{
	const struct fb_request request = {
		.op = req_op(rq) == REQ_OP_READ	 ? FB_READ :
		      req_op(rq) == REQ_OP_WRITE ? FB_WRITE :
						   FB_DISCARD,
		.offset_bytes = (u64)blk_rq_pos(rq) << SECTOR_SHIFT,
		.length_bytes = blk_rq_bytes(rq),
	};

	request_log_add(&f->log, &request, now_ns, ktime_get_ns());
}

static blk_status_t media_ftl_queue_rq(struct blk_mq_hw_ctx *hctx,
				       const struct blk_mq_queue_data *bd)
{
	struct media_ftl *f = bd->rq->q->queuedata;
	blk_status_t status;
	u64 now_ns;

	blk_mq_start_request(bd->rq);
	mutex_lock(&f->lock);
	now_ns = ktime_get_ns();
	status = media_ftl_serve(f, bd->rq);
	if (f->log.at)
		media_ftl_log_request(f, bd->rq, now_ns);
	mutex_unlock(&f->lock);
	blk_mq_end_request(bd->rq, status);
	return BLK_STS_OK;
}

static const struct blk_mq_ops media_ftl_mq_ops = { .queue_rq = media_ftl_queue_rq };
static const struct block_device_operations media_ftl_fops = { .owner = THIS_MODULE };

static struct gendisk *media_ftl_alloc_disk(struct media_ftl *f)
{
	u32 page_bytes = f->layer->flash.page_bytes;
	struct queue_limits limits = {
		.logical_block_size = SECTOR_SIZE,
		.physical_block_size = page_bytes,
		.io_min = page_bytes,
		.max_hw_sectors = MAX_SECTORS,
	};

	if (fb_medium_params(f->layer->medium)->ftl == FB_FTL_PAGE) {
		limits.discard_granularity = page_bytes;
		limits.max_hw_discard_sectors = UINT_MAX;
	}
	return media_alloc_disk(&f->tags, &limits, (struct media_features) { }, f);
}

int media_ftl_add_disk(struct media_ftl *f)
{
	int err;

	f->tags.ops = &media_ftl_mq_ops;
	f->tags.nr_hw_queues = 1;
	f->tags.queue_depth = BLKDEV_DEFAULT_RQ / 2;
	f->tags.numa_node = NUMA_NO_NODE;
	f->tags.flags = BLK_MQ_F_SHOULD_MERGE | BLK_MQ_F_BLOCKING;
	err = blk_mq_alloc_tag_set(&f->tags);
	if (err)
		return err;
	f->disk = media_ftl_alloc_disk(f);
	if (IS_ERR(f->disk)) {
		err = PTR_ERR(f->disk);
		goto free_tags;
	}
	f->disk->fops = &media_ftl_fops;
	f->disk->private_data = f;
	f->disk->flags |= GENHD_FL_NO_PART;
	strscpy(f->disk->disk_name, "mftl0", DISK_NAME_LEN);
	set_capacity(f->disk,
		     ((u64)sftl_pages(f->layer) * f->layer->flash.page_bytes) >> SECTOR_SHIFT);
	err = device_add_disk(NULL, f->disk, NULL);
	if (!err)
		return 0;
	put_disk(f->disk);
free_tags:
	blk_mq_free_tag_set(&f->tags);
	return err;
}

void media_ftl_remove_disk(struct media_ftl *f)
{
	del_gendisk(f->disk);
	put_disk(f->disk);
	blk_mq_free_tag_set(&f->tags);
}
