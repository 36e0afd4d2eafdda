// SPDX-License-Identifier: GPL-2.0-only
/* The log of the other driver: its blocks, how it writes headers and data, and its garbage collection. */
#include "other_parts.h"

#define SPARE_BLOCKS	6u

struct other_object *other_object(struct other *other, u32 id)
{
	for (u32 i = 0; id && i < OTHER_OBJECTS; i++)
		if (other->objects[i].id == id)
			return &other->objects[i];
	return NULL;
}

struct other_object *other_make(struct other *other, u32 id)
{
	struct other_object *obj = other_object(other, id);

	for (u32 i = 0; !obj && i < OTHER_OBJECTS; i++)
		if (!other->objects[i].id)
			obj = &other->objects[i];
	CHECK(obj);
	if (!obj->id)
		*obj = (struct other_object) { .id = id, .limit = OTHER_NO_LIMIT };
	if (id >= other->next_id)
		other->next_id = id + 1;
	return obj;
}

static void count_live(struct other *other)
{
	for (u32 i = 0; i < other->raw.flash->geometry.blocks; i++)
		other->blocks[i].live = 0;
	for (u32 i = 0; i < OTHER_OBJECTS; i++) {
		const struct other_object *obj = &other->objects[i];

		if (!obj->id)
			continue;
		if (obj->header)
			other->blocks[(obj->header - 1) / other->pages].live++;
		for (u32 k = 0; k <= obj->max; k++)
			if (obj->chunk[k])
				other->blocks[(obj->chunk[k] - 1) / other->pages].live++;
	}
}

static u32 empty_blocks(const struct other *other)
{
	u32 count = 0;

	for (u32 i = 0; i < other->raw.flash->geometry.blocks; i++)
		count += !other->blocks[i].seq && !other->raw.flash->bad[i];
	return count;
}

void other_erase(struct other *other, u32 block)
{
	if (ram_flash_ops.erase(other->raw.flash, block))
		other->off = true;
	other->blocks[block] = (struct other_block) { .seq = 0 };
}

static void put(u8 *to, u32 word)
{
	for (u32 i = 0; i < 4; i++)
		to[i] = (u8)(word >> 8 * i);
}

u32 other_word(const u8 *from)
{
	return from[0] | (u32)from[1] << 8 | (u32)from[2] << 16 | (u32)from[3] << 24;
}

u32 other_summary_sum(const struct other *other, const u8 *entries)
{
	u32 sum = 0;

	for (u32 i = 0; i < 12 * other->data_pages; i++)
		sum += entries[i];
	return sum;
}

static void close_block(struct other *other)
{
	u32 block = other->at, gaps = 0;

	other->at = other->raw.flash->geometry.blocks;
	if (!other->summaries)
		return;
	for (u32 i = 0; i < other->data_pages; i++)
		gaps += !other_word(other->summary + 16 + 12 * i);
	put(other->summary, 1);
	put(other->summary + 4, block + 1);		/* the first block is 0: they number from 1 */
	put(other->summary + 8, other->blocks[block].seq);
	put(other->summary + 12, other_summary_sum(other, other->summary + 16));
	if (!raw_write(&other->raw, block, other->data_pages, other->summary,
		       &(struct raw_tags) { .seq = other->blocks[block].seq, .object = RAW_SUMMARY_ID, .chunk = 1,
					    .bytes = 16 + 12 * other->data_pages }))
		other->counts.gaps += gaps;
	else
		other->off = true;
}

static void open_block(struct other *other)
{
	u32 block = 0;

	while (other->raw.flash->bad[block] || other->blocks[block].seq)
		CHECK(++block < other->raw.flash->geometry.blocks);
	/* Found empty: torn erases are not told from empty blocks */
	other_erase(other, block);
	other->at = block;
	other->page = 0;
	other->blocks[block].seq = ++other->seq;
	memset(other->summary, 0, other->raw.chunk_bytes);
}

/* Returns the flash chunk + 1; 0: the power is off */
static u32 append(struct other *other, const u8 *data, struct raw_tags tags)
{
	u32 chunk;

	if (other->at == other->raw.flash->geometry.blocks)
		open_block(other);
	if (other->off)
		return 0;
	tags.seq = other->blocks[other->at].seq;
	chunk = other->at * other->pages + other->page;
	if (raw_write(&other->raw, other->at, other->page, data, &tags)) {
		other->off = true;
		return 0;
	}
	put(other->summary + 16 + 12 * other->page, tags.object);
	put(other->summary + 20 + 12 * other->page, tags.chunk);
	put(other->summary + 24 + 12 * other->page, tags.bytes);
	other->blocks[other->at].written = ++other->page;
	if (other->page == other->data_pages)
		close_block(other);
	return chunk + 1;
}

/* What was there before is obsolete: of YAFFS1 it gets its mark */
void other_replace(struct other *other, u32 *chunk_at, u32 with)
{
	u32 old = *chunk_at;

	*chunk_at = with;
	if (old && other->yaffs1 && !other->off &&
	    raw_mark(&other->raw, (old - 1) / other->pages, (old - 1) % other->pages))
		other->off = true;
}

void other_write_header(struct other *other, struct other_object *obj, struct other_header_change how)
{
	struct raw_header header = obj->is;
	struct raw_tags tags;
	u32 chunk;

	header.parent = how.parent ? how.parent : obj->is.parent;
	header.shadows = how.shadows;
	header.shrink = how.shrink && !other->yaffs1;
	if (header.parent == RAW_PARENT_DELETED) {
		memset(header.name, 0, sizeof(header.name));
		strcpy(header.name, "deleted");
		header.size = 0;
	}
	tags = raw_header_tags(obj->id, &header);
	if (other->yaffs1)
		tags = (struct raw_tags) { .object = obj->id, .bytes = 512,
					   .serial = obj->serial = (obj->serial + 1) & 3 };
	raw_header_pack(&other->raw, &header, other->buffer);
	chunk = append(other, other->buffer, tags);
	if (!chunk)
		return;
	obj->behind = false;
	if (header.shrink)
		other->blocks[(chunk - 1) / other->pages].shrink = true;
	other_replace(other, &obj->header, chunk);
}

/* Of a flash chunk + 1 */
bool other_read_page(struct other *other, u32 chunk, u8 *data, struct raw_tags *tags)
{
	return raw_read(&other->raw, (chunk - 1) / other->pages, (chunk - 1) % other->pages, data, tags);
}

u8 other_serial_after(struct other *other, u32 chunk)
{
	struct raw_tags tags;

	if (!other->yaffs1 || !chunk || !other_read_page(other, chunk, NULL, &tags))
		return 0;
	return (tags.serial + 1) & 3;
}

void other_write_data(struct other *other, struct other_object *obj, u32 k, const u8 *data, u32 bytes)
{
	struct raw_tags tags = {
		.object = obj->id, .chunk = k, .bytes = bytes, .serial = other_serial_after(other, obj->chunk[k]),
	};
	u32 chunk = append(other, data, tags);

	if (chunk)
		other_replace(other, &obj->chunk[k], chunk);
	if (k > obj->max)
		obj->max = k;
}

void other_read_data(struct other *other, const struct other_object *obj, u32 k, u8 *data)
{
	u32 chunk = k < OTHER_CHUNKS ? obj->chunk[k] : 0;
	struct raw_tags tags;

	memset(data, 0, other->raw.chunk_bytes);
	if (chunk)
		CHECK(other_read_page(other, chunk, data, &tags) || other->off);
}

static bool older_is_dirty(struct other *other, u32 than)
{
	for (u32 i = 0; i < other->raw.flash->geometry.blocks; i++)
		if (other->blocks[i].seq && i != than && i != other->at &&
		    other->blocks[i].seq < other->blocks[than].seq &&
		    other->blocks[i].live < other->blocks[i].written)
			return true;
	return false;
}

static void copy_header(struct other *other, struct other_object *obj)
{
	const u64 size = obj->is.size;
	const u32 old = obj->header;
	struct raw_header header;
	struct raw_tags tags;

	if (other->keeps_size) {
		CHECK(other_read_page(other, old, other->buffer, &tags));
		CHECK(raw_header_unpack(other->buffer, &header));
		obj->is.size = header.size;
	}
	obj->header = 0;	/* its block goes: no mark */
	other_write_header(other, obj, (struct other_header_change) { 0 });
	if (!obj->header)
		obj->header = old;
	obj->behind |= obj->is.size != size;
	obj->is.size = size;
}

static void copy_block(struct other *other, u32 block)
{
	u8 *data = malloc(other->raw.chunk_bytes);

	for (u32 i = 0; i < OTHER_OBJECTS; i++) {
		struct other_object *obj = &other->objects[i];

		if (!obj->id)
			continue;
		for (u32 k = 0; k <= obj->max && !other->off; k++) {
			struct raw_tags tags;
			u32 old = obj->chunk[k];

			if (!old || (old - 1) / other->pages != block)
				continue;
			CHECK(raw_read(&other->raw, block, (old - 1) % other->pages, data, &tags));
			tags.serial = (tags.serial + 1) & 3;
			old = append(other, data, tags);
			if (old)
				obj->chunk[k] = old;
		}
		if (obj->header && (obj->header - 1) / other->pages == block && !other->off)
			copy_header(other, obj);
	}
	free(data);
}

static void collect(struct other *other, u32 block)
{
	copy_block(other, block);
	other->counts.collected++;
	if (!other->off)
		other_erase(other, block);
}

static bool gc_one(struct other *other)
{
	u32 best = other->raw.flash->geometry.blocks, min = other->data_pages;

	count_live(other);
	for (u32 i = 0; i < other->raw.flash->geometry.blocks; i++) {
		u32 live = other->blocks[i].live;

		if (!other->blocks[i].seq || i == other->at || other->raw.flash->bad[i])
			continue;
		if (live >= min || (other->blocks[i].shrink && older_is_dirty(other, i)))
			continue;
		min = live;
		best = i;
	}
	if (best == other->raw.flash->geometry.blocks)
		return false;
	collect(other, best);
	return true;
}

void other_collect(struct other *other, u32 id)
{
	u32 block = (other_object(other, id)->header - 1) / other->pages;

	if (block == other->at)
		close_block(other);
	collect(other, block);
}

int other_make_room(struct other *other)
{
	u32 tries = other->raw.flash->geometry.blocks;

	while (!other->off && empty_blocks(other) < SPARE_BLOCKS && tries-- && gc_one(other))
		;
	if (other->off)
		return -EIO;
	return empty_blocks(other) < SPARE_BLOCKS ? -ENOSPC : 0;
}

int other_result(const struct other *other)
{
	return other->off ? -EIO : 0;
}
