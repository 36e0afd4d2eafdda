// SPDX-License-Identifier: GPL-2.0-only
/*
 * media_ftl: a block device, /dev/mftl0, on a bare NAND chip driven by Linux: a translation layer
 * in software, which uses the host's CPU and memory. See layer.h.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "media_ftl.h"

static unsigned int mtd;
module_param(mtd, uint, 0444);
MODULE_PARM_DESC(mtd, "number of the MTD device");

static char *ftl = "page";
module_param(ftl, charp, 0444);
MODULE_PARM_DESC(ftl, "translation layer: page (default), bast or fast");

static unsigned int spare_percent = 3;
module_param(spare_percent, uint, 0444);
MODULE_PARM_DESC(spare_percent,
		 "blocks of a hundred that stand in for bad ones, those from the factory too");

static unsigned int over_provisioning_percent = 7;
module_param(over_provisioning_percent, uint, 0444);
MODULE_PARM_DESC(over_provisioning_percent,
		 "page: of the other blocks, so many of a hundred are not offered");

static unsigned int log_blocks = 8;
module_param(log_blocks, uint, 0444);
MODULE_PARM_DESC(log_blocks, "bast, fast: blocks that may be open for updates");

static unsigned int record;
module_param(record, uint, 0444);
MODULE_PARM_DESC(record,
		 "how many requests to keep for the file requests; 0 (default): none");

static struct media_ftl device;

static int media_ftl_configure(struct sftl_config *config)
{
	static const enum fb_ftl_word offered[] = { FB_FTL_PAGE, FB_FTL_BAST, FB_FTL_FAST };
	u32 i;

	config->spare_percent = spare_percent;
	config->over_provisioning_percent = over_provisioning_percent;
	config->log_blocks = log_blocks;
	for (i = 0; i < ARRAY_SIZE(offered); i++) {
		config->ftl = offered[i];
		if (!strcmp(ftl, fb_param_word(FB_PARAM_ftl, offered[i])))
			return 0;
	}
	pr_err("ftl=%s is none of page, bast, fast\n", ftl);
	return -EINVAL;
}

static void media_ftl_complain(int err)
{
	switch (err) {
	case -EINVAL:
		pr_err("mtd%u is too small or too large for ftl=%s with these parameters\n", mtd,
		       ftl);
		break;
	case -ENOSPC:
		pr_err("mtd%u has too many bad blocks; raise spare_percent on an erased chip\n",
		       mtd);
		break;
	default:
		pr_err("mtd%u cannot be started: %d\n", mtd, err);
	}
}

static int media_ftl_start_layer(struct media_ftl *f)
{
	struct sftl_config config;
	struct sftl_flash flash;
	int err = media_ftl_configure(&config);

	if (!err)
		err = media_ftl_flash(f->mtd, &flash);
	if (err)
		return err;
	err = sftl_start(&flash, &config, &f->layer);
	if (err)
		media_ftl_complain(err);
	return err;
}

static int media_ftl_add_device(struct media_ftl *f)
{
	int err;

	mutex_init(&f->lock);
	f->transfer.data = kmalloc(2 * f->mtd->writesize, GFP_KERNEL);
	if (!f->transfer.data)
		return -ENOMEM;
	f->transfer.rest = f->transfer.data + f->mtd->writesize;
	err = media_ftl_start_layer(f);
	if (err)
		goto free_transfer;
	f->transfer.layer = f->layer;
	err = request_log_start(&f->log, record);
	if (!err)
		err = media_ftl_add_disk(f);
	if (!err) {
		media_ftl_add_files(f);
		return 0;
	}
	request_log_stop(&f->log);
	sftl_stop(f->layer);
free_transfer:
	kfree(f->transfer.data);
	return err;
}

static int __init media_ftl_init(void)
{
	int err;

	device.mtd = get_mtd_device(NULL, mtd);
	if (IS_ERR(device.mtd)) {
		pr_err("there is no mtd%u\n", mtd);
		return PTR_ERR(device.mtd);
	}
	err = media_ftl_add_device(&device);
	if (err)
		put_mtd_device(device.mtd);
	return err;
}

static void __exit media_ftl_exit(void)
{
	debugfs_remove_recursive(device.files);
	media_ftl_remove_disk(&device);
	request_log_stop(&device.log);
	sftl_stop(device.layer);
	kfree(device.transfer.data);
	put_mtd_device(device.mtd);
}

module_init(media_ftl_init);
module_exit(media_ftl_exit);
MODULE_DESCRIPTION("Block device on bare NAND: a flash translation layer in software");
MODULE_AUTHOR("The flashbed authors");
MODULE_LICENSE("GPL");
