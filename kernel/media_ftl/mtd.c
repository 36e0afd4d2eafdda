// SPDX-License-Identifier: GPL-2.0-only
/*
 * An MTD device as the layer's flash: tags use the spare bytes that ECC and bad-block marks leave
 * free.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mm.h>
#include <linux/mtd/mtd.h>

#include "media_ftl.h"

static loff_t media_ftl_address(struct mtd_info *mtd, u32 block, u32 page)
{
	return (loff_t)block * mtd->erasesize + (loff_t)page * mtd->writesize;
}

static bool media_ftl_is_bad(void *context, u32 block)
{
	return mtd_block_isbad(context, media_ftl_address(context, block, 0)) > 0;
}

static void media_ftl_mark_bad(void *context, u32 block)
{
	pr_warn("block %u failed and is marked bad\n", block);
	mtd_block_markbad(context, media_ftl_address(context, block, 0));
}

static int media_ftl_erase(void *context, u32 block)
{
	struct mtd_info *mtd = context;
	struct erase_info erase = {
		.addr = media_ftl_address(mtd, block, 0),
		.len = mtd->erasesize,
	};

	return mtd_erase(mtd, &erase);
}

static struct mtd_oob_ops media_ftl_whole_page(struct mtd_info *mtd, void *data, u8 *spare)
{
	return (struct mtd_oob_ops) {
		.mode = MTD_OPS_AUTO_OOB,
		.datbuf = data,
		.len = data ? mtd->writesize : 0,
		.oobbuf = spare,
		.ooblen = SFTL_SPARE_BYTES,
	};
}

static int media_ftl_program(void *context, u32 block, u32 page, const void *data,
			     const u8 spare[SFTL_SPARE_BYTES])
{
	struct mtd_oob_ops ops = media_ftl_whole_page(context, (void *)data, (u8 *)spare);

	return mtd_write_oob(context, media_ftl_address(context, block, page), &ops);
}

static int media_ftl_read(void *context, u32 block, u32 page, void *data,
			  u8 spare[SFTL_SPARE_BYTES])
{
	struct mtd_oob_ops ops = media_ftl_whole_page(context, data, spare);

	return mtd_read_oob(context, media_ftl_address(context, block, page), &ops);
}

static void *media_ftl_allocate(size_t bytes)
{
	return kvzalloc(bytes, GFP_KERNEL);
}

static void media_ftl_release(void *memory)
{
	kvfree(memory);
}

int media_ftl_flash(struct mtd_info *mtd, struct sftl_flash *flash)
{
	if (!mtd_type_is_nand(mtd) || mtd->oobavail < SFTL_SPARE_BYTES) {
		pr_err("mtd%d (%s) has no spare area with %u free bytes for the tags\n", mtd->index,
		       mtd->name, SFTL_SPARE_BYTES);
		return -EINVAL;
	}
	*flash = (struct sftl_flash) {
		.context = mtd,
		.blocks = mtd_div_by_eb(mtd->size, mtd),
		.pages_per_block = mtd->erasesize / mtd->writesize,
		.page_bytes = mtd->writesize,
		.is_bad = media_ftl_is_bad,
		.mark_bad = media_ftl_mark_bad,
		.erase = media_ftl_erase,
		.program = media_ftl_program,
		.read = media_ftl_read,
		.allocate = media_ftl_allocate,
		.release = media_ftl_release,
	};
	return 0;
}
