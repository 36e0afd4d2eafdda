/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A block whose last page may be torn (scan.h): all of it that counts is copied to another block,
 * tags and all, and it is erased. A cut on the way leaves it as it was, and copies that are the
 * same programs.
 */
#ifndef SFTL_TORN_H
#define SFTL_TORN_H

#include "scan.h"

/* -ENOSPC if no block is left to copy to, -EIO if several fail; an error of the flash */
int sftl_leave_torn_block(struct sftl_scan *scan);

#endif
