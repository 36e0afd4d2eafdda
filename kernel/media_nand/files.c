// SPDX-License-Identifier: GPL-2.0-only
/*
 * The chip's directory in debugfs, media_nand/:
 *
 *	counters	what the medium has counted, "name:value" a line
 *	wear		how it has worn, the same way; each reading looks at all blocks
 *	erases		the erase count of each block, a little-endian u32 each
 *	cycles		the first cycles on the bus (cycles.h), if they are recorded
 *	cut, fail_programs	see power.c
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "media_nand.h"

static int media_nand_counters_show(struct seq_file *m, void *unused)
{
	const struct media_nand *mn = m->private;
	const struct fb_counters *counters = fb_medium_counters(mn->medium);
	u64 kind = fb_medium_params(mn->medium)->kind;
	unsigned int i;

	for (i = 0; i < FB_COUNTER_COUNT; i++) {
		const struct fb_counter_rule *rule = fb_counter_rule(i);

		if (rule->kinds & BIT(kind))
			seq_printf(m, "%s:%llu\n", rule->name, READ_ONCE(counters->by_index[i]));
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(media_nand_counters);

static int media_nand_wear_show(struct seq_file *m, void *unused)
{
	const struct media_nand *mn = m->private;
	const struct fb_wear wear = fb_medium_wear(mn->medium);

	seq_printf(m, "blocks:%llu\n", wear.blocks);
	seq_printf(m, "erase_count_min:%llu\n", wear.erase_count_min);
	seq_printf(m, "erase_count_max:%llu\n", wear.erase_count_max);
	seq_printf(m, "erase_count_sum:%llu\n", wear.erase_count_sum);
	seq_printf(m, "factory_bad_blocks:%llu\n", wear.factory_bad_blocks);
	seq_printf(m, "grown_bad_blocks:%llu\n", wear.grown_bad_blocks);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(media_nand_wear);

static int media_nand_erases_show(struct seq_file *m, void *unused)
{
	const struct media_nand *mn = m->private;
	u64 block;

	for (block = 0; block < fb_blocks(mn->medium); block++) {
		__le32 erases = cpu_to_le32(fb_block_erases(mn->medium, block));

		seq_write(m, &erases, sizeof(erases));
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(media_nand_erases);

/**
 * media_nand_add_files() - makes the chip's directory in debugfs
 * @mn: the chip
 */
void media_nand_add_files(struct media_nand *mn)
{
	mn->files = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("counters", 0444, mn->files, mn, &media_nand_counters_fops);
	debugfs_create_file("wear", 0444, mn->files, mn, &media_nand_wear_fops);
	debugfs_create_file("erases", 0444, mn->files, mn, &media_nand_erases_fops);
	if (mn->cycles.at)
		debugfs_create_file("cycles", 0444, mn->files, mn, &media_nand_cycles_fops);
	debugfs_create_file("cut", 0600, mn->files, mn, &media_nand_cut_fops);
	debugfs_create_u32("fail_programs", 0600, mn->files, &mn->fail_programs);
}
