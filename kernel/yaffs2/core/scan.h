/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations shared by the files of the scan */
#ifndef Y2_SCAN_H
#define Y2_SCAN_H

#include "yaffs2.h"

/* A block found by the survey */
struct y2_scan_block {
	u32 seq, number;
	bool last_maybe_torn;	/* its last page counts only if no other page does */
};

struct y2_scan_page {
	struct y2_tags tags;
	int result;		/* the result of reading them: enum y2_read or a negative errno */
};

struct y2_scan {
	struct y2_scan_block *order;	/* newest first */
	u32 count;
	u32 without_seq; /* written blocks without a sequence number */
	u32 swapped; /* of these, blocks with one in the other byte order */
	bool used;			/* the flash is not blank */
	struct y2_scan_page *pages;	/* of the current block */
	struct y2_header header;
};

int y2_scan_chunk(struct y2_fs *fs, struct y2_scan *scan, u32 chunk, const struct y2_tags *tags);
int y2_scan_pages(struct y2_fs *fs, struct y2_scan *scan, struct y2_scan_block *found);

/* scan_torn.c: half-programmed and half-erased pages after a power cut */
bool y2_scan_page_counts(struct y2_fs *fs, struct y2_scan *scan, struct y2_scan_block *found,
			 u32 page);
void y2_scan_skip_torn(struct y2_fs *fs, const struct y2_scan *scan, struct y2_scan_block *found,
		       u32 page);
bool y2_scan_is_half_erased(struct y2_fs *fs, const struct y2_scan *scan,
			    struct y2_scan_block *found);

int y2_scan_refuse_foreign(struct y2_fs *fs, struct y2_scan *scan);
int y2_scan_refuse_big_endian(void);

struct y2_object *y2_scan_object(struct y2_fs *fs, u32 id);	/* finds or makes it */
int y2_scan_yaffs1_chunk(struct y2_fs *fs, u32 chunk, const struct y2_tags *tags);
void y2_scan_yaffs1_dismiss(struct y2_fs *fs, u32 chunk);
int y2_scan_yaffs1_maybe_torn(struct y2_fs *fs, u32 chunk);
int y2_scan_yaffs1_headers(struct y2_fs *fs, struct y2_scan *scan);
void y2_scan_yaffs1_write(struct y2_fs *fs);	/* writes */
int y2_scan_fixup(struct y2_fs *fs);
void y2_scan_finish_shadows(struct y2_fs *fs);	/* writes, as all of these */
void y2_scan_finish_unlinked(struct y2_fs *fs);
void y2_scan_finish_renames(struct y2_fs *fs);
void y2_scan_finish_tails(struct y2_fs *fs);

#endif
