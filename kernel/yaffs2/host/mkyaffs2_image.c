// SPDX-License-Identifier: GPL-2.0-only
/* Writing an image: pages with their tags, block by block. */
#include "mkyaffs2_image.h"

void image_open(struct image *image)
{
	image->chunk_bytes = image->page_bytes - (image->inband ? Y2_TAGS_BYTES : 0);
	image->chunk_max = image->yaffs1 ? Y2_YAFFS1_CHUNK_MAX : Y2_CHUNK_NEW_MAX;
	image->page = malloc(image->page_bytes + image->spare_bytes);
	image->file = fopen(image->name, "wb");
	if (!image->page || !image->file)
		die("cannot write %s: %s", image->name, strerror(errno));
}

/* Blocks are filled in order, each with the next sequence number */
static void put_chunk(struct image *image, struct y2_tags *tags, const u8 *data, u32 bytes)
{
	u8 *spare = image->page + image->page_bytes;

	tags->used = true;
	tags->seq = Y2_SEQ_LOWEST + (u32)(image->chunks++ / image->chunks_per_block);
	memset(image->page, 0xff, image->page_bytes + image->spare_bytes);
	memcpy(image->page, data, bytes);
	if (image->yaffs1)
		y2_tags_yaffs1_pack(tags, spare + image->tags_offset);
	else if (image->inband)
		y2_tags_pack(tags, false, image->page + image->chunk_bytes);
	else
		y2_tags_pack(tags, !image->no_ecc, spare + image->tags_offset);
	if (fwrite(image->page, image->page_bytes + image->spare_bytes, 1, image->file) != 1)
		die("cannot write %s: %s", image->name, strerror(errno));
}

/*
 * The tags are without extra knowledge, with n_bytes 0xffff, as image makers have always left them: unyaffs wants
 * that. Those of pages of 512 bytes have no room for it.
 */
void image_header(struct image *image, u32 object, const struct y2_header *header)
{
	struct y2_tags tags = { .object = object, .bytes = image->yaffs1 ? 0 : 0xffff };
	u8 packed[Y2_HEADER_BYTES];

	y2_header_pack(header, packed);
	put_chunk(image, &tags, packed, sizeof(packed));
}

void image_data(struct image *image, u32 object, u32 k, const u8 *data, u32 bytes)
{
	struct y2_tags tags = { .object = object, .chunk = k, .bytes = bytes };

	put_chunk(image, &tags, data, bytes);
}

void image_close(struct image *image)
{
	if (fclose(image->file))
		die("cannot write %s: %s", image->name, strerror(errno));
	free(image->page);
}
