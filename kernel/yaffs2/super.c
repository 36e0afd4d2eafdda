// SPDX-License-Identifier: GPL-2.0-only
/* Mounts an MTD; the VFS operations of a mount as a whole. */
#include <linux/backing-dev.h>
#include <linux/ctype.h>
#include <linux/module.h>
#include <linux/mtd/super.h>
#include <linux/statfs.h>

#include "vfs.h"

#define BACKGROUND_BUSY		(HZ / 20)	/* between two small steps of the collection */
#define BACKGROUND_IDLE (2 * HZ) /* between two checks for work */

static struct kmem_cache *y2_inode_cache;

static u32 y2_now(void)
{
	return (u32)ktime_get_real_seconds();
}

static struct inode *y2_alloc_inode(struct super_block *sb)
{
	struct y2_inode *inode = alloc_inode_sb(sb, y2_inode_cache, GFP_KERNEL);

	if (!inode)
		return NULL;
	inode->obj = NULL;
	return &inode->vfs;
}

static void y2_free_inode(struct inode *inode)
{
	kmem_cache_free(y2_inode_cache, container_of(inode, struct y2_inode, vfs));
}

static int y2_sync_fs(struct super_block *sb, int wait)
{
	struct y2_sb *sbi = y2_sb(sb);
	int err;

	if (!wait || sb_rdonly(sb))
		return 0;
	y2_lock(sbi);
	err = y2_sync(sbi->fs, sbi->options.checkpoint_on_sync);
	y2_unlock(sbi);
	return err;
}

static int y2_statfs(struct dentry *dentry, struct kstatfs *buf)
{
	struct y2_sb *sbi = y2_sb(dentry->d_sb);
	struct y2_fs *fs = sbi->fs;

	y2_lock(sbi);
	buf->f_type = Y2_MAGIC;
	buf->f_bsize = fs->chunk_bytes;
	buf->f_blocks = (u64)fs->good_blocks * fs->data_chunks;
	buf->f_bfree = buf->f_bavail = y2_chunks_free(fs);
	buf->f_files = Y2_ID_NEW_MAX - Y2_ID_FIRST_FREE;
	buf->f_ffree = buf->f_files - min_t(u64, buf->f_files, fs->objects);
	buf->f_namelen = Y2_NAME_MAX;
	buf->f_fsid = u64_to_fsid(huge_encode_dev(dentry->d_sb->s_dev));
	y2_unlock(sbi);
	return 0;
}

/* Collects while nobody writes, and writes outdated headers to the flash */
static void y2_background(struct work_struct *work)
{
	struct y2_sb *sbi = container_of(to_delayed_work(work), struct y2_sb, background);
	int more;

	y2_lock(sbi);
	more = y2_gc_background(sbi->fs);
	if (more <= 0 && !sbi->fs->options.read_only)
		y2_sync(sbi->fs, false);
	y2_unlock(sbi);
	if (!sbi->options.no_background)
		queue_delayed_work(system_long_wq, &sbi->background,
				   more > 0 ? BACKGROUND_BUSY : BACKGROUND_IDLE);
}

static void y2_put_super(struct super_block *sb)
{
	struct y2_sb *sbi = y2_sb(sb);
	int err;

	y2_statistics_remove(sbi);
	cancel_delayed_work_sync(&sbi->background);
	err = y2_unmount(sbi->fs);
	if (err)
		pr_err("yaffs2: mtd%d: the last changes could not be written: %d\n",
		       sb->s_mtd->index, err);
	mtd_sync(sb->s_mtd);
	kfree(sbi);
	sb->s_fs_info = NULL;
}

static const struct super_operations y2_super_ops = {
	.alloc_inode = y2_alloc_inode,
	.free_inode = y2_free_inode,
	.write_inode = y2_write_inode,
	.evict_inode = y2_evict_inode,
	.put_super = y2_put_super,
	.sync_fs = y2_sync_fs,
	.statfs = y2_statfs,
	.show_options = y2_show_options,
};

/* The MTD layer's own has no write-back: cached data would never reach the flash */
static int y2_own_bdi(struct super_block *sb)
{
	bdi_put(sb->s_bdi);
	sb->s_bdi = &noop_backing_dev_info;
	return super_setup_bdi_name(sb, "yaffs2-mtd%d", sb->s_mtd->index);
}

static int y2_mount_core(struct y2_sb *sbi)
{
	struct y2_geometry geometry;
	int err = y2_mtd_geometry(sbi->sb->s_mtd, &sbi->options.core, &geometry);

	if (err)
		return err;
	y2_lock(sbi);
	err = y2_mount(&sbi->fs, &geometry, &y2_mtd_ops, sbi, &sbi->options.core, y2_now);
	y2_unlock(sbi);
	return err;
}

static void y2_set_limits(struct super_block *sb, struct y2_sb *sbi)
{
	sb->s_op = &y2_super_ops;
	sb->s_magic = Y2_MAGIC;
	sb->s_blocksize = PAGE_SIZE;
	sb->s_blocksize_bits = PAGE_SHIFT;
	sb->s_maxbytes = min_t(u64, MAX_LFS_FILESIZE, y2_file_max(sbi->fs));
	sb->s_time_gran = NSEC_PER_SEC;
	sb->s_time_min = 0;
	sb->s_time_max = U32_MAX;
	sbi->folio_chunks = DIV_ROUND_UP(PAGE_SIZE, sbi->fs->chunk_bytes);
	if (PAGE_SIZE % sbi->fs->chunk_bytes && sbi->fs->chunk_bytes % PAGE_SIZE)
		sbi->folio_chunks++;	/* it may begin and end within chunks */
}

static int y2_fill_super(struct super_block *sb, struct fs_context *fc)
{
	struct y2_sb *sbi = kzalloc(sizeof(*sbi), GFP_KERNEL);
	struct inode *root;
	int err;

	if (!sbi)
		return -ENOMEM;
	sbi->sb = sb;
	sbi->options = *(struct y2_vfs_options *)fc->fs_private;
	sbi->options.core.read_only = fc->sb_flags & SB_RDONLY ||
				      !(sb->s_mtd->flags & MTD_WRITEABLE);
	if (sbi->options.core.read_only)
		sb->s_flags |= SB_RDONLY;
	mutex_init(&sbi->lock);
	INIT_DELAYED_WORK(&sbi->background, y2_background);
	err = y2_own_bdi(sb);
	if (!err)
		err = y2_mount_core(sbi);
	if (err) {
		kfree(sbi);
		return err;
	}
	sb->s_fs_info = sbi;
	y2_set_limits(sb, sbi);
	y2_statistics_add(sbi);
	root = y2_iget(sb, sbi->fs->root);
	sb->s_root = IS_ERR(root) ? NULL : d_make_root(root);
	if (!sb->s_root) {
		/* Without a root, the VFS does not call put_super() */
		y2_put_super(sb);
		return IS_ERR(root) ? PTR_ERR(root) : -ENOMEM;
	}
	if (!sbi->options.no_background)
		queue_delayed_work(system_long_wq, &sbi->background, BACKGROUND_IDLE);
	return 0;
}

/* get_tree_mtd() accepts mtd0, mtd:name and block devices; users also write /dev/mtd0 and mtd:0 */
static int y2_plain_source(struct fs_context *fc)
{
	const char *digits = NULL;
	char *source;

	if (!fc->source)
		return 0;
	if (!strncmp(fc->source, "/dev/mtd", 8))
		digits = fc->source + 8;
	else if (!strncmp(fc->source, "mtd:", 4))
		digits = fc->source + 4;
	if (!digits || !isdigit(*digits) || digits[strspn(digits, "0123456789")])
		return 0;
	source = kasprintf(GFP_KERNEL, "mtd%s", digits);
	if (!source)
		return -ENOMEM;
	kfree(fc->source);
	fc->source = source;
	return 0;
}

static int y2_get_tree(struct fs_context *fc)
{
	int err = y2_plain_source(fc);

	return err ? err : get_tree_mtd(fc, y2_fill_super);
}

static int y2_reconfigure(struct fs_context *fc)
{
	struct super_block *sb = fc->root->d_sb;
	struct y2_sb *sbi = y2_sb(sb);
	bool read_only = fc->sb_flags_mask & SB_RDONLY ? fc->sb_flags & SB_RDONLY : sb_rdonly(sb);
	int err;

	if (!read_only && !(sb->s_mtd->flags & MTD_WRITEABLE))
		return invalf(fc, "yaffs2: mtd%d cannot be written", sb->s_mtd->index);
	sync_filesystem(sb);
	y2_lock(sbi);
	err = y2_change_options(&sbi->options, fc->fs_private);
	if (err)
		errorf(fc,
		       "yaffs2: only no-cache, disable-background and checkpoint-on-sync can be set by a remount");
	else
		err = y2_set_read_only(sbi->fs, read_only);
	y2_unlock(sbi);
	return err;
}

static void y2_free_context(struct fs_context *fc)
{
	kfree(fc->fs_private);
}

static const struct fs_context_operations y2_context_ops = {
	.free = y2_free_context,
	.parse_param = y2_parse_parameter,
	.get_tree = y2_get_tree,
	.reconfigure = y2_reconfigure,
};

static int y2_init_context(struct fs_context *fc)
{
	fc->fs_private = kzalloc(sizeof(struct y2_vfs_options), GFP_KERNEL);
	if (!fc->fs_private)
		return -ENOMEM;
	fc->ops = &y2_context_ops;
	return 0;
}

static struct file_system_type yaffs2_type = {
	.owner = THIS_MODULE,
	.name = "yaffs2",
	.init_fs_context = y2_init_context,
	.parameters = y2_parameters,
	.kill_sb = kill_mtd_super,
};
MODULE_ALIAS_FS("yaffs2");

static void y2_init_once(void *memory)
{
	inode_init_once(&((struct y2_inode *)memory)->vfs);
}

static int __init yaffs2_init(void)
{
	int err;

	y2_inode_cache = kmem_cache_create("yaffs2_inode", sizeof(struct y2_inode), 0,
					   SLAB_RECLAIM_ACCOUNT | SLAB_ACCOUNT, y2_init_once);
	if (!y2_inode_cache)
		return -ENOMEM;
	y2_statistics_init();
	err = register_filesystem(&yaffs2_type);
	if (err) {
		y2_statistics_exit();
		kmem_cache_destroy(y2_inode_cache);
	}
	return err;
}

static void __exit yaffs2_exit(void)
{
	unregister_filesystem(&yaffs2_type);
	y2_statistics_exit();
	rcu_barrier();
	kmem_cache_destroy(y2_inode_cache);
}

module_init(yaffs2_init);
module_exit(yaffs2_exit);
MODULE_DESCRIPTION("YAFFS2, written from its on-flash format");
MODULE_AUTHOR("The flashbed authors");
MODULE_LICENSE("GPL");
