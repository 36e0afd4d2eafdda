/* SPDX-License-Identifier: GPL-2.0-only */
/* An image: chunks with their spare area, one behind the other, as they will lie on an empty flash. */
#ifndef MKYAFFS2_IMAGE_H
#define MKYAFFS2_IMAGE_H

#include <stdio.h>

#include "../core/header.h"
#include "../core/tags.h"

struct image {
	FILE *file;
	const char *name;
	u32 page_bytes, spare_bytes, tags_offset, chunks_per_block;
	bool inband, no_ecc;
	bool yaffs1;		/* pages of 512 bytes, with tags as in YAFFS1 */
	u32 chunk_bytes;	/* of a page, what holds data */
	u32 chunk_max;
	u64 chunks;		/* so far */
	u8 *page;		/* page and spare */
};

void image_open(struct image *image);
void image_header(struct image *image, u32 object, const struct y2_header *header);
void image_data(struct image *image, u32 object, u32 k, const u8 *data, u32 bytes);
void image_close(struct image *image);
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* The directory's tree, without the directory's own name */
void image_tree(struct image *image, const char *directory, bool all_root);

#endif
