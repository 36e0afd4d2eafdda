// SPDX-License-Identifier: GPL-2.0-only
/*
 * The controller: translates operations of the NAND framework into cycles on the chip's bus
 * (fb_chip_bus.h).
 *
 * Each cycle of a command, an address or a byte of data takes its time on the bus, one after
 * another; they begin when the kernel comes to them, so its own CPU time lies between them as on a
 * board. What the driver itself computes lies within the time of the cycles or of the chip, not on
 * top.
 *
 * Waiting for R/B# sleeps until exactly the moment at which the chip is ready, as behind an
 * interrupt; with poll the CPU is busy until then, but for what else wants to run. A transfer by
 * the CPU keeps it busy until its last byte is over; with dma it sleeps. Commands and addresses are
 * always written by the CPU, in no time of its own.
 *
 * The error correction is the framework's software: Hamming where the data sheet asks for one bit,
 * else BCH.
 *
 * Simplifications: between cycles of different kinds (tWB, tWHR, tADL ...) no time passes; timing
 * modes are not set.
 */
#include <linux/debugfs.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/mtd/mtd.h>
#include <linux/mtd/partitions.h>
#include <linux/slab.h>

#include "media_nand.h"
#include "spin.h"

/*
 * Of equal bytes, all parities of a Hamming code are even, so its stored bytes should be ff. These
 * differ from that in four bits next to each other: one wrong bit of the data would make every
 * second bit differ, one of the code a single bit.
 */
#define NO_CODE_WORD	0x0f

static struct media_nand *to_media_nand(struct nand_chip *chip)
{
	return container_of(chip, struct media_nand, chip);
}

/*
 * Until exactly that moment, as behind an interrupt: what waits for an event with a limit
 * (wait_event_hrtimeout()) adds the task's slack to the limit.
 */
static void media_nand_sleep_until(ktime_t time)
{
	while (ktime_before(ktime_get(), time)) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule_hrtimeout(&time, HRTIMER_MODE_ABS);
	}
}

/* Cycles on the bus begin now, or behind those before them; returns when they are over */
static ktime_t media_nand_take_bus(struct media_nand *mn, unsigned int cycles)
{
	ktime_t now = ktime_get();

	if (ktime_before(mn->bus_free, now))
		mn->bus_free = now;
	mn->bus_free = ktime_add_ns(mn->bus_free, DIV_ROUND_UP_ULL(cycles * mn->cycle_ps, 1000));
	return mn->bus_free;
}

static void media_nand_finish_transfer(struct media_nand *mn, ktime_t end)
{
	if (mn->dma)
		media_nand_sleep_until(end);
	else
		media_spin_until(end);
}

static void media_nand_log_cycle(struct media_nand *mn, enum cycle_kind kind, u32 value,
				 ktime_t now)
{
	const struct cycle_entry entry = {
		.now_ns = ktime_to_ns(now),
		.ready_ns = mn->bus.ready_ns,
		.kind = kind,
		.value = value,
	};

	if (mn->cycles.at)
		cycle_log_add(&mn->cycles, entry);
}

static void media_nand_put_command(struct media_nand *mn, u8 command)
{
	ktime_t now = media_nand_take_bus(mn, 1);

	media_nand_command(mn, command, ktime_to_ns(now));
	media_nand_log_cycle(mn, CYCLE_COMMAND, command, now);
}

static void media_nand_put_address(struct media_nand *mn, const u8 *addresses, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		ktime_t now = media_nand_take_bus(mn, 1);

		fb_bus_address(&mn->bus, addresses[i], ktime_to_ns(now));
		media_nand_log_cycle(mn, CYCLE_ADDRESS, addresses[i], now);
	}
}

#define POLL_NS	2000	/* between two looks at R/B#; each is a chance for others to run */

static void media_nand_poll_until(ktime_t time)
{
	ktime_t now;

	while (ktime_before(now = ktime_get(), time)) {
		media_spin_until(min(time, ktime_add_ns(now, POLL_NS)));
		cond_resched();
	}
}

static void media_nand_wait_until(struct media_nand *mn, ktime_t time)
{
	if (mn->polls)
		media_nand_poll_until(time);
	else
		media_nand_sleep_until(time);
}

static int media_nand_wait_ready(struct media_nand *mn, unsigned int timeout_ms)
{
	ktime_t limit = ktime_add_ms(ktime_get(), timeout_ms);
	ktime_t ready = ns_to_ktime(mn->bus.ready_ns);

	if (ktime_before(limit, ready)) {
		media_nand_wait_until(mn, limit);
		return -ETIMEDOUT;
	}
	media_nand_wait_until(mn, ready);
	return 0;
}

static int media_nand_execute(struct media_nand *mn, const struct nand_op_instr *instr)
{
	ktime_t end;

	switch (instr->type) {
	case NAND_OP_CMD_INSTR:
		media_nand_put_command(mn, instr->ctx.cmd.opcode);
		return 0;
	case NAND_OP_ADDR_INSTR:
		media_nand_put_address(mn, instr->ctx.addr.addrs, instr->ctx.addr.naddrs);
		return 0;
	case NAND_OP_DATA_IN_INSTR:
		end = media_nand_take_bus(mn, instr->ctx.data.len);
		fb_bus_read(&mn->bus, instr->ctx.data.buf.in, instr->ctx.data.len,
			    ktime_to_ns(end));
		media_nand_log_cycle(mn, CYCLE_READ, instr->ctx.data.len, end);
		media_nand_finish_transfer(mn, end);
		return 0;
	case NAND_OP_DATA_OUT_INSTR:
		end = media_nand_take_bus(mn, instr->ctx.data.len);
		fb_bus_write(&mn->bus, instr->ctx.data.buf.out, instr->ctx.data.len);
		media_nand_log_cycle(mn, CYCLE_WRITE, instr->ctx.data.len, end);
		media_nand_finish_transfer(mn, end);
		return 0;
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

/* What was asked of a program that is to fail */
static void media_nand_tell_failure(struct media_nand *mn, const struct nand_operation *op)
{
	unsigned int i;

	for (i = 0; i < op->ninstrs; i++)
		if (op->instrs[i].type == NAND_OP_DATA_IN_INSTR)
			*(u8 *)op->instrs[i].ctx.data.buf.in |= NAND_STATUS_FAIL;
	mn->program_failed = false;
}

/*
 * A machine whose power is cut stops, this one goes on. Programs and erases seem to succeed then
 * and change nothing: a file system that was told of failures would begin to move data to other
 * blocks, which is no part of a cut. Reads fail: by their result, and since the framework's
 * software ECC does not look at that, by what lies in the buffers, which no code takes for its own.
 * Both of them: the framework does not ask for the spare area once the data failed, and takes the
 * codes of the page that it read before; if that was erased, any equal bytes would do. (UBIFS went
 * round in such for ever, in need of a node among them.)
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
	if (mn->off)
		return media_nand_execute_without_power(chip, op);
	for (i = 0; i < op->ninstrs && !err; i++)
		err = media_nand_execute(mn, &op->instrs[i]);
	if (!err && mn->program_failed && media_nand_asks_status(op))
		media_nand_tell_failure(mn, op);
	return err;
}

/* What the data sheet asks for; Hamming codes of the framework correct one bit in 256 bytes */
static int media_nand_attach_chip(struct nand_chip *chip)
{
	const struct fb_params *params = fb_medium_params(to_media_nand(chip)->medium);

	chip->ecc.engine_type = NAND_ECC_ENGINE_TYPE_SOFT;
	if (params->ecc_bits <= 1) {
		chip->ecc.algo = NAND_ECC_ALGO_HAMMING;
		return 0;
	}
	chip->ecc.algo = NAND_ECC_ALGO_BCH;
	chip->ecc.size = params->ecc_codeword_bytes;
	chip->ecc.strength = params->ecc_bits;
	return 0;
}

static const struct nand_controller_ops media_nand_controller_ops = {
	.exec_op = media_nand_exec_op,
	.attach_chip = media_nand_attach_chip,
};

/* What the framework found by the chip's identity must be what the medium is */
static int media_nand_check_geometry(struct media_nand *mn)
{
	const struct fb_params *params = fb_medium_params(mn->medium);
	struct mtd_info *mtd = nand_to_mtd(&mn->chip);

	if (mtd->writesize == params->page_bytes && mtd->oobsize == params->spare_bytes &&
	    mtd->erasesize == params->page_bytes * params->pages_per_block &&
	    mtd->size == params->capacity_bytes)
		return 0;
	dev_err(&mn->pdev->dev,
		"by its identity the chip has %llu bytes, pages of %u + %u and blocks of %u\n",
	       mtd->size, mtd->writesize, mtd->oobsize, mtd->erasesize);
	return -EINVAL;
}

/*
 * The whole chip, or a partition at its start: in either case the system sees one device,
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

static int media_nand_add_mtd(struct media_nand *mn)
{
	struct mtd_info *mtd = nand_to_mtd(&mn->chip);
	int err;

	nand_controller_init(&mn->controller);
	mn->controller.ops = &media_nand_controller_ops;
	mn->chip.controller = &mn->controller;
	/* The framework would program a large page in up to four parts, a small one in two */
	if (fb_medium_params(mn->medium)->partial_programs < 4 || mn->whole_pages)
		mn->chip.options |= NAND_NO_SUBPAGE_WRITE;
	if (fb_medium_params(mn->medium)->bus_bits == 16)
		mn->chip.options |= NAND_BUSWIDTH_16;
	mtd->dev.parent = &mn->pdev->dev;
	mtd->name = "flashbed";
	mtd->owner = THIS_MODULE;
	err = nand_scan(&mn->chip, 1);
	if (err)
		return err;
	/* The framework turns it on for error correction in software on large pages */
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
 * media_nand_add() - makes the chip an MTD device, and its files
 * @mn: the chip, taken up
 *
 * Return: 0, or an error after which there is neither
 */
int media_nand_add(struct media_nand *mn)
{
	int err = media_nand_add_mtd(mn);

	if (!err)
		media_nand_add_files(mn);
	return err;
}

/**
 * media_nand_remove() - takes both away
 * @mn: the chip
 */
void media_nand_remove(struct media_nand *mn)
{
	debugfs_remove_recursive(mn->files);
	WARN_ON(mtd_device_unregister(nand_to_mtd(&mn->chip)));
	nand_cleanup(&mn->chip);
}
