// SPDX-License-Identifier: GPL-2.0-only
/*
 * The controller: executes the operations of the NAND framework on the chip's bus, cycle by cycle
 * (emulator/lab-nand.h).
 *
 * Each cycle of a command, an address or a data byte takes its time on the bus, one after another.
 * A cycle begins when the kernel issues it, so the kernel's own CPU time lies between cycles, as on
 * a board.
 *
 * Waiting for R/B# sleeps until an interrupt, which comes exactly when the chip is ready. With poll
 * the CPU is busy until then, but lets other tasks run. A transfer by the CPU keeps it busy until
 * the last byte; with dma it sleeps. In both cases the emulator moves the content, and the busy
 * time stands for the instructions of the copy. The CPU always writes commands and addresses, in no
 * time of its own.
 *
 * Error correction is the framework's software: Hamming if the data sheet asks for one bit, else
 * BCH.
 *
 * Simplifications: times between cycles of different kinds (tWB, tWHR, tADL ...) are zero; timing
 * modes are not set.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/mtd/mtd.h>
#include <linux/mtd/partitions.h>
#include <linux/sched/task_stack.h>

#include "media_nand.h"
#include "spin.h"

/*
 * A buffer of equal bytes has even Hamming parities, so its stored code should be ff. These bytes
 * differ from that in four adjacent bits: one wrong data bit would flip every second code bit, and
 * a wrong code bit is a single one.
 */
#define NO_CODE_WORD	0x0f

static struct media_nand *to_media_nand(struct nand_chip *chip)
{
	return container_of(chip, struct media_nand, chip);
}

static void media_nand_sleep(struct media_nand *mn, enum lab_nand_wake until)
{
	reinit_completion(&mn->woken);
	media_nand_write(mn, LAB_NAND_WAKE, until);
	wait_for_completion(&mn->woken);
}

#define POLL_NS	2000	/* between two polls of R/B#; each is a chance for other tasks */

static void media_nand_wait_for_transfer(struct media_nand *mn)
{
	u64 left = media_nand_read(mn, LAB_NAND_TRANSFER_NS);

	if (!left)
		return;
	if (mn->dma)
		media_nand_sleep(mn, LAB_NAND_TRANSFERRED);
	else
		media_spin_until(ktime_add_ns(ktime_get(), left));
}

/*
 * Polls before the chip is ready would find it busy. The kernel's clock may be some ns behind the
 * chip's.
 */
static void media_nand_poll(struct media_nand *mn, u64 left)
{
	for (; left; left = media_nand_read(mn, LAB_NAND_READY_NS)) {
		ktime_t ready = ktime_add_ns(ktime_get(), left), next;

		do {
			next = ktime_add_ns(ktime_get(), POLL_NS);
			media_spin_until(ktime_before(next, ready) ? next : ready);
			cond_resched();
		} while (ktime_before(next, ready));
	}
}

static int media_nand_wait_ready(struct media_nand *mn, unsigned int timeout_ms)
{
	u64 left = media_nand_read(mn, LAB_NAND_READY_NS);

	if (left > (u64)timeout_ms * NSEC_PER_MSEC) {
		msleep(timeout_ms);
		return -ETIMEDOUT;
	}
	if (mn->polls)
		media_nand_poll(mn, left);
	else if (left)
		media_nand_sleep(mn, LAB_NAND_READY);
	return 0;
}

/* The stack, and memory that is not directly mapped, go through the driver's buffer */
static bool media_nand_reaches(const void *at)
{
	return virt_addr_valid(at) && !object_is_on_stack(at);
}

static int media_nand_transfer(struct media_nand *mn, void *at, unsigned int bytes,
			       enum dma_data_direction direction)
{
	bool reads = direction == DMA_FROM_DEVICE, reached = media_nand_reaches(at);
	dma_addr_t address = mn->buffer_dma;

	if (reached) {
		address = dma_map_single(&mn->pdev->dev, at, bytes, direction);
		if (dma_mapping_error(&mn->pdev->dev, address))
			return -ENOMEM;
	} else if (bytes > mn->buffer_bytes) {
		return -EINVAL;
	} else if (!reads) {
		memcpy(mn->buffer, at, bytes);
	}
	media_nand_write(mn, LAB_NAND_MEMORY, address);
	media_nand_write(mn, reads ? LAB_NAND_READ : LAB_NAND_WRITE, bytes);
	media_nand_wait_for_transfer(mn);
	if (reached)
		dma_unmap_single(&mn->pdev->dev, address, bytes, direction);
	else if (reads)
		memcpy(at, mn->buffer, bytes);
	return 0;
}

/* As many at a time as a register takes */
static void media_nand_put_addresses(struct media_nand *mn, const u8 *at, unsigned int count)
{
	unsigned int now, i;

	for (; count; count -= now, at += now) {
		u64 cycles;

		now = min_t(unsigned int, count, LAB_NAND_ADDRESSES_MAX);
		cycles = (u64)now << LAB_NAND_ADDRESSES_SHIFT;
		for (i = 0; i < now; i++)
			cycles |= (u64)at[i] << (8 * i);
		media_nand_write(mn, LAB_NAND_ADDRESS, cycles);
	}
}

static int media_nand_execute(struct media_nand *mn, const struct nand_op_instr *instr)
{
	switch (instr->type) {
	case NAND_OP_CMD_INSTR:
		media_nand_write(mn, LAB_NAND_COMMAND, instr->ctx.cmd.opcode);
		return 0;
	case NAND_OP_ADDR_INSTR:
		media_nand_put_addresses(mn, instr->ctx.addr.addrs, instr->ctx.addr.naddrs);
		return 0;
	case NAND_OP_DATA_IN_INSTR:
		return media_nand_transfer(mn, instr->ctx.data.buf.in, instr->ctx.data.len,
					   DMA_FROM_DEVICE);
	case NAND_OP_DATA_OUT_INSTR:
		return media_nand_transfer(mn, (void *)instr->ctx.data.buf.out,
					   instr->ctx.data.len, DMA_TO_DEVICE);
	case NAND_OP_WAITRDY_INSTR:
		return media_nand_wait_ready(mn, instr->ctx.waitrdy.timeout_ms);
	}
	return -EINVAL;
}

static bool media_nand_asks_status(const struct nand_operation *op)
{
	return op->instrs[0].type == NAND_OP_CMD_INSTR &&
	       op->instrs[0].ctx.cmd.opcode == NAND_CMD_STATUS;
}

/*
 * On a power cut a real machine stops, but this one goes on. Programs and erases then pretend to
 * succeed and change nothing: a file system that saw failures would begin to move data to other
 * blocks, which is not part of a cut. Reads fail by their result. The framework's software ECC
 * ignores the result, so the buffers are also filled with bytes that no code accepts. This applies
 * to data and spare area: the framework does not read the spare area after the data failed, and
 * uses the codes of the page read before; if that page was erased, any equal bytes would pass.
 * (UBIFS searched such pages for a node forever.)
 */
static int media_nand_execute_without_power(struct nand_chip *chip,
					    const struct nand_operation *op)
{
	unsigned int i;

	for (i = 0; i < op->ninstrs; i++) {
		const struct nand_op_instr *instr = &op->instrs[i];

		if (instr->type != NAND_OP_DATA_IN_INSTR)
			continue;
		if (!media_nand_asks_status(op)) {
			memset(chip->oob_poi, NO_CODE_WORD, nand_to_mtd(chip)->oobsize);
			memset(instr->ctx.data.buf.in, NO_CODE_WORD, instr->ctx.data.len);
			return -EIO;
		}
		memset(instr->ctx.data.buf.in, NAND_STATUS_READY | NAND_STATUS_WP,
		       instr->ctx.data.len);
	}
	return 0;
}

static int media_nand_exec_op(struct nand_chip *chip, const struct nand_operation *op,
			      bool check_only)
{
	struct media_nand *mn = to_media_nand(chip);
	unsigned int i;
	int err = 0;

	if (check_only)
		return 0;
	if (media_nand_read(mn, LAB_NAND_POWER) == LAB_NAND_OFF) {
		dev_info_once(&mn->pdev->dev, "the power went\n");
		return media_nand_execute_without_power(chip, op);
	}
	for (i = 0; i < op->ninstrs && !err; i++)
		err = media_nand_execute(mn, &op->instrs[i]);
	return err;
}

/*
 * Sets up the ECC that the data sheet requires; the framework's Hamming codes correct one bit in
 * 256 bytes
 */
static int media_nand_attach_chip(struct nand_chip *chip)
{
	const struct media_nand *mn = to_media_nand(chip);
	u64 bits = media_nand_read(mn, LAB_NAND_ECC_BITS);

	chip->ecc.engine_type = NAND_ECC_ENGINE_TYPE_SOFT;
	if (bits <= 1) {
		chip->ecc.algo = NAND_ECC_ALGO_HAMMING;
		return 0;
	}
	chip->ecc.algo = NAND_ECC_ALGO_BCH;
	chip->ecc.size = media_nand_read(mn, LAB_NAND_ECC_CODEWORD_BYTES);
	chip->ecc.strength = bits;
	return 0;
}

static const struct nand_controller_ops media_nand_controller_ops = {
	.exec_op = media_nand_exec_op,
	.attach_chip = media_nand_attach_chip,
};

/* Checks that the geometry that the framework found by the chip's ID is the medium's */
static int media_nand_check_geometry(struct media_nand *mn)
{
	u64 page_bytes = media_nand_read(mn, LAB_NAND_PAGE_BYTES);
	struct mtd_info *mtd = nand_to_mtd(&mn->chip);

	if (mtd->writesize == page_bytes &&
	    mtd->oobsize == media_nand_read(mn, LAB_NAND_SPARE_BYTES) &&
	    mtd->erasesize == page_bytes * media_nand_read(mn, LAB_NAND_PAGES_PER_BLOCK) &&
	    mtd->size == media_nand_read(mn, LAB_NAND_CAPACITY_BYTES))
		return 0;
	dev_err(&mn->pdev->dev,
		"by its identity the chip has %llu bytes, pages of %u + %u and blocks of %u\n",
	       mtd->size, mtd->writesize, mtd->oobsize, mtd->erasesize);
	return -EINVAL;
}

/*
 * Registers the whole chip, or a partition at its start. In either case there is one device,
 * /dev/mtd0.
 */
static int media_nand_register_mtd(struct media_nand *mn)
{
	struct mtd_info *mtd = nand_to_mtd(&mn->chip);
	const struct mtd_partition used = { .name = "used", .size = mn->used_bytes };

	if (used.size > mtd->size || mtd_mod_by_eb(used.size, mtd)) {
		dev_err(&mn->pdev->dev,
			"used_bytes=%llu: must be whole blocks of %u and at most %llu\n",
			used.size, mtd->erasesize, mtd->size);
		return -EINVAL;
	}
	return mtd_device_register(mtd, &used, used.size ? 1 : 0);
}

/**
 * media_nand_add() - register the chip as an MTD device
 * @mn: the controller, set up
 *
 * Return: 0, or an error, after which there is no device
 */
int media_nand_add(struct media_nand *mn)
{
	struct mtd_info *mtd = nand_to_mtd(&mn->chip);
	int err;

	nand_controller_init(&mn->controller);
	mn->controller.ops = &media_nand_controller_ops;
	mn->chip.controller = &mn->controller;
	/* The framework programs a large page in up to four parts, a small one in two */
	if (media_nand_read(mn, LAB_NAND_PARTIAL_PROGRAMS) < 4 || mn->whole_pages)
		mn->chip.options |= NAND_NO_SUBPAGE_WRITE;
	if (media_nand_read(mn, LAB_NAND_BUS_BITS) == 16)
		mn->chip.options |= NAND_BUSWIDTH_16;
	mtd->dev.parent = &mn->pdev->dev;
	mtd->name = "flashbed";
	mtd->owner = THIS_MODULE;
	err = nand_scan(&mn->chip, 1);
	if (err)
		return err;
	/* The framework enables sub-pages for software error correction on large pages */
	if (mn->whole_pages)
		mn->chip.options &= ~NAND_SUBPAGE_READ;
	err = media_nand_check_geometry(mn);
	if (!err)
		err = media_nand_register_mtd(mn);
	if (err)
		nand_cleanup(&mn->chip);
	return err;
}

/**
 * media_nand_remove() - unregister the MTD device
 * @mn: the controller
 */
void media_nand_remove(struct media_nand *mn)
{
	WARN_ON(mtd_device_unregister(nand_to_mtd(&mn->chip)));
	nand_cleanup(&mn->chip);
}
