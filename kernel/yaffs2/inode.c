// SPDX-License-Identifier: GPL-2.0-only
/* Inodes and objects: an inode in memory holds one of its object's refs. */
#include <linux/pagemap.h>
#include <linux/writeback.h>

#include "vfs.h"

static void y2_vfs_from_object(struct inode *inode, struct y2_object *obj)
{
	inode->i_mode = (umode_t)obj->mode;
	i_uid_write(inode, obj->uid);
	i_gid_write(inode, obj->gid);
	inode_set_atime(inode, obj->atime, 0);
	inode_set_mtime(inode, obj->mtime, 0);
	inode_set_ctime(inode, obj->ctime, 0);
	/* 1: subdirectories are not counted */
	set_nlink(inode, obj->type == Y2_DIRECTORY ? 1 : y2_object_links(obj));
	switch (obj->mode & S_IFMT) {
	case S_IFREG:
		inode->i_size = (loff_t)obj->size;
		inode->i_op = &y2_file_inode_ops;
		inode->i_fop = &y2_file_ops;
		inode->i_mapping->a_ops = &y2_file_aops;
		break;
	case S_IFDIR:
		inode->i_op = &y2_dir_inode_ops;
		inode->i_fop = &y2_dir_ops;
		break;
	case S_IFLNK:
		inode->i_op = &y2_symlink_inode_ops;
		inode->i_size = (loff_t)strlen(obj->alias);
		break;
	default:
		inode->i_op = &y2_special_inode_ops;
		init_special_inode(inode, inode->i_mode, new_decode_dev(obj->rdev));
	}
}

/* In a damaged header, the type in the mode may differ from the type in the tags */
static bool y2_vfs_type_agrees(const struct y2_object *obj)
{
	switch (obj->type) {
	case Y2_FILE:
		return S_ISREG(obj->mode);
	case Y2_DIRECTORY:
		return S_ISDIR(obj->mode);
	case Y2_SYMLINK:
		return S_ISLNK(obj->mode) && obj->alias;
	default:
		return obj->type == Y2_SPECIAL && !S_ISREG(obj->mode) && !S_ISDIR(obj->mode) &&
		       !S_ISLNK(obj->mode);
	}
}

/*
 * An inode under eviction must be waited for, and the eviction needs the lock. So the lock is
 * dropped for the search, and a ref holds the object meanwhile.
 */
struct inode *y2_iget_locked(struct super_block *sb, struct y2_object *obj)
{
	struct y2_sb *sbi = y2_sb(sb);
	struct inode *inode;
	int err = y2_object_load(sbi->fs, obj);

	if (err)
		return ERR_PTR(err);
	if (!y2_vfs_type_agrees(obj))
		return ERR_PTR(-EUCLEAN);
	obj->refs++;
	y2_unlock(sbi);
	inode = iget_locked(sb, obj->id);
	y2_lock(sbi);
	if (!inode || !(inode->i_state & I_NEW)) {
		y2_object_put(sbi->fs, obj);
		return inode ? inode : ERR_PTR(-ENOMEM);
	}
	container_of(inode, struct y2_inode, vfs)->obj = obj;
	y2_vfs_from_object(inode, obj);
	unlock_new_inode(inode);
	return inode;
}

struct inode *y2_iget(struct super_block *sb, struct y2_object *obj)
{
	struct inode *inode;

	y2_lock(y2_sb(sb));
	inode = y2_iget_locked(sb, obj);
	y2_unlock(y2_sb(sb));
	return inode;
}

void y2_to_object(struct inode *inode)
{
	struct y2_object *obj = y2_object(inode);

	obj->mode = inode->i_mode;
	obj->uid = i_uid_read(inode);
	obj->gid = i_gid_read(inode);
	obj->atime = (u32)inode_get_atime_sec(inode);
	obj->mtime = (u32)inode_get_mtime_sec(inode);
	obj->ctime = (u32)inode_get_ctime_sec(inode);
}

int y2_write_inode(struct inode *inode, struct writeback_control *wbc)
{
	struct y2_sb *sbi = y2_sb(inode->i_sb);
	struct y2_object *obj = y2_object(inode);
	int err;

	y2_lock(sbi);
	y2_to_object(inode);
	y2_mark_dirty(sbi->fs, obj);
	err = y2_flush(sbi->fs, obj);
	y2_unlock(sbi);
	return err;
}

void y2_evict_inode(struct inode *inode)
{
	struct y2_sb *sbi = y2_sb(inode->i_sb);
	struct y2_object *obj = y2_object(inode);

	truncate_inode_pages_final(&inode->i_data);
	clear_inode(inode);
	if (!obj)
		return;
	y2_lock(sbi);
	y2_object_put(sbi->fs, obj);
	y2_unlock(sbi);
}

static int y2_vfs_resize(struct inode *inode, loff_t size)
{
	struct y2_sb *sbi = y2_sb(inode->i_sb);
	loff_t old = i_size_read(inode);
	int err;

	/* Concurrent readers must not see the data that goes as data that stays */
	filemap_invalidate_lock(inode->i_mapping);
	if (size < old)
		truncate_setsize(inode, size);
	y2_lock(sbi);
	err = y2_resize(sbi->fs, y2_object(inode), (u64)size);
	y2_unlock(sbi);
	if (err) {
		/* Data behind the new end that was only in the cache is lost anyway */
		y2_restore_end(inode, old);
	} else if (size > old) {
		y2_clean_cached_tail(inode);
		truncate_setsize(inode, size);
		pagecache_isize_extended(inode, old, size);
	}
	filemap_invalidate_unlock(inode->i_mapping);
	return err;
}

/*
 * Counts everything a file uses, holes too: data in the cache has no place on flash yet, and du
 * must not report 0
 */
static int y2_vfs_get_attributes(y2_idmap *idmap, const struct path *path, struct kstat *stat,
				 u32 wanted, unsigned int flags)
{
	struct inode *inode = d_inode(path->dentry);

	y2_fill_attributes(idmap, wanted, inode, stat);
	stat->blocks = DIV_ROUND_UP_ULL(i_size_read(inode), SECTOR_SIZE);
	return 0;
}

/* The target is freed with the inode, so a caller without a ref must not use it */
static const char *y2_vfs_get_link(struct dentry *dentry, struct inode *inode,
				   struct delayed_call *done)
{
	return dentry ? y2_object(inode)->alias : ERR_PTR(-ECHILD);
}

int y2_setattr(y2_idmap *idmap, struct dentry *dentry, struct iattr *attr)
{
	struct inode *inode = d_inode(dentry);
	int err = setattr_prepare(idmap, dentry, attr);

	if (!err && attr->ia_valid & ATTR_SIZE)
		err = y2_vfs_resize(inode, attr->ia_size);
	if (err)
		return err;
	if (attr->ia_valid & ATTR_SIZE)
		attr->ia_valid |= ATTR_MTIME | ATTR_CTIME;	/* truncate() does not request it */
	setattr_copy(idmap, inode, attr);
	mark_inode_dirty(inode);
	return 0;
}

const struct inode_operations y2_file_inode_ops = { .setattr = y2_setattr,
						    .getattr = y2_vfs_get_attributes };
const struct inode_operations y2_special_inode_ops = { .setattr = y2_setattr };
const struct inode_operations y2_symlink_inode_ops = { .get_link = y2_vfs_get_link,
						       .setattr = y2_setattr };
