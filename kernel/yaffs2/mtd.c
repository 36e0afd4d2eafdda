// SPDX-License-Identifier: GPL-2.0-only
/*
 * The core's flash is an MTD: its ECC protects data, and tags use the spare bytes that it leaves
 * free. The duration of MTD calls is summed up, because they take most of a mount's time: this
 * separates the cost of chip and MTD layer from that of the file system.
 */
#include <linux/mtd/mtd.h>
#include <linux/tick.h>

#include "vfs.h"

#define MARK_OF_512	5	/* pages of 512 bytes: the spare byte that marks a bad block */

static loff_t y2_page_offset_of(const struct mtd_info *mtd, u32 block, u32 page)
{
	return (loff_t)block * mtd->erasesize + (loff_t)page * mtd->writesize;
}

static u32 y2_tag_bytes(const struct mtd_info *mtd)
{
	return min_t(u32, mtd->oobavail, Y2_TAGS_TOTAL_BYTES);
}

static struct mtd_oob_ops y2_transfer(const struct mtd_info *mtd, const u8 *data, const u8 *oob)
{
	struct mtd_oob_ops ops = { .mode = MTD_OPS_AUTO_OOB };

	if (data) {
		ops.datbuf = (u8 *)data;
		ops.len = mtd->writesize;
	}
	if (oob) {
		ops.oobbuf = (u8 *)oob;
		ops.ooblen = y2_tag_bytes(mtd);
	}
	return ops;
}

struct timestamp {
	u64 ns, idle_us;
};

static struct timestamp y2_now(void)
{
	int cpu = raw_smp_processor_id();

	return (struct timestamp){ ktime_get_ns(), get_cpu_idle_time_us(cpu, NULL) +
							   get_cpu_iowait_time_us(cpu, NULL) };
}

static void y2_account(struct y2_sb *sbi, struct timestamp begun)
{
	struct timestamp ended = y2_now();

	sbi->times.mtd_ns += ended.ns - begun.ns;
	sbi->times.mtd_idle_us += ended.idle_us - begun.idle_us;
}

static struct mtd_info *y2_mtd_of(void *flash)
{
	struct y2_sb *sbi = flash;

	return sbi->sb->s_mtd;
}

static int y2_mtd_page_read(void *flash, u32 block, u32 page, u8 *data, u8 *oob)
{
	struct mtd_info *mtd = y2_mtd_of(flash);
	struct mtd_oob_ops ops = y2_transfer(mtd, data, oob);
	struct timestamp begun = y2_now();
	int err = mtd_read_oob(mtd, y2_page_offset_of(mtd, block, page), &ops);

	y2_account(flash, begun);
	if (mtd_is_bitflip(err))
		return Y2_READ_FIXED;
	if (mtd_is_eccerr(err))
		return Y2_READ_UNFIXED;
	return err;
}

static int y2_mtd_page_write(void *flash, u32 block, u32 page, const u8 *data, const u8 *oob)
{
	struct mtd_info *mtd = y2_mtd_of(flash);
	struct mtd_oob_ops ops = y2_transfer(mtd, data, oob);
	struct timestamp begun = y2_now();
	int err = mtd_write_oob(mtd, y2_page_offset_of(mtd, block, page), &ops);

	y2_account(flash, begun);
	return err;
}

static int y2_mtd_block_erase(void *flash, u32 block)
{
	struct mtd_info *mtd = y2_mtd_of(flash);
	struct erase_info erase = {
		.addr = y2_page_offset_of(mtd, block, 0),
		.len = mtd->erasesize,
	};
	struct timestamp begun = y2_now();
	int err = mtd_erase(mtd, &erase);

	y2_account(flash, begun);
	return err;
}

/*
 * True if the chip has the mark in the block's first page, where a scan looks for it.
 * mtd_block_isbad() is no substitute: the table in memory keeps the block bad even if the mark is
 * not written.
 */
static bool y2_mtd_has_mark(struct mtd_info *mtd, u32 block)
{
	u8 spare[MARK_OF_512 + 1];
	struct mtd_oob_ops ops = {
		.mode = MTD_OPS_RAW,
		.oobbuf = spare,
		.ooblen = sizeof(spare),
	};

	return !mtd_read_oob(mtd, y2_page_offset_of(mtd, block, 0), &ops) &&
	       spare[mtd->writesize == Y2_YAFFS1_PAGE_BYTES ? MARK_OF_512 : 0] != 0xff;
}

/* In a failed block the program of the mark may fail too, and still leave the mark */
static int y2_mtd_mark_bad(void *flash, u32 block)
{
	struct mtd_info *mtd = y2_mtd_of(flash);
	int err = mtd_block_markbad(mtd, y2_page_offset_of(mtd, block, 0));

	return err && y2_mtd_has_mark(mtd, block) ? 0 : err;
}

static bool y2_mtd_is_bad(void *flash, u32 block)
{
	return mtd_block_isbad(y2_mtd_of(flash), y2_page_offset_of(y2_mtd_of(flash), block, 0)) > 0;
}

const struct y2_flash_ops y2_mtd_ops = {
	.read = y2_mtd_page_read,
	.write = y2_mtd_page_write,
	.erase = y2_mtd_block_erase,
	.mark_bad = y2_mtd_mark_bad,
	.is_bad = y2_mtd_is_bad,
};

int y2_mtd_geometry(struct mtd_info *mtd, const struct y2_options *options,
		    struct y2_geometry *geometry)
{
	bool yaffs1 = mtd->writesize == Y2_YAFFS1_PAGE_BYTES;
	u32 tags = yaffs1		? Y2_TAGS_YAFFS1_BYTES :
		   options->no_tags_ecc ? Y2_TAGS_BYTES :
					  Y2_TAGS_TOTAL_BYTES;

	if (!mtd_type_is_nand(mtd) || (!yaffs1 && mtd->writesize < 1024)) {
		pr_err("yaffs2: mtd%d is no NAND flash with pages of 512 bytes, or 1024 or more\n",
		       mtd->index);
		return -EINVAL;
	}
	if (yaffs1 && options->inband_tags) {
		pr_err("yaffs2: mtd%d has pages of 512 bytes: a header leaves no room for inband-tags\n",
		       mtd->index);
		return -EINVAL;
	}
	if (!options->inband_tags && mtd->oobavail < tags) {
		pr_err("yaffs2: mtd%d has %u free bytes in its spare area, tags need %u: mount with inband-tags\n",
		       mtd->index, mtd->oobavail, tags);
		return -EINVAL;
	}
	*geometry = (struct y2_geometry){
		.page_bytes = mtd->writesize,
		.oob_bytes = y2_tag_bytes(mtd),
		.chunks_per_block = mtd->erasesize / mtd->writesize,
		.blocks = mtd_div_by_eb(mtd->size, mtd),
	};
	return 0;
}
