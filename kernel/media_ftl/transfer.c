// SPDX-License-Identifier: GPL-2.0-only
/* Gathers the bytes of a request into pages of the layer, and scatters pages to them */
#include "transfer.h"

static u32 page_bytes(const struct sftl_transfer *t)
{
	return t->layer->flash.page_bytes;
}

static void forget_gathered(struct sftl_transfer *t)
{
	t->begin = 0;
	t->end = 0;
}

static int write_gathered(struct sftl_transfer *t)
{
	u32 begin = t->begin, end = t->end;
	int err;

	forget_gathered(t);
	if (begin == 0 && end == page_bytes(t))
		return sftl_write(t->layer, t->page, t->data);
	err = sftl_read(t->layer, t->page, t->rest);
	if (err)
		return err;
	memcpy(t->rest + begin, t->data + begin, end - begin);
	return sftl_write(t->layer, t->page, t->rest);
}

static int write_piece(struct sftl_transfer *t, u32 page, u32 skip, const u8 *bytes, u32 length)
{
	int err;

	if (length == page_bytes(t))
		return sftl_write(t->layer, page, bytes);
	if (t->begin != t->end && (t->page != page || t->end != skip)) {
		err = write_gathered(t);
		if (err)
			return err;
	}
	if (t->begin == t->end)
		t->begin = skip;
	t->page = page;
	memcpy(t->data + skip, bytes, length);
	t->end = skip + length;
	return t->end == page_bytes(t) ? write_gathered(t) : 0;
}

static int read_piece(struct sftl_transfer *t, u32 page, u32 skip, u8 *bytes, u32 length)
{
	int err;

	if (length == page_bytes(t))
		return sftl_read(t->layer, page, bytes);
	err = sftl_read(t->layer, page, t->rest);
	if (!err)
		memcpy(bytes, t->rest + skip, length);
	return err;
}

int sftl_transfer(struct sftl_transfer *t, bool write, u64 offset, u8 *bytes, u32 length)
{
	u32 page = offset / page_bytes(t);
	u32 skip = offset % page_bytes(t);
	int err = 0;

	while (length && !err) {
		u32 piece = page_bytes(t) - skip < length ? page_bytes(t) - skip : length;

		err = write ? write_piece(t, page, skip, bytes, piece) :
			      read_piece(t, page, skip, bytes, piece);
		bytes += piece;
		length -= piece;
		skip = 0;
		page++;
	}
	return err;
}

int sftl_transfer_end(struct sftl_transfer *t, int err)
{
	if (err)
		forget_gathered(t);
	return t->begin == t->end ? err : write_gathered(t);
}
