// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bytes of a request to pages of the flash and back. A page that the host writes as a whole goes to the layer from where
 * it is; pieces of a page are gathered first, and what is missing is read.
 */
#include "media_ftl.h"

static u32 page_bytes(const struct media_ftl *f)
{
	return f->layer->flash.page_bytes;
}

static int write_gathered(struct media_ftl *f)
{
	struct media_ftl_gather *g = &f->gather;
	u32 begin = g->begin, end = g->end;
	int err;

	g->begin = 0;
	g->end = 0;
	if (begin == 0 && end == page_bytes(f))
		return sftl_write(f->layer, g->page, g->data);
	err = sftl_read(f->layer, g->page, g->rest);
	if (err)
		return err;
	memcpy(g->rest + begin, g->data + begin, end - begin);
	return sftl_write(f->layer, g->page, g->rest);
}

int media_ftl_flush_gather(struct media_ftl *f)
{
	return f->gather.begin == f->gather.end ? 0 : write_gathered(f);
}

static int write_piece(struct media_ftl *f, u32 page, u32 skip, const u8 *bytes, u32 length)
{
	struct media_ftl_gather *g = &f->gather;
	int err = 0;

	if (length == page_bytes(f))
		return sftl_write(f->layer, page, bytes);
	if (g->begin != g->end && (g->page != page || g->end != skip))
		err = write_gathered(f);
	if (g->begin == g->end)
		g->begin = skip;
	g->page = page;
	memcpy(g->data + skip, bytes, length);
	g->end = skip + length;
	if (!err && g->end == page_bytes(f))
		err = write_gathered(f);
	return err;
}

static int read_piece(struct media_ftl *f, u32 page, u32 skip, u8 *bytes, u32 length)
{
	int err;

	if (length == page_bytes(f))
		return sftl_read(f->layer, page, bytes);
	err = sftl_read(f->layer, page, f->gather.rest);
	memcpy(bytes, f->gather.rest + skip, length);
	return err;
}

int media_ftl_transfer(struct media_ftl *f, bool write, u64 offset, u8 *bytes, u32 length)
{
	u32 page = offset / page_bytes(f);
	u32 skip = offset % page_bytes(f);
	int err = 0;

	while (length && !err) {
		u32 piece = min(length, page_bytes(f) - skip);

		err = write ? write_piece(f, page, skip, bytes, piece) : read_piece(f, page, skip, bytes, piece);
		bytes += piece;
		length -= piece;
		skip = 0;
		page++;
	}
	return err;
}
