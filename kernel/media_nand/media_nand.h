/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of media_nand share: the chip that the driver is bound to */
#ifndef MEDIA_NAND_H
#define MEDIA_NAND_H

#include <linux/fs.h>
#include <linux/mtd/rawnand.h>
#include <linux/pci.h>

#include "cycles.h"
#include "fb_chip_bus.h"
#include "fb_medium.h"

/**
 * struct media_nand - a chip and its controller
 * @pdev: the PCI device that has the chip's state
 * @medium: the chip, in that state
 * @bus: the chip's bus
 * @cycle_ps: of a byte on the bus: the slower one of chip and controller
 * @used_bytes: of the chip, from its start; 0: all
 * @dma: a transfer sleeps; else the CPU is busy with it
 * @polls: the CPU asks R/B# until it is high; else it sleeps until an interrupt
 * @whole_pages: no sub-pages, as where an engine in the controller corrects page by page
 * @cycles: the cycles on the bus, if they are recorded
 * @bus_free: when the cycles so far are over
 * @cut_in: programs and erases from now until the power goes; 0: it stays
 * @cut_seed: decides at which moment of the last one it goes
 * @off: the power is gone
 * @fail_programs: so many programs from now on report that they failed
 * @program_failed: the last one does
 * @files: the directory in debugfs
 * @controller: the framework's
 * @chip: the framework's
 */
struct media_nand {
	struct pci_dev *pdev;
	struct fb_medium *medium;
	struct fb_chip_bus bus;
	u64 cycle_ps;
	u64 used_bytes;
	bool dma;
	bool polls;
	bool whole_pages;
	struct cycle_log cycles;
	ktime_t bus_free;

	u64 cut_in;
	u64 cut_seed;
	bool off;

	u32 fail_programs;
	bool program_failed;

	struct dentry *files;
	struct nand_controller controller;
	struct nand_chip chip;
};

/* controller.c */
int media_nand_add(struct media_nand *mn);
void media_nand_remove(struct media_nand *mn);

/* power.c */
void media_nand_command(struct media_nand *mn, u8 command, u64 now_ns);
extern const struct file_operations media_nand_cut_fops;

/* cycles.c */
extern const struct file_operations media_nand_cycles_fops;

/* files.c */
void media_nand_add_files(struct media_nand *mn);

#endif
