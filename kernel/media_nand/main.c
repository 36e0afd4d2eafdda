// SPDX-License-Identifier: GPL-2.0-only
/*
 * media_nand: the driver of the emulator's controller of a raw NAND chip, /dev/mtd0. The emulator
 * has the chip, its content and its times. The driver issues bus cycles and waits.
 *
 * Probing power-cycles the chip, so reloading the module restores the power after a cut. The
 * debugfs file media_nand/power shows the state: on, armed (a cut was requested), off.
 */
#include <linux/debugfs.h>
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "media_nand.h"

static bool dma;
module_param(dma, bool, 0444);
MODULE_PARM_DESC(dma, "the controller moves data; default: the CPU does");

static bool poll;
module_param(poll, bool, 0444);
MODULE_PARM_DESC(poll,
		 "the CPU asks again and again whether the chip is ready; default: an interrupt wakes it");

static bool whole_pages;
module_param(whole_pages, bool, 0444);
MODULE_PARM_DESC(whole_pages,
		 "error correction takes whole pages: no sub-page is read or programmed");

static unsigned long long used_bytes;
module_param(used_bytes, ullong, 0444);
MODULE_PARM_DESC(used_bytes,
		 "the part of the chip, from its start, that becomes /dev/mtd0; 0 (default): all");

static irqreturn_t media_nand_interrupt(int irq, void *context)
{
	struct media_nand *mn = context;

	if (!media_nand_read(mn, LAB_NAND_WAKE))
		return IRQ_NONE;
	complete(&mn->woken);
	return IRQ_HANDLED;
}

static int media_nand_power_show(struct seq_file *m, void *unused)
{
	static const char *const words[] = {
		[LAB_NAND_ON] = "on\n",
		[LAB_NAND_CUT_ARMED] = "armed\n",
		[LAB_NAND_OFF] = "off\n",
	};
	u64 power = media_nand_read(m->private, LAB_NAND_POWER);

	if (power < ARRAY_SIZE(words))
		seq_puts(m, words[power]);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(media_nand_power);

/* The framework asks for at most a page with its spare area, or a parameter page */
static int media_nand_set_up(struct media_nand *mn)
{
	struct device *dev = &mn->pdev->dev;
	u64 page_bytes = media_nand_read(mn, LAB_NAND_PAGE_BYTES) +
			 media_nand_read(mn, LAB_NAND_SPARE_BYTES);

	mn->dma = dma;
	mn->polls = poll;
	mn->whole_pages = whole_pages;
	mn->used_bytes = used_bytes;
	init_completion(&mn->woken);
	mn->buffer_bytes = max_t(u64, page_bytes, SZ_4K);
	mn->buffer = dmam_alloc_coherent(dev, mn->buffer_bytes, &mn->buffer_dma, GFP_KERNEL);
	if (!mn->buffer)
		return -ENOMEM;
	media_nand_write(mn, LAB_NAND_POWER, 1);
	return devm_request_irq(dev, mn->pdev->irq, media_nand_interrupt, IRQF_SHARED,
				KBUILD_MODNAME, mn);
}

static int media_nand_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct media_nand *mn = devm_kzalloc(&pdev->dev, sizeof(*mn), GFP_KERNEL);
	int err;

	if (!mn)
		return -ENOMEM;
	mn->pdev = pdev;
	pci_set_drvdata(pdev, mn);
	err = pcim_enable_device(pdev);
	if (err)
		return err;
	err = pcim_iomap_regions(pdev, BIT(0), KBUILD_MODNAME);
	if (err)
		return err;
	mn->registers = pcim_iomap_table(pdev)[0];
	err = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (err)
		return err;
	pci_set_master(pdev);
	err = media_nand_set_up(mn);
	if (err)
		return err;
	err = media_nand_add(mn);
	if (err)
		return err;
	mn->files = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("power", 0444, mn->files, mn, &media_nand_power_fops);
	return 0;
}

static void media_nand_leave(struct pci_dev *pdev)
{
	struct media_nand *mn = pci_get_drvdata(pdev);

	debugfs_remove_recursive(mn->files);
	media_nand_remove(mn);
}

static const struct pci_device_id media_nand_ids[] = {
	{ PCI_DEVICE(LAB_NAND_VENDOR, LAB_NAND_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, media_nand_ids);

static struct pci_driver media_nand_driver = {
	.name = KBUILD_MODNAME,
	.id_table = media_nand_ids,
	.probe = media_nand_probe,
	.remove = media_nand_leave,
};
module_pci_driver(media_nand_driver);

MODULE_DESCRIPTION("Driver of flashbed's controller of a raw NAND chip");
MODULE_AUTHOR("The flashbed authors");
MODULE_LICENSE("GPL");
