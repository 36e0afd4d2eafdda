/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations shared by the files of media_nand: the controller that the driver is bound to */
#ifndef MEDIA_NAND_H
#define MEDIA_NAND_H

#include <linux/completion.h>
#include <linux/io.h>
#include <linux/mtd/rawnand.h>
#include <linux/pci.h>

#include "lab_nand.h"

/**
 * struct media_nand - a chip and its controller
 * @pdev: the controller
 * @registers: its registers
 * @buffer: bounce buffer for memory that the controller cannot reach
 * @buffer_dma: DMA address of @buffer
 * @buffer_bytes: size of @buffer
 * @woken: the interrupt came
 * @used_bytes: size of the used part of the chip, from its start; 0: all
 * @dma: transfers sleep; else the CPU is busy with them
 * @polls: the CPU polls R/B#; else it sleeps until an interrupt
 * @whole_pages: no sub-pages, like an ECC engine that corrects whole pages
 * @files: debugfs directory
 * @controller: the framework's controller
 * @chip: the framework's chip
 */
struct media_nand {
	struct pci_dev *pdev;
	void __iomem *registers;
	void *buffer;
	dma_addr_t buffer_dma;
	size_t buffer_bytes;
	struct completion woken;
	u64 used_bytes;
	bool dma;
	bool polls;
	bool whole_pages;
	struct dentry *files;
	struct nand_controller controller;
	struct nand_chip chip;
};

static inline u64 media_nand_read(const struct media_nand *mn, unsigned int at)
{
	return readq(mn->registers + at);
}

static inline void media_nand_write(const struct media_nand *mn, unsigned int at, u64 value)
{
	writeq(value, mn->registers + at);
}

/* controller.c */
int media_nand_add(struct media_nand *mn);
void media_nand_remove(struct media_nand *mn);

#endif
