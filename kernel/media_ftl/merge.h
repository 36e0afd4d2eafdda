/* SPDX-License-Identifier: GPL-2.0-only */
/* Log-block layers at their start: every logical group into one block */
#ifndef SFTL_MERGE_H
#define SFTL_MERGE_H

#include "scan.h"

/*
 * Forgets, and erases, blocks to which a merge was copying a logical group when the power went:
 * such a block begins with copies, and lacks a page of which there is an older copy elsewhere. Its
 * pages are all elsewhere, because a merge erases what it has read only when it is through. (This
 * holds because these layers take no discards: what was once written to a group stays in it.)
 */
int sftl_undo_merges(struct sftl_scan *scan);

/*
 * Merges the groups whose pages are spread, or share a block with others; adds their number to
 * *merged
 */
int sftl_merge_groups(struct sftl_scan *scan, u64 *merged);

#endif
