/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A block whose last page may be torn (scan.h): its current pages are copied to another block, tags
 * included, and it is erased. A cut in between leaves the block as it was, and copies with the same
 * sequence numbers.
 */
#ifndef SFTL_TORN_H
#define SFTL_TORN_H

#include "scan.h"

/* -ENOSPC if no block is left to copy to, -EIO if several fail; an error of the flash */
int sftl_leave_torn_block(struct sftl_scan *scan);

#endif
