// SPDX-License-Identifier: GPL-2.0-only
/* A retry when the flash seems full: write-back frees unneeded reservations. */
#include <linux/backing-dev.h>
#include <linux/writeback.h>

#include "vfs.h"

/*
 * Reservations for folios are larger than most folios need: write-back frees the rest. Returns true
 * if the error was lack of space and write-back was done; only once.
 */
bool y2_try_again(struct super_block *sb, int err, bool *tried)
{
	if (err != -ENOSPC || *tried)
		return false;
	*tried = true;
	if (!down_read_trylock(&sb->s_umount))
		return false;
	sync_inodes_sb(sb);
	up_read(&sb->s_umount);
	return true;
}
