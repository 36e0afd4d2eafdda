// SPDX-License-Identifier: GPL-2.0-only
/*
 * media_nand: a raw NAND chip on a controller, /dev/mtd0, that takes the time which the media core
 * says.
 *
 * The chip lies in two files of the host, which QEMU maps into the guest with ivshmem-plain: its
 * state, and its content, page after page, each with its spare area. The driver is bound to the
 * device of the state, and takes that of the content with it. Which devices they are is said by
 * their slots, for a third one is none of the chip's.
 */
#include <linux/io.h>
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
MODULE_PARM_DESC(poll,
		 "the CPU asks again and again whether the chip is ready; default: an interrupt wakes it");

static bool whole_pages;
module_param(whole_pages, bool, 0444);
MODULE_PARM_DESC(whole_pages,
		 "error correction takes whole pages: no sub-page is read or programmed");

static unsigned int record;
module_param(record, uint, 0444);
MODULE_PARM_DESC(record, "how many cycles to keep for the file cycles; 0 (default): none");

static unsigned long long used_bytes;
module_param(used_bytes, ullong, 0444);
MODULE_PARM_DESC(used_bytes,
		 "the part of the chip, from its start, that becomes /dev/mtd0; 0 (default): all");

static unsigned long long digest;
module_param(digest, ullong, 0444);
MODULE_PARM_DESC(digest,
		 "digest of the parameters that the state must have, from fbmedia digest; 0 (default): any");

#define MEDIA_NAND_VENDOR	0x1af4	/* ivshmem */
#define MEDIA_NAND_DEVICE	0x1110
#define MEDIA_NAND_MEMORY	2	/* the BAR that holds the file */

struct media_nand_region {
	void *memory;
	size_t bytes;
};

/* `pdev` is enabled, and stays so until the driver leaves `dev` */
static int media_nand_map(struct device *dev, struct pci_dev *pdev,
			  struct media_nand_region *region)
{
	region->bytes = pci_resource_len(pdev, MEDIA_NAND_MEMORY);
	region->memory = devm_memremap(dev, pci_resource_start(pdev, MEDIA_NAND_MEMORY),
				       region->bytes, MEMREMAP_WB);
	if (IS_ERR(region->memory))
		return dev_err_probe(dev, PTR_ERR(region->memory), "cannot map %zu bytes of %s\n",
				     region->bytes, pci_name(pdev));
	return 0;
}

static void media_nand_put_data(void *context)
{
	struct pci_dev *pdev = context;

	pci_disable_device(pdev);
	pci_dev_put(pdev);
}

/* The device of the content, enabled until the driver leaves that of the state */
static struct pci_dev *media_nand_get_data(struct pci_dev *state)
{
	struct pci_dev *pdev = pci_get_slot(state->bus, PCI_DEVFN(data_slot, 0));
	int err;

	if (!pdev || pdev->vendor != MEDIA_NAND_VENDOR || pdev->device != MEDIA_NAND_DEVICE) {
		pci_dev_put(pdev);
		return ERR_PTR(-ENODEV);
	}
	err = pci_enable_device_mem(pdev);
	if (err) {
		pci_dev_put(pdev);
		return ERR_PTR(err);
	}
	err = devm_add_action_or_reset(&state->dev, media_nand_put_data, pdev);
	return err ? ERR_PTR(err) : pdev;
}

/* The chip whose state is in the region, with its power on */
static int media_nand_take_up(struct media_nand *mn, const struct media_nand_region *state)
{
	struct device *dev = &mn->pdev->dev;
	enum fb_error error = fb_open(state->memory, state->bytes, &mn->medium);
	const struct fb_params *params;

	if (error)
		return dev_err_probe(dev, -EINVAL, "state refused: %s\n", fb_error_text(error));
	params = fb_medium_params(mn->medium);
	if (digest && digest != fb_params_digest(params))
		return dev_err_probe(dev, -EINVAL,
				     "state refused: another medium, with parameters of digest %016llx, not %016llx\n",
				     fb_params_digest(params), digest);
	if (params->kind != FB_NAND)
		return dev_err_probe(dev, -EINVAL,
				     "state refused: a medium of kind %s is no raw NAND chip\n",
				     fb_kind_word(params->kind));
	fb_power_on(mn->medium);
	return 0;
}

static void media_nand_free(void *memory)
{
	kvfree(memory);
}

static int media_nand_join(struct media_nand *mn, const struct media_nand_region *data)
{
	struct device *dev = &mn->pdev->dev;
	const struct fb_params *params = fb_medium_params(mn->medium);
	u8 *registers;
	int err;

	if (data->bytes < fb_content_bytes(params))
		return dev_err_probe(dev, -ENOSPC, "data has %zu bytes, the chip needs %llu\n",
				     data->bytes, fb_content_bytes(params));
	/* Those of a chip that keeps what a program takes with it when the power goes are large */
	registers = kvmalloc(fb_bus_register_bytes(params), GFP_KERNEL);
	if (!registers)
		return -ENOMEM;
	err = devm_add_action_or_reset(dev, media_nand_free, registers);
	if (err)
		return err;
	fb_bus_init(&mn->bus, mn->medium, data->memory, registers);
	mn->cycle_ps = max_t(u64, cycle_ps, params->bus_ps_per_byte);
	mn->dma = dma;
	mn->polls = poll;
	mn->whole_pages = whole_pages;
	mn->used_bytes = used_bytes;
	return cycle_log_init(dev, &mn->cycles, record);
}

static int media_nand_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct device *dev = &pdev->dev;
	struct media_nand_region state, data;
	struct pci_dev *data_pdev;
	struct media_nand *mn;
	int err;

	if (PCI_SLOT(pdev->devfn) != state_slot)
		return -ENODEV;
	mn = devm_kzalloc(dev, sizeof(*mn), GFP_KERNEL);
	if (!mn)
		return -ENOMEM;
	mn->pdev = pdev;
	pci_set_drvdata(pdev, mn);
	err = pcim_enable_device(pdev);
	if (err)
		return err;
	data_pdev = media_nand_get_data(pdev);
	if (IS_ERR(data_pdev))
		return dev_err_probe(dev, PTR_ERR(data_pdev), "no content in slot %u\n", data_slot);
	err = media_nand_map(dev, pdev, &state);
	if (!err)
		err = media_nand_map(dev, data_pdev, &data);
	if (!err)
		err = media_nand_take_up(mn, &state);
	if (!err)
		err = media_nand_join(mn, &data);
	return err ? err : media_nand_add(mn);
}

static void media_nand_leave(struct pci_dev *pdev)
{
	media_nand_remove(pci_get_drvdata(pdev));
}

static const struct pci_device_id media_nand_ids[] = {
	{ PCI_DEVICE(MEDIA_NAND_VENDOR, MEDIA_NAND_DEVICE) },
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

MODULE_DESCRIPTION("Raw NAND controller with a modelled chip");
MODULE_AUTHOR("The flashbed authors");
MODULE_LICENSE("GPL");
