/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What drivers of a medium share, each with a copy of its own: the medium's files, which QEMU maps into the guest with
 * ivshmem-plain, found by their PCI slots on bus 0; its state taken up; its counters as files.
 */
#ifndef MEDIA_COMMON_H
#define MEDIA_COMMON_H

#include <linux/device.h>
#include <linux/pci.h>

#include "fb_medium.h"

/* region.c: a file of the host, mapped into the guest */
struct media_region {
	struct pci_dev *pdev;
	void *memory;
	size_t bytes;
};

/* `what` is a word for messages. A region that was not mapped may be unmapped. */
int media_region_map(struct media_region *region, unsigned int slot, const char *what);
void media_region_unmap(struct media_region *region);

/*
 * The medium whose state is in the region, with its power on. It must have parameters of this digest (0: any), and
 * content of the size that it needs.
 */
int media_take_up(const struct media_region *state, const struct media_region *data, unsigned int state_slot,
		  unsigned long long digest, struct fb_medium **medium);

/*
 * counters.c: the directory medium/ of a device, a file for each counter of its medium's kind, and wear/ of a medium
 * that wears (struct fb_wear), beside the file erases with the erase count of each block. Each driver says whose it is.
 */
extern const struct attribute_group media_counter_group, media_wear_group, media_erases_group;
struct fb_medium *media_of(struct device *dev);

#endif
