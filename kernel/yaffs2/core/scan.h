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
struct y2_object *y2_scan_object(struct y2_fs *fs, u32 id);	/* the one there is, or a new one */
bool y2_scan_small_is_torn(struct y2_fs *fs, u32 chunk);
int y2_scan_small_chunk(struct y2_fs *fs, u32 chunk, const struct y2_tags *tags);
int y2_scan_small_headers(struct y2_fs *fs, struct y2_scan *scan);
void y2_scan_small_write(struct y2_fs *fs);	/* writes */
int y2_scan_settle(struct y2_fs *fs);
void y2_scan_end_renames(struct y2_fs *fs);	/* writes */

#endif
