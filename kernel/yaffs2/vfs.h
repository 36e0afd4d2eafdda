/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The glue between the VFS and the core. One lock per mount is held around every call into the
 * core. It nests inside inode and folio locks. Nothing that may fault or wait for a folio happens
 * under it.
 */
#ifndef Y2_VFS_H
#define Y2_VFS_H

#include <linux/fs.h>
#include <linux/fs_context.h>
#include <linux/fs_parser.h>
#include <linux/ktime.h>
#include <linux/mtd/mtd.h>
#include <linux/mutex.h>
#include <linux/sched/mm.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "core/yaffs2.h"

#define Y2_MAGIC	0x5941ff53

struct y2_vfs_options {
	struct y2_options core;
	bool write_through;		/* no-cache */
	bool no_background;
	bool checkpoint_on_sync;
};

/* The time spent in a mount, for its counters */
struct y2_times {
	u64 locked_at;			/* when the current holder took the lock */
	u64 inside_ns; /* with the lock held: all calls into the core, including its calls of MTD */
	u64 mtd_ns;			/* in MTD calls, including waits for the chip */
	u64 mtd_idle_us; /* the CPU's idle time within mtd_ns; valid with one CPU only */
};

struct y2_sb {
	struct super_block *sb;
	struct y2_fs *fs;
	struct mutex lock;		/* y2_lock() */
	unsigned int nofs;		/* what the current holder must restore */
	struct y2_times times;		/* under the lock */
	struct delayed_work background;
	struct y2_vfs_options options;
	u32 folio_chunks;		/* the most flash chunks of a page-cache page */
	struct dentry *file;		/* its counters in debugfs */
};

struct y2_inode {
	struct inode vfs;
	struct y2_object *obj;
};

static inline struct y2_sb *y2_sb(const struct super_block *sb)
{
	return sb->s_fs_info;
}

static inline struct y2_object *y2_object(const struct inode *inode)
{
	return container_of(inode, struct y2_inode, vfs)->obj;
}

/* Allocations by MTD under the lock must not evict our inodes, because eviction takes the lock */
static inline void y2_lock(struct y2_sb *sbi)
{
	mutex_lock(&sbi->lock);
	sbi->nofs = memalloc_nofs_save();
	sbi->times.locked_at = ktime_get_ns();
}

static inline void y2_unlock(struct y2_sb *sbi)
{
	sbi->times.inside_ns += ktime_get_ns() - sbi->times.locked_at;
	memalloc_nofs_restore(sbi->nofs);
	mutex_unlock(&sbi->lock);
}

/* options.c */
extern const struct fs_parameter_spec y2_parameters[];
int y2_parse_parameter(struct fs_context *fc, struct fs_parameter *param);
/* of a mount */
int y2_change_options(struct y2_vfs_options *options, const struct y2_vfs_options *more);
int y2_show_options(struct seq_file *m, struct dentry *root);

/* mtd.c: the flash of y2_mtd_ops is the struct y2_sb, and its lock is held */
extern const struct y2_flash_ops y2_mtd_ops;
int y2_mtd_geometry(struct mtd_info *mtd, const struct y2_options *options,
		    struct y2_geometry *geometry);

/* inode.c: sb->lock not held */
struct inode *y2_iget(struct super_block *sb, struct y2_object *obj);
/* with sb->lock held; leaves it held */
struct inode *y2_iget_locked(struct super_block *sb, struct y2_object *obj);
int y2_write_inode(struct inode *inode, struct writeback_control *wbc);
void y2_evict_inode(struct inode *inode);
int y2_setattr(y2_idmap *idmap, struct dentry *dentry, struct iattr *attr);
void y2_to_object(struct inode *inode);		/* times and attributes; sb->lock held */

extern const struct inode_operations y2_dir_inode_ops, y2_file_inode_ops, y2_symlink_inode_ops,
	y2_special_inode_ops;
extern const struct file_operations y2_dir_ops, y2_file_ops;
extern const struct address_space_operations y2_file_aops;

/* file.c */
/* Takes the folio's reservation, in chunks; fs->reserved still includes it */
u32 y2_take_reservation(struct y2_sb *sbi, struct folio *folio);
/* Before the end moves: zeroes what a mapping has left behind it in the cache */
void y2_clean_cached_tail(struct inode *inode);
/*
 * After a failed truncate: the end is `size` again, and the cache behind the current end gets the
 * content of the flash
 */
void y2_restore_end(struct inode *inode, loff_t size);

/* writeback.c */
int y2_write_pages(struct address_space *mapping, struct writeback_control *wbc);

int y2_fsync(struct file *file, loff_t start, loff_t end, int datasync);

/* space.c: neither sb->lock nor a folio lock is held */
bool y2_try_again(struct super_block *sb, int err, bool *tried);

/* statistics.c */
void y2_statistics_init(void);
void y2_statistics_exit(void);
void y2_statistics_add(struct y2_sb *sbi);
void y2_statistics_remove(struct y2_sb *sbi);

#endif
