// SPDX-License-Identifier: GPL-2.0-only
/* The file /proc/yaffs, with the counters of each mount: "name value" a line. */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "vfs.h"

static LIST_HEAD(all);
static DEFINE_MUTEX(all_lock);

#define SHOW(field) seq_printf(m, #field " %llu\n", (unsigned long long)stats.field)
#define SHOW_TIME(field) seq_printf(m, #field " %llu\n", (unsigned long long)times.field)

static void show_one(struct seq_file *m, struct y2_sb *sbi)
{
	struct y2_stats stats;
	struct y2_times times;
	struct y2_fs *fs = sbi->fs;

	y2_lock(sbi);
	stats = fs->stats;
	times = sbi->times;
	seq_printf(m, "device %d \"%s\"\n", sbi->sb->s_mtd->index, sbi->sb->s_mtd->name);
	seq_printf(m, "chunk_bytes %u\nchunks_per_block %u\nblocks %u\ngood_blocks %u\nempty_blocks %u\n",
		   fs->chunk_bytes,
		   fs->geometry.chunks_per_block, fs->geometry.blocks, fs->good_blocks, fs->empty_blocks);
	seq_printf(m, "checkpoint_blocks %u\nlive_chunks %u\nfree_chunks %u\npromised_chunks %u\nobjects %u\n",
		   fs->checkpoint_blocks, fs->live_chunks, y2_chunks_free(fs), fs->reserved, fs->objects);
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
}

static int show(struct seq_file *m, void *unused)
{
	struct y2_sb *sbi;

	mutex_lock(&all_lock);
	list_for_each_entry(sbi, &all, in_all)
		show_one(m, sbi);
	mutex_unlock(&all_lock);
	return 0;
}

void y2_statistics_add(struct y2_sb *sbi)
{
	mutex_lock(&all_lock);
	list_add_tail(&sbi->in_all, &all);
	mutex_unlock(&all_lock);
}

void y2_statistics_remove(struct y2_sb *sbi)
{
	mutex_lock(&all_lock);
	list_del_init(&sbi->in_all);
	mutex_unlock(&all_lock);
}

int y2_statistics_init(void)
{
	return proc_create_single("yaffs", 0444, NULL, show) ? 0 : -ENOMEM;
}

void y2_statistics_exit(void)
{
	remove_proc_entry("yaffs", NULL);
}
