// SPDX-License-Identifier: GPL-2.0-only
/* A mount of the other driver, always by a scan: YAFFS2 from the newest block on, YAFFS1 by serial numbers. */
#include "other_parts.h"

#define FIRST_FREE	0x101u
#define UNLINKED	3u

/* Of what a cut has torn it knows as much as ours does: the last page of a block must have no wrong bit */
static bool is_sound(struct other *other, u32 block, u32 page)
{
	bool last = page + 1 == other->pages || raw_is_blank(&other->raw, block, page + 1);
	int result = ram_flash_ops.read(other->raw.flash, block, page, other->buffer, NULL);

	return last ? result == Y2_READ_CLEAN : y2_is_readable(result);
}

static void gather_header(struct other *other, u32 chunk, const struct raw_tags *tags)
{
	u32 id = tags->object & ~(tags->chunk ? OTHER_TOP_BITS : 0);
	struct raw_header header;
	struct other_object *obj;
	struct raw_tags again;
	bool gone;

	if (!raw_read(&other->raw, chunk / other->pages, chunk % other->pages, other->buffer, &again) ||
	    !raw_header_unpack(other->buffer, &header))
		return;
	obj = other_make(other, id);
	gone = header.parent == RAW_PARENT_DELETED || header.parent == UNLINKED;
	if (gone)
		header.size = 0;
	if ((header.shrink || gone || header.shadows) && !other->yaffs1)
		other->blocks[chunk / other->pages].shrink = true;
	if (obj->seen) {
		if ((header.shrink || gone) && header.size < obj->limit)
			obj->limit = header.size;
		return;
	}
	obj->seen = true;
	if (obj->shadowed)
		return;		/* they read no more of it */
	obj->dead = gone;
	obj->header = chunk + 1;
	if (header.type == RAW_FILE && header.size < obj->limit)
		obj->limit = header.size;
	if (header.type == RAW_FILE && obj->is.size > header.size)
		header.size = obj->is.size;
	obj->is = header;
	obj->is.shadows = 0;
	obj->is.shrink = false;
	if (header.shadows > RAW_PARENT_DELETED && header.shadows != id && !other_object(other, header.shadows)) {
		struct other_object *shadowed = other_make(other, header.shadows);

		shadowed->shadowed = shadowed->seen = shadowed->dead = true;
		shadowed->is.type = RAW_FILE;
		shadowed->limit = 0;
	}
}

static void gather_data(struct other *other, u32 chunk, const struct raw_tags *tags)
{
	u64 start = (u64)(tags->chunk - 1) * other->raw.chunk_bytes;
	struct other_object *obj;

	if (tags->object <= RAW_PARENT_DELETED || (tags->object == RAW_SUMMARY_ID && other->summaries))
		return;
	CHECK(tags->chunk < OTHER_CHUNKS);	/* those of before July 2010 would refuse the whole mount */
	CHECK(tags->bytes <= other->raw.chunk_bytes);
	obj = other_make(other, tags->object);
	if (start >= obj->limit || obj->chunk[tags->chunk] || (obj->seen && obj->is.type != RAW_FILE))
		return;
	obj->chunk[tags->chunk] = chunk + 1;
	if (tags->chunk > obj->max)
		obj->max = tags->chunk;
	if (!obj->seen && start + tags->bytes > obj->is.size)
		obj->is.size = start + tags->bytes;
}

static bool read_summary(struct other *other, u32 block)
{
	struct raw_tags tags;

	return other->summaries && raw_read(&other->raw, block, other->data_pages, other->summary, &tags) &&
	       tags.object == RAW_SUMMARY_ID && tags.chunk == 1 && tags.seq == other->blocks[block].seq &&
	       other_word(other->summary) == 1 && other_word(other->summary + 4) == block + 1 &&
	       other_word(other->summary + 8) == tags.seq &&
	       other_word(other->summary + 12) == other_summary_sum(other, other->summary + 16);
}

static void gather_block(struct other *other, u32 block)
{
	bool summary = read_summary(other, block);

	for (u32 page = summary ? other->data_pages : other->pages; page-- > 0;) {
		const u8 *entry = other->summary + 16 + 12 * page;
		struct raw_tags tags = {
			.seq = other->blocks[block].seq, .object = summary ? other_word(entry) : 0,
			.chunk = summary ? other_word(entry + 4) : 0, .bytes = summary ? other_word(entry + 8) : 0,
		};

		if (!tags.object && !raw_read(&other->raw, block, page, NULL, &tags))
			continue;
		if (tags.seq != other->blocks[block].seq)
			continue;
		if (!summary && !is_sound(other, block, page)) {
			other->blocks[block].written = other->pages;
			continue;
		}
		if (page >= other->blocks[block].written)
			other->blocks[block].written = page + 1;
		if ((tags.object & ~OTHER_TOP_BITS) == RAW_SUMMARY_ID && other->summaries)
			continue;
		if (!tags.chunk || tags.chunk >> 31)
			gather_header(other, block * other->pages + page, &tags);
		else
			gather_data(other, block * other->pages + page, &tags);
	}
}

/* In YAFFS1 the newer of two is one behind the other */
static bool is_newer(struct other *other, u32 *chunk_at, const struct raw_tags *tags)
{
	return !*chunk_at || tags->serial == other_serial_after(other, *chunk_at);
}

static void gather_yaffs1(struct other *other, u32 chunk, const struct raw_tags *tags)
{
	struct other_object *obj = other_make(other, tags->object);
	u32 *chunk_at = tags->chunk ? &obj->chunk[tags->chunk] : &obj->header;
	u64 start = (u64)(tags->chunk - 1) * other->raw.chunk_bytes, end = start + tags->bytes;

	CHECK(tags->chunk < OTHER_CHUNKS);
	if (!is_newer(other, chunk_at, tags)) {
		u32 loser = chunk + 1;

		other_replace(other, &loser, 0);
		return;
	}
	if (!tags->chunk)
		obj->serial = tags->serial;
	else if (end > obj->is.size || (*chunk_at && obj->is.size <= start + other->raw.chunk_bytes))
		obj->is.size = end;
	other_replace(other, chunk_at, chunk + 1);
	if (tags->chunk > obj->max)
		obj->max = tags->chunk;
}

static void read_yaffs1_headers(struct other *other)
{
	for (u32 i = 0; i < OTHER_OBJECTS; i++) {
		struct other_object *obj = &other->objects[i];
		struct raw_header header;
		struct raw_tags tags;

		if (!obj->id || !obj->header || !other_read_page(other, obj->header, other->buffer, &tags) ||
		    !raw_header_unpack(other->buffer, &header))
			continue;
		/* A file that ends in a hole has its end only there */
		if (header.type == RAW_FILE && obj->is.size > header.size)
			header.size = obj->is.size;
		obj->is = header;
		obj->is.shadows = 0;
		obj->is.shrink = false;
		obj->seen = true;
		obj->dead = header.parent == RAW_PARENT_DELETED || header.parent == UNLINKED;
	}
}

static void survey(struct other *other)
{
	for (u32 i = 0; i < other->raw.flash->geometry.blocks; i++) {
		struct other_block *block = &other->blocks[i];
		bool written = false;

		for (u32 page = 0; page < other->pages && !other->raw.flash->bad[i] && !block->seq; page++) {
			struct raw_tags tags;

			written |= !raw_is_blank(&other->raw, i, page);
			if (raw_read(&other->raw, i, page, NULL, &tags))
				block->seq = other->yaffs1 ? 1 : tags.seq;
		}
		/* A checkpoint, which is none of its own, and what is torn */
		if (written && (!block->seq || block->seq == RAW_SEQ_CHECKPOINT || block->seq == 0xffffffff))
			other_erase(other, i);
		if (block->seq > other->seq)
			other->seq = block->seq;
	}
}

void other_drop(struct other *other, struct other_object *obj)
{
	for (u32 k = 1; k <= obj->max; k++)
		other_replace(other, &obj->chunk[k], 0);
	other_replace(other, &obj->header, 0);
	obj->id = 0;
}

/* Goes on with the newest block where it ends; what lies before is a gap in its summary */
static void go_on(struct other *other, u32 block)
{
	u32 page = other->blocks[block].written;

	/* Not behind a page that was torn before a bit of it had changed */
	if (page >= other->data_pages || other->raw.flash->next_page[block] != page)
		return;
	other->at = block;
	other->page = page;
	memset(other->summary, 0, other->raw.chunk_bytes);
}

static void scan_yaffs2(struct other *other)
{
	u32 below = 0xffffffff, newest = other->raw.flash->geometry.blocks;

	for (;;) {
		u32 best = other->raw.flash->geometry.blocks;

		for (u32 i = 0; i < other->raw.flash->geometry.blocks; i++)
			if (other->blocks[i].seq && other->blocks[i].seq < below &&
			    (best == other->raw.flash->geometry.blocks ||
			     other->blocks[i].seq > other->blocks[best].seq))
				best = i;
		if (best == other->raw.flash->geometry.blocks)
			break;
		if (newest == other->raw.flash->geometry.blocks)
			newest = best;
		below = other->blocks[best].seq;
		gather_block(other, best);
	}
	if (newest < other->raw.flash->geometry.blocks)
		go_on(other, newest);
}

static void scan_yaffs1(struct other *other)
{
	for (u32 i = 0; i < other->raw.flash->geometry.blocks; i++) {
		for (u32 page = 0; page < other->pages && other->blocks[i].seq; page++) {
			struct raw_tags tags;

			if (!raw_is_blank(&other->raw, i, page))
				other->blocks[i].written = page + 1;
			if (raw_read(&other->raw, i, page, NULL, &tags) && !tags.deleted && is_sound(other, i, page))
				gather_yaffs1(other, i * other->pages + page, &tags);
		}
	}
	read_yaffs1_headers(other);
	for (u32 i = 0; i < other->raw.flash->geometry.blocks && other->at == other->raw.flash->geometry.blocks; i++)
		if (other->blocks[i].seq)
			go_on(other, i);
}

struct other *other_mount(struct ram_flash *flash, bool inband, enum other_driver driver)
{
	struct other *other = calloc(1, sizeof(*other));

	other->raw = raw_of(flash, inband);
	other->yaffs1 = raw_is_yaffs1(&other->raw);
	other->summaries = driver >= OTHER_TODAY && !other->yaffs1;
	other->keeps_size = driver < OTHER_JUNE_2010;
	other->pages = flash->geometry.chunks_per_block;
	other->data_pages = other->pages - other->summaries;
	other->at = flash->geometry.blocks;
	other->seq = 0xfff;
	other->next_id = FIRST_FREE;
	other->blocks = calloc(flash->geometry.blocks, sizeof(*other->blocks));
	other->summary = calloc(2, flash->geometry.page_bytes);
	other->buffer = calloc(1, flash->geometry.page_bytes);
	survey(other);
	if (other->yaffs1)
		scan_yaffs1(other);
	else
		scan_yaffs2(other);
	for (u32 i = 0; i < OTHER_OBJECTS; i++)
		if (other->objects[i].id && other->objects[i].dead)
			other_drop(other, &other->objects[i]);
	return other;
}

void other_unmount(struct other *other)
{
	for (u32 i = 0; i < OTHER_OBJECTS && !other->off; i++)
		if (other->objects[i].id && other->objects[i].behind)
			other_write_header(other, &other->objects[i], (struct other_header_change) { 0 });
	free(other->blocks);
	free(other->summary);
	free(other->buffer);
	free(other);
}
