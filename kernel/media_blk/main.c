// SPDX-License-Identifier: GPL-2.0-only
/*
 * media_blk: the driver of the emulator's own disk, /dev/mblk0. The disk transfers the content and
 * interrupts at exactly the medium's completion time; the driver only issues commands.
 *
 * With PIO, the driver models a CPU that moves the bytes itself: the CPU is busy for the configured
 * time, before a write is issued and after a read completes. The medium's link_ps_per_byte should
 * then be 0, or the transfer counts twice.
 *
 * Reads of unreadable sectors fail (BLK_STS_MEDIUM) until the sectors are written again. A
 * read-only medium fails writes (BLK_STS_IOERR, like a card that answers with an error).
 */
#include <linux/blk-mq.h>
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "compat.h"
#include "lab_disk.h"
#include "spin.h"

/*
 * Tags limit the requests that blk-mq may hold for the device. Schedulers get twice as many, here
 * BLKDEV_DEFAULT_RQ (128). The medium's depth is a separate budget: as the number of tags, a depth
 * of 1 would leave a scheduler only two requests to choose from.
 */
#define MEDIA_BLK_MIN_TAGS	(BLKDEV_DEFAULT_RQ / 2)

#define MEDIA_BLK_MAX_SECTORS		(SZ_1M >> SECTOR_SHIFT)
#define MEDIA_BLK_MAX_DISCARD_BYTES	((u64)SZ_64M)

static unsigned int pio_sector_ns;
module_param(pio_sector_ns, uint, 0444);
MODULE_PARM_DESC(pio_sector_ns, "time in which the CPU itself transfers 512 bytes; 0 (default): DMA");

struct media_blk {
	struct pci_dev *pdev;
	void __iomem *registers;
	struct lab_disk_command *commands;	/* one per tag */
	dma_addr_t commands_dma;
	struct blk_mq_tag_set tags;
	struct gendisk *disk;

	unsigned int depth;			/* requests in flight at the disk, at most */
	atomic_t taken;				/* requests in flight at the disk */
	atomic_t refused;			/* 1: a queue waits for one of them to complete */
};

struct media_blk_request {
	blk_status_t status;
};

static bool media_blk_moves_data(struct request *rq)
{
	return req_op(rq) == REQ_OP_READ || req_op(rq) == REQ_OP_WRITE;
}

static void media_blk_pio(struct request *rq, enum req_op op)
{
	if (pio_sector_ns && req_op(rq) == op)
		media_spin_until(ktime_add_ns(ktime_get(),
					      (u64)blk_rq_sectors(rq) * pio_sector_ns));
}

static int media_blk_op(struct request *rq)
{
	switch (req_op(rq)) {
	case REQ_OP_READ:
		return LAB_DISK_READ;
	case REQ_OP_WRITE:
		return LAB_DISK_WRITE;
	case REQ_OP_DISCARD:
		return LAB_DISK_DISCARD;
	case REQ_OP_FLUSH:
		return LAB_DISK_FLUSH;
	default:
		return -EOPNOTSUPP;
	}
}

static void media_blk_unmap(struct media_blk *mb, struct request *rq, int segments)
{
	struct lab_disk_command *command = &mb->commands[rq->tag];

	while (segments-- > 0)
		dma_unmap_page(&mb->pdev->dev, le64_to_cpu(command->segment[segments].address),
			       le64_to_cpu(command->segment[segments].bytes), rq_dma_dir(rq));
}

/* Returns the number of segments */
static int media_blk_map(struct media_blk *mb, struct request *rq)
{
	struct lab_disk_command *command = &mb->commands[rq->tag];
	struct req_iterator iter;
	struct bio_vec bv;
	int segments = 0;

	rq_for_each_bvec(bv, rq, iter) {
		dma_addr_t address = dma_map_bvec(&mb->pdev->dev, &bv, rq_dma_dir(rq), 0);

		if (dma_mapping_error(&mb->pdev->dev, address)) {
			media_blk_unmap(mb, rq, segments);
			return -ENOMEM;
		}
		command->segment[segments].address = cpu_to_le64(address);
		command->segment[segments++].bytes = cpu_to_le64(bv.bv_len);
	}
	return segments;
}

static void media_blk_put_budget(struct request_queue *q, int token)
{
	struct media_blk *mb = q->queuedata;

	atomic_dec(&mb->taken);
}

/* A request that the driver has not issued returns its budget itself */
static blk_status_t media_blk_refuse(struct request *rq, blk_status_t status)
{
	media_blk_put_budget(rq->q, 0);
	return status;
}

static blk_status_t media_blk_queue_rq(struct blk_mq_hw_ctx *hctx,
				       const struct blk_mq_queue_data *bd)
{
	struct request *rq = bd->rq;
	struct media_blk *mb = rq->q->queuedata;
	struct lab_disk_command *command = &mb->commands[rq->tag];
	int op = media_blk_op(rq), segments = 0;

	if (op < 0)
		return media_blk_refuse(rq, BLK_STS_NOTSUPP);
	if (media_blk_moves_data(rq)) {
		segments = media_blk_map(mb, rq);
		if (segments < 0)
			return media_blk_refuse(rq, BLK_STS_RESOURCE);
	}
	blk_mq_start_request(rq);
	media_blk_pio(rq, REQ_OP_WRITE);
	command->op = cpu_to_le32(op);
	command->tag = cpu_to_le32(rq->tag);
	command->offset_bytes = cpu_to_le64((u64)blk_rq_pos(rq) << SECTOR_SHIFT);
	command->length_bytes = cpu_to_le64(blk_rq_bytes(rq));
	command->fua = cpu_to_le32(!!(rq->cmd_flags & REQ_FUA));
	command->segments = cpu_to_le32(segments);
	writeq(mb->commands_dma + rq->tag * sizeof(*command), mb->registers + LAB_DISK_COMMAND);
	return BLK_STS_OK;
}

static blk_status_t media_blk_status(u32 status)
{
	switch (status) {
	case LAB_DISK_OK:
		return BLK_STS_OK;
	case LAB_DISK_UNREADABLE:
		return BLK_STS_MEDIUM;
	default:
		return BLK_STS_IOERR;
	}
}

static irqreturn_t media_blk_interrupt(int irq, void *context)
{
	struct media_blk *mb = context;
	irqreturn_t ours = IRQ_NONE;
	struct media_blk_request *mine;
	struct request *rq;
	u64 done;

	for (;;) {
		done = readq(mb->registers + LAB_DISK_DONE);
		if (done == LAB_DISK_NONE_DONE)
			return ours;
		ours = IRQ_HANDLED;
		rq = blk_mq_tag_to_rq(mb->tags.tags[0], lower_32_bits(done));
		if (!rq)
			continue;
		mine = blk_mq_rq_to_pdu(rq);
		mine->status = media_blk_status(upper_32_bits(done));
		blk_mq_complete_request(rq);
	}
}

static void media_blk_complete(struct request *rq)
{
	struct media_blk_request *mine = blk_mq_rq_to_pdu(rq);
	struct request_queue *q = rq->q;
	struct media_blk *mb = q->queuedata;

	if (media_blk_moves_data(rq))
		media_blk_unmap(mb, rq, le32_to_cpu(mb->commands[rq->tag].segments));
	media_blk_pio(rq, REQ_OP_READ);
	media_blk_put_budget(q, 0);
	blk_mq_end_request(rq, mine->status);
	if (atomic_xchg(&mb->refused, 0))
		blk_mq_run_hw_queues(q, true);
}

static int media_blk_get_budget(struct request_queue *q)
{
	struct media_blk *mb = q->queuedata;

	if (atomic_add_unless(&mb->taken, 1, mb->depth))
		return 0;
	atomic_set(&mb->refused, 1);
	/*
	 * Ask for a wake-up before checking again: the last request may have completed in between
	 */
	smp_mb();
	return atomic_add_unless(&mb->taken, 1, mb->depth) ? 0 : -1;
}

static const struct blk_mq_ops media_blk_ops = {
	.queue_rq = media_blk_queue_rq,
	.complete = media_blk_complete,
	.get_budget = media_blk_get_budget,
	.put_budget = media_blk_put_budget,
};

static const struct block_device_operations media_blk_fops = { .owner = THIS_MODULE };

static u64 media_blk_register(struct media_blk *mb, unsigned int at)
{
	return readq(mb->registers + at);
}

static struct gendisk *media_blk_alloc_disk(struct media_blk *mb)
{
	u64 granularity = media_blk_register(mb, LAB_DISK_DISCARD_BYTES);
	u64 said = media_blk_register(mb, LAB_DISK_FEATURES);
	struct media_features features = {
		.rotational = said & LAB_DISK_ROTATIONAL,
		.write_cache = said & LAB_DISK_VOLATILE_CACHE,
	};
	struct queue_limits limits = {
		.logical_block_size = media_blk_register(mb, LAB_DISK_SECTOR_BYTES),
		.physical_block_size = media_blk_register(mb, LAB_DISK_PAGE_BYTES),
		.io_min = media_blk_register(mb, LAB_DISK_PAGE_BYTES),
		.io_opt = media_blk_register(mb, LAB_DISK_STRIPE_BYTES),
		.max_hw_sectors = MEDIA_BLK_MAX_SECTORS,
		.max_segments = LAB_DISK_MAX_SEGMENTS,
	};

	/* The kernel splits discards at multiples of the granularity */
	if (granularity) {
		u64 rounded = div64_u64(MEDIA_BLK_MAX_DISCARD_BYTES, granularity) * granularity;
		u64 most = max(rounded, granularity);

		limits.discard_granularity = granularity;
		limits.max_hw_discard_sectors = most >> SECTOR_SHIFT;
	}
	return media_alloc_disk(&mb->tags, &limits, features, mb);
}

static int media_blk_add(struct media_blk *mb)
{
	int err;

	mb->disk = media_blk_alloc_disk(mb);
	if (IS_ERR(mb->disk))
		return PTR_ERR(mb->disk);
	mb->disk->fops = &media_blk_fops;
	mb->disk->private_data = mb;
	mb->disk->flags |= GENHD_FL_NO_PART;	/* otherwise adding the disk would read from it */
	strscpy(mb->disk->disk_name, "mblk0", DISK_NAME_LEN);
	set_capacity(mb->disk, media_blk_register(mb, LAB_DISK_CAPACITY_BYTES) >> SECTOR_SHIFT);
	err = device_add_disk(&mb->pdev->dev, mb->disk, NULL);
	if (err)
		put_disk(mb->disk);
	return err;
}

static int media_blk_set_up(struct media_blk *mb)
{
	struct device *dev = &mb->pdev->dev;
	int err;

	mb->depth = media_blk_register(mb, LAB_DISK_QUEUE_DEPTH);
	mb->tags.nr_hw_queues = 1;
	mb->tags.ops = &media_blk_ops;
	mb->tags.queue_depth = max_t(unsigned int, mb->depth, MEDIA_BLK_MIN_TAGS);
	mb->tags.numa_node = NUMA_NO_NODE;
	mb->tags.cmd_size = sizeof(struct media_blk_request);
	mb->tags.flags = BLK_MQ_F_SHOULD_MERGE;
	mb->commands = dmam_alloc_coherent(dev, mb->tags.queue_depth * sizeof(*mb->commands),
					   &mb->commands_dma, GFP_KERNEL);
	if (!mb->commands)
		return -ENOMEM;
	err = devm_request_irq(dev, mb->pdev->irq, media_blk_interrupt, IRQF_SHARED,
			       KBUILD_MODNAME, mb);
	if (err)
		return err;
	err = blk_mq_alloc_tag_set(&mb->tags);
	if (err)
		return err;
	err = media_blk_add(mb);
	if (err)
		blk_mq_free_tag_set(&mb->tags);
	return err;
}

static int media_blk_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct media_blk *mb = devm_kzalloc(&pdev->dev, sizeof(*mb), GFP_KERNEL);
	int err;

	if (!mb)
		return -ENOMEM;
	mb->pdev = pdev;
	pci_set_drvdata(pdev, mb);
	err = pcim_enable_device(pdev);
	if (err)
		return err;
	err = pcim_iomap_regions(pdev, BIT(0), KBUILD_MODNAME);
	if (err)
		return err;
	mb->registers = pcim_iomap_table(pdev)[0];
	err = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (err)
		return err;
	pci_set_master(pdev);
	return media_blk_set_up(mb);
}

static void media_blk_remove(struct pci_dev *pdev)
{
	struct media_blk *mb = pci_get_drvdata(pdev);

	del_gendisk(mb->disk);
	put_disk(mb->disk);
	blk_mq_free_tag_set(&mb->tags);
}

static const struct pci_device_id media_blk_ids[] = {
	{ PCI_DEVICE(LAB_DISK_VENDOR, LAB_DISK_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, media_blk_ids);

static struct pci_driver media_blk_driver = {
	.name = KBUILD_MODNAME,
	.id_table = media_blk_ids,
	.probe = media_blk_probe,
	.remove = media_blk_remove,
};
module_pci_driver(media_blk_driver);

MODULE_DESCRIPTION("Driver of flashbed's own disk");
MODULE_AUTHOR("The flashbed authors");
MODULE_LICENSE("GPL");
