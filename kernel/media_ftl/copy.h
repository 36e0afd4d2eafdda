/* SPDX-License-Identifier: GPL-2.0-only */
/* Moves pages during a scan, to a block that is not in use */
#ifndef SFTL_COPY_H
#define SFTL_COPY_H

#include "scan.h"
#include "tag.h"

/*
 * Copies the page at `from` to `to`, with this tag. The copy is marked lost if the page was, or if
 * it cannot be read.
 */
int sftl_copy_page(struct sftl_scan *scan, u32 from, u32 to, struct sftl_tag tag);

/*
 * Calls `fill` to copy `what` to a fresh block, and to further ones if programs fail; returns the
 * block. -ENOSPC if no block is left. -EIO or another error of the flash if several blocks fail:
 * then the flash itself is dead.
 */
int sftl_copy_to_fresh_block(struct sftl_scan *scan,
			     int (*fill)(struct sftl_scan *scan, u32 what, u32 block), u32 what,
			     u32 *block);

#endif
