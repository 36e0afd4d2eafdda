/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef Y2_SCAN_H
#define Y2_SCAN_H

#include "yaffs2.h"

/* A block found by the survey */
struct y2_scan_block {
	u32 seq, number;
};

struct y2_scan {
	struct y2_scan_block *order;	/* newest first */
	u32 count;
	bool used;			/* there is something on the flash */
	struct y2_header header;
};

int y2_scan_chunk(struct y2_fs *fs, struct y2_scan *scan, u32 chunk, const struct y2_tags *tags);
int y2_scan_pages(struct y2_fs *fs, struct y2_scan *scan, u32 number);
int y2_scan_settle(struct y2_fs *fs);
void y2_scan_end_renames(struct y2_fs *fs);	/* writes */

#endif
