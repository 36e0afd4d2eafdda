// SPDX-License-Identifier: GPL-2.0-only
/* The counters of each mount in debugfs, yaffs2/mtdN: "name value" a line. */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "vfs.h"

static struct dentry *y2_files;

#define SHOW(field) seq_printf(m, #field " %llu\n", (unsigned long long)stats.field)
#define SHOW_TIME(field) seq_printf(m, #field " %llu\n", (unsigned long long)times.field)

static int y2_counters_show(struct seq_file *m, void *unused)
{
	struct y2_sb *sbi = m->private;
	struct y2_stats stats;
	struct y2_times times;
	struct y2_fs *fs = sbi->fs;

	y2_lock(sbi);
	stats = fs->stats;
	times = sbi->times;
	seq_printf(m, "device %d \"%s\"\n", sbi->sb->s_mtd->index, sbi->sb->s_mtd->name);
	seq_printf(m,
		   "chunk_bytes %u\nchunks_per_block %u\nblocks %u\ngood_blocks %u\nempty_blocks %u\n",
		   fs->chunk_bytes, fs->geometry.chunks_per_block, fs->geometry.blocks,
		   fs->good_blocks, fs->empty_blocks);
	seq_printf(m,
		   "checkpoint_blocks %u\nlive_chunks %u\nfree_chunks %u\npromised_chunks %u\nobjects %u\n",
		   fs->checkpoint_blocks, fs->live_chunks, y2_chunks_free(fs), fs->reserved,
		   fs->objects);
	y2_unlock(sbi);
	SHOW(pages_read);
	SHOW(pages_written);
	SHOW(pages_marked);
	SHOW(blocks_erased);
	SHOW(user_chunks);
	SHOW(header_chunks);
	SHOW(gc_copies);
	SHOW(gc_blocks);
	SHOW(passive_gc);
	SHOW(aggressive_gc);
	SHOW(forced_gc);
	SHOW(erase_intents);
	SHOW(summaries_used);
	SHOW(blocks_scanned);
	SHOW(checkpoint_mounts);
	SHOW(checkpoints_written);
	SHOW(bits_fixed);
	SHOW(chunks_lost);
	SHOW(retired_blocks);
	SHOW(write_retries);
	SHOW_TIME(inside_ns);
	SHOW_TIME(mtd_ns);
	SHOW_TIME(mtd_idle_us);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(y2_counters);

void y2_statistics_add(struct y2_sb *sbi)
{
	char name[16];

	snprintf(name, sizeof(name), "mtd%d", sbi->sb->s_mtd->index);
	sbi->file = debugfs_create_file(name, 0444, y2_files, sbi, &y2_counters_fops);
}

void y2_statistics_remove(struct y2_sb *sbi)
{
	debugfs_remove(sbi->file);
}

void y2_statistics_init(void)
{
	y2_files = debugfs_create_dir("yaffs2", NULL);
}

void y2_statistics_exit(void)
{
	debugfs_remove(y2_files);
}
