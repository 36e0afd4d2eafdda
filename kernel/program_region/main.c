// SPDX-License-Identifier: GPL-2.0-only
/*
 * program_region: a file system image in memory of the PCI bus, as the block device /dev/program
 * with direct access (DAX). The memory is a BAR of the emulator's ivshmem device. A file system
 * maps its pages into programs as they are, so that neither programs nor their libraries take any
 * of the board's RAM.
 *
 * The kernel keeps a struct page for each page of the BAR. These lie in the BAR too, before the
 * image: the file that the lab makes (src/flashbed/image/program_root.py) has room for them, as
 * many bytes as program_region_head() says. On the board they would take 1/64 of the size of the
 * BAR.
 */
#include <linux/blkdev.h>
#include <linux/dax.h>
#include <linux/memremap.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/pfn_t.h>

#include "compat.h"

#define PROGRAM_REGION_VENDOR	0x1af4
#define PROGRAM_REGION_DEVICE	0x1110
#define PROGRAM_REGION_BAR	2

/* The outbox is another device of this kind. src/flashbed/machine/qemu.py has the same number. */
#define PROGRAM_REGION_SLOT	5

/* The kernel maps struct pages by blocks of this size, and each is for 128 MiB. */
#define PROGRAM_REGION_BLOCK	SZ_2M

struct program_region {
	struct dev_pagemap pages;
	struct dax_device *dax;
	struct gendisk *disk;

	/* The image: what comes after the struct pages */
	phys_addr_t address;
	void *data;
	u64 bytes;
};

static u64 program_region_head(u64 bar_bytes)
{
	return max_t(u64, bar_bytes / (PAGE_SIZE / sizeof(struct page)), PROGRAM_REGION_BLOCK);
}

static void program_region_submit_bio(struct bio *bio)
{
	struct program_region *region = bio->bi_bdev->bd_disk->private_data;
	char *from = region->data + (bio->bi_iter.bi_sector << SECTOR_SHIFT);
	struct bvec_iter iter;
	struct bio_vec bv;

	if (bio_op(bio) != REQ_OP_READ) {
		bio_io_error(bio);
		return;
	}
	bio_for_each_segment(bv, bio, iter) {
		memcpy_to_bvec(&bv, from);
		from += bv.bv_len;
	}
	bio_endio(bio);
}

static const struct block_device_operations program_region_fops = {
	.owner = THIS_MODULE,
	.submit_bio = program_region_submit_bio,
};

/* Returns the number of pages from `at` on */
static long program_region_direct_access(struct dax_device *dax, pgoff_t at, long pages,
					 enum dax_access_mode mode, void **address, pfn_t *pfn)
{
	struct program_region *region = dax_get_private(dax);
	u64 offset = PFN_PHYS(at);

	if (offset >= region->bytes)
		return -ERANGE;
	if (address)
		*address = region->data + offset;
	if (pfn)
		*pfn = phys_to_pfn_t(region->address + offset, PFN_DEV | PFN_MAP);
	return PHYS_PFN(region->bytes - offset);
}

static int program_region_zero_page_range(struct dax_device *dax, pgoff_t at, size_t pages)
{
	return -EROFS;
}

static const struct dax_operations program_region_dax_ops = {
	.direct_access = program_region_direct_access,
	.zero_page_range = program_region_zero_page_range,
};

static int program_region_map(struct program_region *region, struct pci_dev *pdev)
{
	phys_addr_t begin = pci_resource_start(pdev, PROGRAM_REGION_BAR);
	u64 bytes = pci_resource_len(pdev, PROGRAM_REGION_BAR), head = program_region_head(bytes);
	struct vmem_altmap within = {
		.base_pfn = PHYS_PFN(begin),
		.end_pfn = PHYS_PFN(begin + bytes - 1),
		.free = PHYS_PFN(head),
	};
	void *mapped;

	if (bytes <= head)
		return -EINVAL;
	region->pages.type = MEMORY_DEVICE_FS_DAX;
	region->pages.flags = PGMAP_ALTMAP_VALID;
	region->pages.nr_range = 1;
	region->pages.range.start = begin;
	region->pages.range.end = begin + bytes - 1;
	memcpy(&region->pages.altmap, &within, sizeof(within));	/* it has constant members */
	mapped = devm_memremap_pages(&pdev->dev, &region->pages);
	if (IS_ERR(mapped))
		return PTR_ERR(mapped);
	region->address = begin + head;
	region->data = mapped + head;
	region->bytes = bytes - head;
	return 0;
}

static int program_region_add(struct program_region *region, struct pci_dev *pdev)
{
	struct gendisk *disk = region->disk;
	int err;

	disk->fops = &program_region_fops;
	disk->private_data = region;
	disk->flags |= GENHD_FL_NO_PART;	/* otherwise adding the disk would read from it */
	strscpy(disk->disk_name, "program", DISK_NAME_LEN);
	set_capacity(disk, region->bytes >> SECTOR_SHIFT);
	set_disk_ro(disk, true);
	region->dax = alloc_dax(region, &program_region_dax_ops);
	if (IS_ERR(region->dax))
		return PTR_ERR(region->dax);
	err = dax_add_host(region->dax, disk);
	if (err)
		goto out_dax;
	err = device_add_disk(&pdev->dev, disk, NULL);
	if (err)
		goto out_host;
	return 0;

out_host:
	dax_remove_host(disk);
out_dax:
	kill_dax(region->dax);
	put_dax(region->dax);
	return err;
}

static int program_region_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct program_region *region;
	int err;

	if (PCI_SLOT(pdev->devfn) != PROGRAM_REGION_SLOT)
		return -ENODEV;
	region = devm_kzalloc(&pdev->dev, sizeof(*region), GFP_KERNEL);
	if (!region)
		return -ENOMEM;
	pci_set_drvdata(pdev, region);
	err = pcim_enable_device(pdev);
	if (err)
		return err;
	err = pci_request_region(pdev, PROGRAM_REGION_BAR, KBUILD_MODNAME);
	if (err)
		return err;
	err = program_region_map(region, pdev);
	if (err)
		return err;
	region->disk = program_region_alloc_disk();
	if (IS_ERR(region->disk))
		return PTR_ERR(region->disk);
	err = program_region_add(region, pdev);
	if (err)
		put_disk(region->disk);
	return err;
}

static void program_region_remove(struct pci_dev *pdev)
{
	struct program_region *region = pci_get_drvdata(pdev);

	dax_remove_host(region->disk);
	kill_dax(region->dax);
	put_dax(region->dax);
	del_gendisk(region->disk);
	put_disk(region->disk);
}

static const struct pci_device_id program_region_ids[] = {
	{ PCI_DEVICE(PROGRAM_REGION_VENDOR, PROGRAM_REGION_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, program_region_ids);

static struct pci_driver program_region_driver = {
	.name = KBUILD_MODNAME,
	.id_table = program_region_ids,
	.probe = program_region_probe,
	.remove = program_region_remove,
};
module_pci_driver(program_region_driver);

MODULE_DESCRIPTION("Root of programs, in memory beside the board's RAM");
MODULE_AUTHOR("The flashbed authors");
MODULE_LICENSE("GPL");
