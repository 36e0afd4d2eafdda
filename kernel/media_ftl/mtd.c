// SPDX-License-Identifier: GPL-2.0-only
/* The layer's flash is an MTD device: tags lie in what ECC and bad-block marks leave free of the spare area. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mm.h>
#include <linux/mtd/mtd.h>

#include "media_ftl.h"

static loff_t address(struct mtd_info *mtd, u32 block, u32 page)
{
	return (loff_t)block * mtd->erasesize + (loff_t)page * mtd->writesize;
}

static bool is_bad(void *context, u32 block)
{
	return mtd_block_isbad(context, address(context, block, 0)) > 0;
}

static void mark_bad(void *context, u32 block)
{
	pr_warn("block %u failed and is marked bad\n", block);
	mtd_block_markbad(context, address(context, block, 0));
}

static int erase(void *context, u32 block)
{
	struct mtd_info *mtd = context;
	struct erase_info erase = { .addr = address(mtd, block, 0), .len = mtd->erasesize };

	return mtd_erase(mtd, &erase);
}

static struct mtd_oob_ops whole_page(struct mtd_info *mtd, void *data, u8 *spare)
{
	return (struct mtd_oob_ops) {
		.mode = MTD_OPS_AUTO_OOB,
		.datbuf = data,
		.len = data ? mtd->writesize : 0,
		.oobbuf = spare,
		.ooblen = SFTL_SPARE_BYTES,
	};
}

static int program(void *context, u32 block, u32 page, const void *data, const u8 spare[SFTL_SPARE_BYTES])
{
	struct mtd_oob_ops ops = whole_page(context, (void *)data, (u8 *)spare);

	return mtd_write_oob(context, address(context, block, page), &ops);
}

static int read(void *context, u32 block, u32 page, void *data, u8 spare[SFTL_SPARE_BYTES])
{
	struct mtd_oob_ops ops = whole_page(context, data, spare);

	return mtd_read_oob(context, address(context, block, page), &ops);
}

static void *allocate(size_t bytes)
{
	return kvzalloc(bytes, GFP_KERNEL);
}

static void release(void *memory)
{
	kvfree(memory);
}

int media_ftl_flash(struct mtd_info *mtd, struct sftl_flash *flash)
{
	if (!mtd_type_is_nand(mtd) || mtd->oobavail < SFTL_SPARE_BYTES) {
		pr_err("mtd%d (%s) has no spare area with %u free bytes for the tags\n", mtd->index, mtd->name,
		       SFTL_SPARE_BYTES);
		return -EINVAL;
	}
	*flash = (struct sftl_flash) {
		.context = mtd,
		.blocks = mtd_div_by_eb(mtd->size, mtd),
		.pages_per_block = mtd->erasesize / mtd->writesize,
		.page_bytes = mtd->writesize,
		.is_bad = is_bad,
		.mark_bad = mark_bad,
		.erase = erase,
		.program = program,
		.read = read,
		.allocate = allocate,
		.release = release,
	};
	return 0;
}
