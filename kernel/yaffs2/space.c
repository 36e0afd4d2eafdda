// SPDX-License-Identifier: GPL-2.0-only
/*
 * A second try when the flash seems full: what is reserved and not needed becomes free by writing
 * back.
 */
#include <linux/backing-dev.h>
#include <linux/writeback.h>

#include "vfs.h"

/*
 * More chunks are reserved for folios than most of them need in the end: once they are written
 * back, the rest is free again. True after that, if the error was for want of space; once.
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
