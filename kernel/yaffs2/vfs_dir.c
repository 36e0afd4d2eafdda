// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads directories. Positions 0 and 1 are "." and ".."; others are an entry's cookie plus 1. So
 * entries may come and go.
 */
#include "vfs.h"

#define BATCH	16	/* entries collected under the lock, then emitted without it */

static int y2_iterate(struct file *file, struct dir_context *ctx)
{
	struct inode *dir = file_inode(file);
	struct y2_sb *sbi = y2_sb(dir->i_sb);
	struct y2_entry *entries;
	int count;

	if (!dir_emit_dots(file, ctx))
		return 0;
	entries = kmalloc_array(BATCH, sizeof(*entries), GFP_KERNEL);
	if (!entries)
		return -ENOMEM;
	do {
		y2_lock(sbi);
		count = y2_readdir(sbi->fs, y2_object(dir), (u64)ctx->pos - 1, entries, BATCH);
		y2_unlock(sbi);
		for (int i = 0; i < count; i++) {
			ctx->pos = (loff_t)entries[i].cookie + 1;
			if (!dir_emit(ctx, entries[i].name, (int)strlen(entries[i].name),
				      entries[i].id, fs_umode_to_dtype((umode_t)entries[i].mode))) {
				count = 0;
				break;
			}
			ctx->pos++;
		}
	} while (count > 0);
	kfree(entries);
	return count;
}

const struct file_operations y2_dir_ops = {
	.read = generic_read_dir,
	.iterate_shared = y2_iterate,
	.llseek = generic_file_llseek,
	.fsync = y2_fsync,
};
