// SPDX-License-Identifier: GPL-2.0-only
/*
 * media_nand: a raw NAND chip on a controller, /dev/mtd0, that takes the time which the media core says.
 *
 * The chip lies in two files of the host (../common/media_common.h): its state, and its content, page after page, each
 * with its spare area.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/slab.h>

#include "media_nand.h"

static unsigned int state_slot;
module_param_named(state, state_slot, uint, 0444);
MODULE_PARM_DESC(state, "PCI slot on bus 0 of the chip's state");

static unsigned int data_slot;
module_param_named(data, data_slot, uint, 0444);
MODULE_PARM_DESC(data, "PCI slot on bus 0 of the chip's content");

static unsigned int cycle_ps;
module_param(cycle_ps, uint, 0444);
MODULE_PARM_DESC(cycle_ps, "time in which the controller moves a byte; "
		"0 (default), or less than the chip's: the chip's");

static bool dma;
module_param(dma, bool, 0444);
MODULE_PARM_DESC(dma, "the controller moves data; default: the CPU does");

static bool poll;
module_param(poll, bool, 0444);
MODULE_PARM_DESC(poll, "the CPU asks again and again whether the chip is ready; default: an interrupt wakes it");

static bool whole_pages;
module_param(whole_pages, bool, 0444);
MODULE_PARM_DESC(whole_pages, "error correction takes whole pages: no sub-page is read or programmed");

static unsigned int record;
module_param(record, uint, 0444);
MODULE_PARM_DESC(record, "how many cycles to keep for the file cycles; 0 (default): none");

static unsigned long long used_bytes;
module_param(used_bytes, ullong, 0444);
MODULE_PARM_DESC(used_bytes, "the part of the chip, from its start, that becomes /dev/mtd0; 0 (default): all");

static unsigned long long digest;
module_param(digest, ullong, 0444);
MODULE_PARM_DESC(digest, "digest of the parameters that the state must have, from fbmedia digest; 0 (default): any");

static struct media_region state_region, data_region;
static struct media_nand *device;

static int open_chip(struct media_nand *mn)
{
	const struct fb_params *params;
	u8 *registers;
	int err = media_take_up(&state_region, &data_region, state_slot, digest, &mn->medium);

	if (err)
		return err;
	params = fb_medium_params(mn->medium);
	if (params->kind != FB_NAND) {
		pr_err("a medium of kind %s is no raw NAND chip: load media_blk\n", fb_kind_word(params->kind));
		return -EINVAL;
	}
	registers = kvmalloc(fb_bus_register_bytes(params), GFP_KERNEL);
	if (!registers)
		return -ENOMEM;
	fb_bus_init(&mn->bus, mn->medium, data_region.memory, registers);
	mn->cycle_ps = max_t(u64, cycle_ps, params->bus_ps_per_byte);
	mn->dma = dma;
	mn->polls = poll;
	mn->whole_pages = whole_pages;
	mn->used_bytes = used_bytes;
	return cycle_log_start(&mn->cycles, record);
}

static void free_device(void)
{
	cycle_log_stop(&device->cycles);
	kvfree(device->bus.registers);
	kvfree(device);
}

static int add_chip(void)
{
	int err;

	device = kvzalloc(sizeof(*device), GFP_KERNEL);
	if (!device)
		return -ENOMEM;
	err = open_chip(device);
	if (!err)
		err = media_nand_add(device);
	if (err)
		free_device();
	return err;
}

static void unmap_all(void)
{
	media_region_unmap(&data_region);
	media_region_unmap(&state_region);
}

static int __init media_nand_init(void)
{
	int err = media_region_map(&state_region, state_slot, "state");

	if (!err)
		err = media_region_map(&data_region, data_slot, "data");
	if (!err)
		err = add_chip();
	if (err)
		unmap_all();
	return err;
}

static void __exit media_nand_exit(void)
{
	media_nand_remove(device);
	free_device();
	unmap_all();
}

module_init(media_nand_init);
module_exit(media_nand_exit);
MODULE_DESCRIPTION("Raw NAND controller with a modelled chip");
MODULE_LICENSE("GPL");
