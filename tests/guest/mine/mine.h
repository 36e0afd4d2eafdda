/* SPDX-License-Identifier: GPL-2.0-only */
/* What each file of the file system shares with the others. */
#ifndef MINE_H
#define MINE_H

#include <linux/fs.h>

extern const struct file_operations mine_file_operations;
extern struct address_space_operations mine_file_aops;

void mine_file_init(void);

#endif
