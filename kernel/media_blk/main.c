// SPDX-License-Identifier: GPL-2.0-only
/*
 * media_blk: a block device, /dev/mblk0, that takes the time which the media core says.
 *
 * The medium lies in two files of the host (../common/media_common.h): its state (what the core knows) and its data
 * (what is stored, by address). A third keeps old content, if the power is to be cut. This file hands them to the block
 * driver.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/slab.h>

#include "media_blk.h"

static unsigned int state_slot;
module_param_named(state, state_slot, uint, 0444);
MODULE_PARM_DESC(state, "PCI slot on bus 0 of the medium's state");

static unsigned int data_slot;
module_param_named(data, data_slot, uint, 0444);
MODULE_PARM_DESC(data, "PCI slot on bus 0 of the medium's data");

static unsigned int pio_sector_ns;
module_param(pio_sector_ns, uint, 0444);
MODULE_PARM_DESC(pio_sector_ns, "time in which the CPU itself transfers 512 bytes; 0 (default): DMA");

static unsigned int queue_depth;
module_param(queue_depth, uint, 0444);
MODULE_PARM_DESC(queue_depth, "requests that the medium takes at a time; 0 (default): as its parameters say");

static bool write_cache;
module_param(write_cache, bool, 0444);
MODULE_PARM_DESC(write_cache, "tell the kernel that flushes are needed, whatever the medium's parameters say");

static unsigned long long digest;
module_param(digest, ullong, 0444);
MODULE_PARM_DESC(digest, "digest of the parameters that the state must have, from fbmedia digest; 0 (default): any");

static unsigned int record;
module_param(record, uint, 0444);
MODULE_PARM_DESC(record, "how many requests to keep for /sys/block/mblk0/requests; 0 (default): none");

static unsigned int undo_slot;
module_param_named(undo, undo_slot, uint, 0444);
MODULE_PARM_DESC(undo, "PCI slot on bus 0 of a file from fbmedia undo, for old content; 0 (default): none is kept");

static unsigned long cut_at_request;
module_param(cut_at_request, ulong, 0444);
MODULE_PARM_DESC(cut_at_request, "cut the power when so many requests have come; needs undo; 0 (default): never");

static unsigned long cut_after_ns;
module_param(cut_after_ns, ulong, 0444);
MODULE_PARM_DESC(cut_after_ns, "cut the power so long after that request came");

static struct media_region state_region, data_region, undo_region;
static struct media_blk *device;

static int open_medium(struct media_blk *mb)
{
	int err = media_take_up(&state_region, &data_region, state_slot, digest, &mb->medium);

	if (err)
		return err;
	if (fb_medium_params(mb->medium)->kind == FB_NAND) {
		pr_err("a raw NAND chip is no block device: load media_nand\n");
		return -EINVAL;
	}
	mb->data = data_region.memory;
	return 0;
}

static int open_undo(struct media_blk *mb)
{
	enum fb_error error;

	if (!undo_slot && !cut_at_request)
		return 0;
	if (!undo_slot) {
		pr_err("cut_at_request needs undo\n");
		return -EINVAL;
	}
	error = fb_undo_open(undo_region.memory, undo_region.bytes, fb_medium_params(mb->medium), &mb->undo);
	if (error) {
		pr_err("undo in PCI slot %u refused: %s\n", undo_slot, fb_error_text(error));
		return -EINVAL;
	}
	fb_undo_clear(mb->undo);
	media_blk_cut_init(mb);
	return 0;
}

static void free_device(void)
{
	request_log_stop(&device->log);
	kfree(device);
}

static int add_device(void)
{
	int err;

	device = kzalloc(sizeof(*device), GFP_KERNEL);
	if (!device)
		return -ENOMEM;
	spin_lock_init(&device->lock);
	media_blk_forget_programmed(&device->programmed);
	device->options.pio_sector_ns = pio_sector_ns;
	device->options.queue_depth = queue_depth;
	device->options.write_cache = write_cache;
	device->options.cut_at_request = cut_at_request;
	device->options.cut_after_ns = cut_after_ns;
	err = open_medium(device);
	if (!err)
		err = open_undo(device);
	if (!err)
		err = request_log_start(&device->log, record);
	if (!err)
		err = media_blk_add(device);
	if (err)
		free_device();
	return err;
}

static void unmap_all(void)
{
	media_region_unmap(&undo_region);
	media_region_unmap(&data_region);
	media_region_unmap(&state_region);
}

static int __init media_blk_init(void)
{
	int err = media_region_map(&state_region, state_slot, "state");

	if (!err)
		err = media_region_map(&data_region, data_slot, "data");
	if (!err && undo_slot)
		err = media_region_map(&undo_region, undo_slot, "undo");
	if (!err)
		err = add_device();
	if (err)
		unmap_all();
	return err;
}

static void __exit media_blk_exit(void)
{
	media_blk_remove(device);
	if (device->undo)
		hrtimer_cancel(&device->cut_timer);
	free_device();
	unmap_all();
}

module_init(media_blk_init);
module_exit(media_blk_exit);
MODULE_DESCRIPTION("Block device with the timing of a modelled medium");
MODULE_LICENSE("GPL");
