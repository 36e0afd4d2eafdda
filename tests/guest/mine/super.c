// SPDX-License-Identifier: GPL-2.0-only
/* For tests: a file system that is small and compiled soon. It keeps one folder in memory, and leaves the medium alone. */
#include <linux/module.h>
#include <linux/pagemap.h>

#include "mine.h"

enum { MAGIC = 0x6d696e65 };

static struct inode *new_file(struct super_block *super, umode_t mode)
{
	struct inode *inode = new_inode(super);

	if (!inode)
		return NULL;
	inode->i_ino = get_next_ino();
	inode->i_mode = mode;
	inode->i_atime = inode->i_mtime = inode->i_ctime = current_time(inode);
	inode->i_fop = &mine_file_operations;
	inode->i_mapping->a_ops = &mine_file_aops;
	mapping_set_unevictable(inode->i_mapping);
	return inode;
}

static int create(struct user_namespace *users, struct inode *folder, struct dentry *name, umode_t mode, bool excl)
{
	struct inode *inode = new_file(folder->i_sb, mode);

	if (!inode)
		return -ENOMEM;
	d_instantiate(name, inode);
	dget(name); /* there is no other place that knows the file */
	return 0;
}

static const struct inode_operations folder_operations = {
	.create = create,
	.lookup = simple_lookup,
	.unlink = simple_unlink,
};

static const struct super_operations super_operations = {
	.statfs = simple_statfs,
	.drop_inode = generic_delete_inode,
};

static int fill_super(struct super_block *super, void *options, int silent)
{
	struct inode *root;

	super->s_magic = MAGIC;
	super->s_op = &super_operations;
	super->s_maxbytes = MAX_LFS_FILESIZE;
	root = new_file(super, S_IFDIR | 0755);
	if (!root)
		return -ENOMEM;
	root->i_op = &folder_operations;
	root->i_fop = &simple_dir_operations;
	inc_nlink(root);
	super->s_root = d_make_root(root);
	return super->s_root ? 0 : -ENOMEM;
}

static struct dentry *mount(struct file_system_type *type, int flags, const char *device, void *options)
{
	return mount_nodev(type, flags, options, fill_super);
}

static struct file_system_type mine_type = {
	.owner = THIS_MODULE,
	.name = "mine",
	.mount = mount,
	.kill_sb = kill_litter_super,
};

static int __init begin(void)
{
	int err;

	mine_file_init();
	err = register_filesystem(&mine_type);
	return err;
}

static void __exit end(void)
{
	unregister_filesystem(&mine_type);
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("A file system of a user's");
MODULE_LICENSE("GPL");
