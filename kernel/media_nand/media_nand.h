/* SPDX-License-Identifier: GPL-2.0-only */
/* What the rooms of media_nand share: the one chip that the module drives */
#ifndef MEDIA_NAND_H
#define MEDIA_NAND_H

#include <linux/mtd/rawnand.h>
#include <linux/platform_device.h>

#include "cycles.h"
#include "fb_chip_bus.h"
#include "media_common.h"

struct media_nand {
	struct fb_medium *medium;
	struct fb_chip_bus bus;
	u64 cycle_ps;			/* of a byte on the bus: the slower one of chip and controller */
	u64 used_bytes;			/* of the chip, from its start; 0: all */
	bool dma;			/* a transfer sleeps; else the CPU is busy with it */
	bool polls;			/* the CPU asks R/B# until it is high; else it sleeps until an interrupt */
	bool whole_pages;		/* no sub-pages, as where an engine in the controller corrects page by page */
	struct cycle_log cycles;
	ktime_t bus_free;		/* when the cycles so far are over */

	u64 cut_in;			/* programs and erases from now until the power goes; 0: it stays */
	u64 cut_seed;
	bool off;			/* the power is gone */

	u32 fail_programs;		/* so many programs from now on report that they failed */
	bool program_failed;		/* the last one does */

	struct platform_device *pdev;
	struct nand_controller controller;
	struct nand_chip chip;
};

/* power.c: puts a command on the bus, and cuts the power, or lets a program fail, if it is time */
void media_nand_command(struct media_nand *mn, u8 command, u64 now_ns);
extern const struct attribute_group power_group;

/* controller.c */
int media_nand_add(struct media_nand *mn);
void media_nand_remove(struct media_nand *mn);

#endif
