/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages that are moved while a flash is scanned, into a block that nobody uses */
#ifndef SFTL_COPY_H
#define SFTL_COPY_H

#include "scan.h"
#include "tag.h"

/*
 * Programs at `to` what lies at `from`, under this tag; but it is lost if it was, or if it cannot
 * be read
 */
int sftl_copy_page(struct sftl_scan *scan, u32 from, u32 to, struct sftl_tag tag);

/*
 * Lets `fill` copy `what` to a fresh block, which it returns, and to others if programs fail.
 * -ENOSPC if no block is left, -EIO or another error of the flash if several fail: one on which one
 * block after the other does is gone.
 */
int sftl_copy_to_fresh_block(struct sftl_scan *scan,
			     int (*fill)(struct sftl_scan *scan, u32 what, u32 block), u32 what,
			     u32 *block);

#endif
