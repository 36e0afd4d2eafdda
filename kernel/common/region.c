// SPDX-License-Identifier: GPL-2.0-only
/* Finds a medium's files by their PCI slots, maps them, and takes up the medium whose state is in one of them. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/io.h>

#include "media_common.h"

#define IVSHMEM_VENDOR	0x1af4
#define IVSHMEM_DEVICE	0x1110
#define IVSHMEM_MEMORY	2	/* the BAR that holds the file */

int media_region_map(struct media_region *region, unsigned int slot, const char *what)
{
	struct pci_dev *pdev = pci_get_domain_bus_and_slot(0, 0, PCI_DEVFN(slot, 0));
	int err;

	if (!pdev || pdev->vendor != IVSHMEM_VENDOR || pdev->device != IVSHMEM_DEVICE) {
		pr_err("no ivshmem device for the medium's %s in PCI slot %u\n", what, slot);
		pci_dev_put(pdev);
		return -ENODEV;
	}
	err = pci_enable_device_mem(pdev);
	if (err) {
		pr_err("cannot enable the device in PCI slot %u: %d\n", slot, err);
		pci_dev_put(pdev);
		return err;
	}
	region->pdev = pdev;
	region->bytes = pci_resource_len(pdev, IVSHMEM_MEMORY);
	region->memory = memremap(pci_resource_start(pdev, IVSHMEM_MEMORY), region->bytes, MEMREMAP_WB);
	if (!region->memory) {
		pr_err("cannot map the medium's %s (%zu bytes) in PCI slot %u\n", what, region->bytes, slot);
		return -ENOMEM;
	}
	return 0;
}

void media_region_unmap(struct media_region *region)
{
	if (region->memory)
		memunmap(region->memory);
	if (region->pdev) {
		pci_disable_device(region->pdev);
		pci_dev_put(region->pdev);
	}
	*region = (struct media_region) { };
}

int media_take_up(const struct media_region *state, const struct media_region *data, unsigned int state_slot,
		  unsigned long long digest, struct fb_medium **medium)
{
	enum fb_error error = fb_open(state->memory, state->bytes, medium);
	const struct fb_params *params;

	if (error) {
		pr_err("state in PCI slot %u refused: %s\n", state_slot, fb_error_text(error));
		return -EINVAL;
	}
	params = fb_medium_params(*medium);
	if (digest && digest != fb_params_digest(params)) {
		pr_err("state in PCI slot %u refused: another medium, with parameters of digest %016llx, not %016llx\n",
		       state_slot, fb_params_digest(params), digest);
		return -EINVAL;
	}
	if (data->bytes < fb_content_bytes(params)) {
		pr_err("data in PCI slot %u has %zu bytes, the medium needs %llu\n", PCI_SLOT(data->pdev->devfn),
		       data->bytes, fb_content_bytes(params));
		return -ENOSPC;
	}
	fb_power_on(*medium);
	return 0;
}
