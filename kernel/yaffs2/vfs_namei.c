// SPDX-License-Identifier: GPL-2.0-only
/* VFS operations on names. Each is on flash when it returns. */
#include <linux/pagemap.h>

#include "vfs.h"

static struct dentry *y2_vfs_lookup(struct inode *dir, struct dentry *dentry, unsigned int flags)
{
	struct y2_sb *sbi = y2_sb(dir->i_sb);
	struct inode *inode = NULL;
	struct y2_object *obj;
	int err;

	if (dentry->d_name.len > Y2_NAME_MAX)
		return ERR_PTR(-ENAMETOOLONG);
	y2_lock(sbi);
	err = y2_lookup(sbi->fs, y2_object(dir), dentry->d_name.name, dentry->d_name.len, &obj);
	if (!err)
		inode = y2_iget_locked(dir->i_sb, y2_object_resolve(obj));
	y2_unlock(sbi);
	if (err && err != -ENOENT)
		return ERR_PTR(err);
	return d_splice_alias(inode, dentry);
}

static void y2_vfs_changed(struct inode *dir)
{
	inode_set_mtime_to_ts(dir, inode_set_ctime_current(dir));
}

static int y2_vfs_make(y2_idmap *idmap, struct inode *dir, struct dentry *dentry, umode_t mode,
		       dev_t rdev, const char *alias)
{
	struct y2_sb *sbi = y2_sb(dir->i_sb);
	struct y2_new how = { .rdev = new_encode_dev(rdev), .alias = alias };
	struct y2_object *obj;
	struct inode *inode;
	kgid_t gid = mapped_fsgid(idmap, i_user_ns(dir));
	bool tried = false;
	int err;

	if (dir->i_mode & S_ISGID) {
		gid = dir->i_gid;
		if (S_ISDIR(mode))
			mode |= S_ISGID;
	}
	how.mode = mode;
	how.uid = from_kuid(i_user_ns(dir), mapped_fsuid(idmap, i_user_ns(dir)));
	how.gid = from_kgid(i_user_ns(dir), gid);
	do {
		y2_lock(sbi);
		err = y2_create(sbi->fs, y2_object(dir), dentry->d_name.name, dentry->d_name.len,
				&how, &obj);
		inode = err ? NULL : y2_iget_locked(dir->i_sb, obj);
		if (IS_ERR(inode)) {
			err = PTR_ERR(inode);
			y2_unlink(sbi->fs, obj);
			d_drop(dentry);		/* if it is still there, a lookup finds it */
		}
		y2_unlock(sbi);
	} while (y2_try_again(dir->i_sb, err, &tried));
	if (err)
		return err;
	y2_vfs_changed(dir);
	d_instantiate(dentry, inode);
	return 0;
}

static int y2_vfs_create(y2_idmap *idmap, struct inode *dir, struct dentry *dentry, umode_t mode,
			 bool exclusive)
{
	return y2_vfs_make(idmap, dir, dentry, mode | S_IFREG, 0, NULL);
}

static int y2_vfs_make_dir(y2_idmap *idmap, struct inode *dir, struct dentry *dentry, umode_t mode)
{
	return y2_vfs_make(idmap, dir, dentry, mode | S_IFDIR, 0, NULL);
}

static int y2_vfs_make_node(y2_idmap *idmap, struct inode *dir, struct dentry *dentry, umode_t mode,
			    dev_t rdev)
{
	return y2_vfs_make(idmap, dir, dentry, mode, rdev, NULL);
}

static int y2_vfs_make_symlink(y2_idmap *idmap, struct inode *dir, struct dentry *dentry,
			       const char *target)
{
	return y2_vfs_make(idmap, dir, dentry, S_IFLNK | 0777, 0, target);
}

static int y2_vfs_link(struct dentry *old, struct inode *dir, struct dentry *dentry)
{
	struct y2_sb *sbi = y2_sb(dir->i_sb);
	struct inode *inode = d_inode(old);
	bool tried = false;
	int err;

	do {
		y2_lock(sbi);
		err = y2_link(sbi->fs, y2_object(inode), y2_object(dir), dentry->d_name.name,
			      dentry->d_name.len);
		y2_unlock(sbi);
	} while (y2_try_again(dir->i_sb, err, &tried));
	if (err)
		return err;
	y2_vfs_changed(dir);
	inode_set_ctime_current(inode);
	inc_nlink(inode);
	ihold(inode);
	d_instantiate(dentry, inode);
	return 0;
}

/* Updates the link count after one of its names was removed */
static void y2_vfs_count_links(struct inode *inode)
{
	inode_set_ctime_current(inode);
	if (S_ISDIR(inode->i_mode))
		clear_nlink(inode);
	else
		drop_nlink(inode);
}

static int y2_vfs_unlink(struct inode *dir, struct dentry *dentry)
{
	struct y2_sb *sbi = y2_sb(dir->i_sb);
	struct y2_object *entry;
	int err;

	y2_lock(sbi);
	err = y2_lookup(sbi->fs, y2_object(dir), dentry->d_name.name, dentry->d_name.len, &entry);
	if (!err)
		err = y2_unlink(sbi->fs, entry);
	y2_unlock(sbi);
	if (err)
		return err;
	y2_vfs_changed(dir);
	y2_vfs_count_links(d_inode(dentry));
	return 0;
}

static int y2_vfs_rename_one(y2_idmap *idmap, struct inode *dir, struct dentry *dentry,
			     struct inode *new_dir, struct dentry *new_dentry, unsigned int flags)
{
	struct y2_sb *sbi = y2_sb(dir->i_sb);
	struct inode *inode = d_inode(dentry), *replaced = d_inode(new_dentry);
	struct y2_object *entry;
	bool tried = false;
	int err = 0;

	if (flags & ~RENAME_NOREPLACE)
		return -EINVAL;
	/*
	 * A program that replaces a file expects the old or the new content after a power cut, not
	 * an empty file
	 */
	if (replaced && S_ISREG(inode->i_mode))
		err = filemap_write_and_wait(inode->i_mapping);
	if (err)
		return err;
	do {
		y2_lock(sbi);
		err = y2_lookup(sbi->fs, y2_object(dir), dentry->d_name.name, dentry->d_name.len,
				&entry);
		if (!err)
			err = y2_rename(sbi->fs, entry, y2_object(new_dir), new_dentry->d_name.name,
					new_dentry->d_name.len);
		y2_unlock(sbi);
	} while (y2_try_again(dir->i_sb, err, &tried));
	if (err)
		return err;
	y2_vfs_changed(dir);
	y2_vfs_changed(new_dir);
	inode_set_ctime_current(inode);
	if (replaced)
		y2_vfs_count_links(replaced);
	return 0;
}

const struct inode_operations y2_dir_inode_ops = {
	.lookup = y2_vfs_lookup,
	.create = y2_vfs_create,
	.link = y2_vfs_link,
	.unlink = y2_vfs_unlink,
	.symlink = y2_vfs_make_symlink,
	.mkdir = y2_vfs_make_dir,
	.rmdir = y2_vfs_unlink,
	.mknod = y2_vfs_make_node,
	.rename = y2_vfs_rename_one,
	.setattr = y2_setattr,
};
