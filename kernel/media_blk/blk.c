// SPDX-License-Identifier: GPL-2.0-only
/*
 * The blk-mq driver. A request notes the time when it enters, moves its bytes, asks the medium when it is done, and
 * completes by hrtimer at exactly that time: the driver's own work lies within the request's time, not on top of it.
 *
 * Content is written and read at submission. Until a write is done its content is undefined to everyone else, so a read
 * that overlaps it may see the old or the new. The copy stands for DMA: it lies within the request's time, but it costs
 * the guest's CPU what DMA would not (about 0.65 us for 4 KiB at 1 ns an instruction).
 *
 * With PIO the CPU moves the bytes in the time it is told to: a write's before the medium gets the request, a read's
 * when the medium is done. The medium's link_ps_per_byte should then be 0, or the transfer counts twice.
 *
 * What cannot be read, since a power cut or with too many wrong bits, is refused (BLK_STS_MEDIUM) until it is written
 * again. A medium that has become read-only refuses writes (BLK_STS_IOERR, as a card that answers with an error; Linux
 * has no status for write protection), and their bytes do not reach its content, unless two CPUs write at that very
 * moment.
 *
 * Where old content is kept, copying it costs CPU time too, for each write as much again as the write's own copy.
 *
 * A medium has one or several queues, as its parameters say. They share the medium: it is asked for one request at a
 * time, under a lock, in the order in which that is got. The timer of a request fires on the CPU that submitted it, as
 * with an interrupt vector for each CPU. Of several queues each has the medium's depth, as with NVMe, and that lock is
 * all that its CPUs share with those of another.
 *
 * A discard leaves the content as it is: what a read returns afterwards is the old data, always. Zeroing it would cost
 * CPU time that no controller takes from the host. There is no write-zeroes command; the kernel writes zeros instead.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/highmem.h>
#include <linux/hrtimer.h>
#include <linux/module.h>

#include "compat.h"
#include "fb_power.h"
#include "media_blk.h"
#include "spin.h"

/*
 * Tags are the requests that blk-mq may hold for the device; schedulers get twice as many, here BLKDEV_DEFAULT_RQ
 * (128). The depth of a medium's only queue is kept apart from that, as a budget: with it as the number of tags, a
 * depth of 1 would leave a scheduler two requests to choose from. Several queues have as many tags each as they are
 * deep: a budget would be a counter that all CPUs write to.
 */
#define MEDIA_BLK_MIN_TAGS	(BLKDEV_DEFAULT_RQ / 2)

#define MEDIA_BLK_MAX_SECTORS	(SZ_1M >> SECTOR_SHIFT)
#define MEDIA_BLK_MAX_SEGMENTS	(SZ_1M >> PAGE_SHIFT)

/* Unmapping takes CPU time page by page, with the medium locked: keep a request's share short */
#define MEDIA_BLK_MAX_DISCARD_BYTES	((u64)SZ_64M)

struct media_blk_command {
	struct hrtimer timer;
	u64 undo;			/* number of the record of a write's old content */
	blk_status_t status;		/* of a request that the medium took */
};

static struct media_blk *to_media_blk(struct request *rq)
{
	return rq->q->queuedata;
}

static void copy(struct media_blk *mb, struct request *rq)
{
	u8 *data = mb->data + (blk_rq_pos(rq) << SECTOR_SHIFT);
	struct req_iterator iter;
	struct bio_vec bv;

	rq_for_each_segment(bv, rq, iter) {
		if (rq_data_dir(rq) == WRITE)
			memcpy_from_bvec(data, &bv);
		else
			memcpy_to_bvec(&bv, data);
		data += bv.bv_len;
	}
}

static bool moves_data(struct request *rq)
{
	return req_op(rq) == REQ_OP_READ || req_op(rq) == REQ_OP_WRITE;
}

static ktime_t pio_end(struct media_blk *mb, struct request *rq, ktime_t start)
{
	return ktime_add_ns(start, (u64)blk_rq_sectors(rq) * mb->options.pio_sector_ns);
}

static bool keeps_old_content(struct media_blk *mb, struct request *rq)
{
	return mb->undo && req_op(rq) == REQ_OP_WRITE;
}

/* Moves the bytes that move before the medium works; returns when the medium gets the request */
static ktime_t submit_data(struct media_blk *mb, struct request *rq, ktime_t entry)
{
	struct media_blk_command *command = blk_mq_rq_to_pdu(rq);
	bool pio = mb->options.pio_sector_ns;

	if (!moves_data(rq) || (pio && rq_data_dir(rq) == READ))
		return entry;
	if (keeps_old_content(mb, rq))
		command->undo = media_blk_undo_begin(mb, (u64)blk_rq_pos(rq) << SECTOR_SHIFT, blk_rq_bytes(rq));
	if (rq_data_dir(rq) == READ || !fb_read_only(mb->medium))
		copy(mb, rq);
	if (!pio)
		return entry;
	media_spin_until(pio_end(mb, rq, entry));
	return pio_end(mb, rq, entry);
}

/* Moves the bytes that move after the medium has worked */
static void complete_data(struct media_blk *mb, struct request *rq)
{
	ktime_t start = ktime_get();

	if (!mb->options.pio_sector_ns || !moves_data(rq) || rq_data_dir(rq) == WRITE)
		return;
	copy(mb, rq);
	media_spin_until(pio_end(mb, rq, start));
}

static bool to_fb_request(struct request *rq, struct fb_request *request)
{
	request->offset_bytes = (u64)blk_rq_pos(rq) << SECTOR_SHIFT;
	request->length_bytes = blk_rq_bytes(rq);
	request->fua = rq->cmd_flags & REQ_FUA;
	switch (req_op(rq)) {
	case REQ_OP_READ:
		request->op = FB_READ;
		return true;
	case REQ_OP_WRITE:
		request->op = FB_WRITE;
		return true;
	case REQ_OP_DISCARD:
		request->op = FB_DISCARD;
		return true;
	case REQ_OP_FLUSH:
		request->op = FB_FLUSH;
		return true;
	default:
		return false;
	}
}

static blk_status_t status_of(enum fb_outcome outcome)
{
	switch (outcome) {
	case FB_DONE:
		return BLK_STS_OK;
	case FB_UNCORRECTABLE:
		return BLK_STS_MEDIUM;
	case FB_READ_ONLY:
		break;
	}
	return BLK_STS_IOERR;
}

static u64 ask_medium(struct media_blk *mb, struct request *rq, const struct fb_request *request, ktime_t now)
{
	struct media_blk_command *command = blk_mq_rq_to_pdu(rq);
	unsigned long flags;
	u64 first_part, done_ns;

	spin_lock_irqsave(&mb->lock, flags);
	first_part = fb_next_sequence(mb->medium);
	done_ns = fb_submit(mb->medium, request, ktime_to_ns(now));
	command->status = status_of(fb_last_outcome(mb->medium));
	if (keeps_old_content(mb, rq))
		fb_undo_submitted(mb->undo, command->undo, first_part, fb_next_sequence(mb->medium));
	if (mb->options.cut_at_request)
		media_blk_cut_count(mb, ktime_to_ns(now));
	media_blk_note_programmed(&mb->programmed, ktime_to_ns(now),
				  fb_medium_counters(mb->medium)->flash_programmed_pages);
	if (mb->log.at)
		request_log_add(&mb->log, request, ktime_to_ns(now), done_ns);
	spin_unlock_irqrestore(&mb->lock, flags);
	return done_ns;
}

static enum hrtimer_restart command_done(struct hrtimer *timer)
{
	struct media_blk_command *command = container_of(timer, struct media_blk_command, timer);

	blk_mq_complete_request(blk_mq_rq_from_pdu(command));
	return HRTIMER_NORESTART;
}

static bool has_budget(const struct media_blk *mb)
{
	return mb->tags.nr_hw_queues == 1;
}

/* A request that the driver has not queued gives back its place itself */
static blk_status_t refuse(struct media_blk *mb, blk_status_t status)
{
	if (has_budget(mb))
		atomic_dec(&mb->taken);
	return status;
}

static blk_status_t media_blk_queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	ktime_t entry = ktime_get();
	struct request *rq = bd->rq;
	struct media_blk *mb = to_media_blk(rq);
	struct media_blk_command *command = blk_mq_rq_to_pdu(rq);
	struct fb_request request;
	u64 done_ns;

	if (!to_fb_request(rq, &request))
		return refuse(mb, BLK_STS_NOTSUPP);
	blk_mq_start_request(rq);
	done_ns = ask_medium(mb, rq, &request, submit_data(mb, rq, entry));
	if (done_ns == FB_NEVER)
		return refuse(mb, BLK_STS_IOERR);
	if (done_ns <= ktime_get_ns())
		blk_mq_complete_request(rq);
	else
		hrtimer_start(&command->timer, ns_to_ktime(done_ns), HRTIMER_MODE_ABS_PINNED_HARD);
	return BLK_STS_OK;
}

static void media_blk_complete(struct request *rq)
{
	struct media_blk *mb = to_media_blk(rq);
	struct media_blk_command *command = blk_mq_rq_to_pdu(rq);
	struct request_queue *q = rq->q;

	complete_data(mb, rq);
	if (!has_budget(mb)) {
		blk_mq_end_request(rq, command->status);
		return;
	}
	atomic_dec(&mb->taken);
	blk_mq_end_request(rq, command->status);
	if (atomic_xchg(&mb->refused, 0))
		blk_mq_run_hw_queues(q, true);
}

static int media_blk_get_budget(struct request_queue *q)
{
	struct media_blk *mb = q->queuedata;
	unsigned int depth = mb->options.queue_depth;

	if (atomic_add_unless(&mb->taken, 1, depth))
		return 0;
	atomic_set(&mb->refused, 1);
	/* Ask to be woken before looking again: the last one may have been done in between */
	smp_mb();
	return atomic_add_unless(&mb->taken, 1, depth) ? 0 : -1;
}

static void media_blk_put_budget(struct request_queue *q, int token)
{
	struct media_blk *mb = q->queuedata;

	atomic_dec(&mb->taken);
}

static int media_blk_init_request(struct blk_mq_tag_set *set, struct request *rq, unsigned int hctx,
				  unsigned int node)
{
	struct media_blk_command *command = blk_mq_rq_to_pdu(rq);

	hrtimer_init(&command->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	command->timer.function = command_done;
	return 0;
}

static const struct blk_mq_ops one_queue = {
	.queue_rq = media_blk_queue_rq,
	.complete = media_blk_complete,
	.get_budget = media_blk_get_budget,
	.put_budget = media_blk_put_budget,
	.init_request = media_blk_init_request,
};

static const struct blk_mq_ops several_queues = {
	.queue_rq = media_blk_queue_rq,
	.complete = media_blk_complete,
	.init_request = media_blk_init_request,
};

static const struct block_device_operations media_blk_fops = { .owner = THIS_MODULE };

/* The kernel cuts discards at multiples of the granularity; groups begin at address 0, so no offset is needed */
static void set_discard(struct queue_limits *limits, u64 granularity)
{
	u64 most = max(MEDIA_BLK_MAX_DISCARD_BYTES / granularity, 1ull) * granularity;

	limits->discard_granularity = granularity;
	limits->max_hw_discard_sectors = most >> SECTOR_SHIFT;
}

static struct gendisk *alloc_disk(struct media_blk *mb)
{
	const struct fb_params *params = fb_medium_params(mb->medium);
	struct media_features features = {
		.rotational = fb_rotational(params),
		.write_cache = mb->options.write_cache || fb_volatile_cache(params),
	};
	struct queue_limits limits = {
		.logical_block_size = params->sector_bytes,
		.max_hw_sectors = MEDIA_BLK_MAX_SECTORS,
		.max_segments = MEDIA_BLK_MAX_SEGMENTS,
	};

	if (params->kind == FB_FLASH) {
		limits.physical_block_size = params->page_bytes;
		limits.io_min = params->page_bytes;
		/* Not the erase group: no such device tells it, and the kernel would read twice as much ahead */
		limits.io_opt = params->page_bytes * params->dies;
	}
	if (fb_discard_bytes(params))
		set_discard(&limits, fb_discard_bytes(params));
	return media_alloc_disk(&mb->tags, &limits, features, mb);
}

static void set_tags(struct media_blk *mb)
{
	const struct fb_params *params = fb_medium_params(mb->medium);
	unsigned int depth = mb->options.queue_depth ? mb->options.queue_depth : params->queue_depth;

	mb->options.queue_depth = depth;
	mb->tags.nr_hw_queues = min_t(unsigned int, params->queues, nr_cpu_ids);
	mb->tags.ops = has_budget(mb) ? &one_queue : &several_queues;
	mb->tags.queue_depth = has_budget(mb) ? max_t(unsigned int, depth, MEDIA_BLK_MIN_TAGS) : depth;
	mb->tags.numa_node = NUMA_NO_NODE;
	mb->tags.cmd_size = sizeof(struct media_blk_command);
	mb->tags.flags = BLK_MQ_F_SHOULD_MERGE;
}

struct fb_medium *media_of(struct device *dev)
{
	struct media_blk *mb = dev_to_disk(dev)->private_data;

	return mb->medium;
}

/* Whatever is written: returns when the medium has done what it does by itself in a pause, and virtual time has passed */
static ssize_t rest_store(struct device *dev, struct device_attribute *attribute, const char *text, size_t count)
{
	struct media_blk *mb = dev_to_disk(dev)->private_data;
	unsigned long flags;
	u64 done_ns, now_ns;

	spin_lock_irqsave(&mb->lock, flags);
	done_ns = fb_rest(mb->medium, ktime_get_ns());
	media_blk_forget_programmed(&mb->programmed);
	spin_unlock_irqrestore(&mb->lock, flags);
	for (now_ns = ktime_get_ns(); now_ns < done_ns; now_ns = ktime_get_ns())
		fsleep(div_u64(done_ns - now_ns, NSEC_PER_USEC) + 1);
	return count;
}

static DEVICE_ATTR_WO(rest);

static struct attribute *rest_attributes[] = { &dev_attr_rest.attr, NULL };

static const struct attribute_group rest_group = { .attrs = rest_attributes };

static struct request_log *log_of(struct gendisk *disk)
{
	struct media_blk *mb = disk->private_data;

	return &mb->log;
}

REQUEST_LOG_FILE(request_group, log_of);

/* What is in /sys/block/mblk0/ */
static const struct attribute_group *groups[] = {
	&media_counter_group, &media_wear_group, &media_erases_group, &rest_group,
	&media_blk_programmed_group, &request_group, NULL
};

int media_blk_add(struct media_blk *mb)
{
	int err;

	set_tags(mb);
	err = blk_mq_alloc_tag_set(&mb->tags);
	if (err)
		return err;
	mb->disk = alloc_disk(mb);
	if (IS_ERR(mb->disk)) {
		err = PTR_ERR(mb->disk);
		goto free_tags;
	}
	mb->disk->fops = &media_blk_fops;
	mb->disk->private_data = mb;
	mb->disk->flags |= GENHD_FL_NO_PART;	/* or adding the disk would read from it */
	strscpy(mb->disk->disk_name, "mblk0", DISK_NAME_LEN);
	set_capacity(mb->disk, fb_exposed_bytes(fb_medium_params(mb->medium)) >> SECTOR_SHIFT);
	err = device_add_disk(NULL, mb->disk, groups);
	if (err)
		goto put_disk;
	return 0;

put_disk:
	put_disk(mb->disk);
free_tags:
	blk_mq_free_tag_set(&mb->tags);
	return err;
}

void media_blk_remove(struct media_blk *mb)
{
	del_gendisk(mb->disk);
	put_disk(mb->disk);
	blk_mq_free_tag_set(&mb->tags);
}
