/* SPDX-License-Identifier: GPL-2.0-only */
/* The start of log-block layers: merges every logical group into one block */
#ifndef SFTL_MERGE_H
#define SFTL_MERGE_H

#include "scan.h"

/*
 * Undoes merges that a power cut interrupted: erases the block to which a group was being copied.
 * Such a block begins with copies, and lacks a page of which an older copy exists elsewhere. All
 * its pages exist elsewhere, because a merge erases its sources only when it is complete. (These
 * layers ignore discards, so a page once written to a group stays in it.)
 */
int sftl_undo_merges(struct sftl_scan *scan);

/*
 * Merges the groups whose pages are scattered, or share a block with others; adds their number to
 * *merged
 */
int sftl_merge_groups(struct sftl_scan *scan, u64 *merged);

#endif
