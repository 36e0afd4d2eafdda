// SPDX-License-Identifier: GPL-2.0-only
#include "other.h"

#define MOST_OBJECTS	512
#define MOST_CHUNKS	512		/* of a file */
#define ROOT		1u
#define LOST_AND_FOUND	2u
#define UNLINKED	3u
#define FIRST_FREE	0x101u
#define SMALL_HOLE	4u		/* chunks: filled with zeros */
#define KEPT_EMPTY	6u		/* blocks */
#define NO_LIMIT	(~0ull)
#define TOP_BITS	0xf0000000u

struct object {
	u32 id;				/* 0: free */
	struct raw_header is;		/* size: as it is now */
	u32 header, chunk[MOST_CHUNKS];	/* flash chunks + 1 */
	u32 most;			/* no chunk is beyond */
	u8 serial;
	bool seen, behind, shadowed, dead;
	u64 limit;
};

struct block {
	u32 seq, written, live;
	bool shrink;
};

struct other {
	struct raw raw;
	bool small, summaries, off;
	u32 pages, data_pages;
	struct block *blocks;
	struct object objects[MOST_OBJECTS];
	u32 at, page, seq, next_id;	/* at: the block that is written, or no block */
	u8 *summary, *buffer;
	struct other_counts counts;
};

static struct object *find(struct other *other, u32 id)
{
	for (u32 i = 0; id && i < MOST_OBJECTS; i++)
		if (other->objects[i].id == id)
			return &other->objects[i];
	return NULL;
}

static struct object *find_or_make(struct other *other, u32 id)
{
	struct object *obj = find(other, id);

	for (u32 i = 0; !obj && i < MOST_OBJECTS; i++)
		if (!other->objects[i].id)
			obj = &other->objects[i];
	CHECK(obj);
	if (!obj->id)
		*obj = (struct object) { .id = id, .limit = NO_LIMIT };
	if (id >= other->next_id)
		other->next_id = id + 1;
	return obj;
}

/* ---- blocks ---- */

static void count_live(struct other *other)
{
	for (u32 i = 0; i < other->raw.flash->geometry.blocks; i++)
		other->blocks[i].live = 0;
	for (u32 i = 0; i < MOST_OBJECTS; i++) {
		const struct object *obj = &other->objects[i];

		if (!obj->id)
			continue;
		if (obj->header)
			other->blocks[(obj->header - 1) / other->pages].live++;
		for (u32 k = 0; k <= obj->most; k++)
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

static void erase(struct other *other, u32 block)
{
	if (ram_flash_ops.erase(other->raw.flash, block))
		other->off = true;
	other->blocks[block] = (struct block) { .seq = 0 };
}

static void put(u8 *to, u32 word)
{
	for (u32 i = 0; i < 4; i++)
		to[i] = (u8)(word >> 8 * i);
}

static u32 get(const u8 *from)
{
	return from[0] | (u32)from[1] << 8 | (u32)from[2] << 16 | (u32)from[3] << 24;
}

static u32 sum_of(const struct other *other, const u8 *entries)
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
		gaps += !get(other->summary + 16 + 12 * i);
	put(other->summary, 1);
	put(other->summary + 4, block + 1);		/* the first block is 0: they number from 1 */
	put(other->summary + 8, other->blocks[block].seq);
	put(other->summary + 12, sum_of(other, other->summary + 16));
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
	erase(other, block);
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
static void replace(struct other *other, u32 *place, u32 with)
{
	u32 old = *place;

	*place = with;
	if (old && other->small && !other->off && raw_mark(&other->raw, (old - 1) / other->pages, (old - 1) % other->pages))
		other->off = true;
}

/* ---- what it writes ---- */

struct how {
	u32 parent, shadows;
	bool shrink;
};

static void write_header(struct other *other, struct object *obj, struct how how)
{
	struct raw_header header = obj->is;
	struct raw_tags tags;
	u32 chunk;

	header.parent = how.parent ? how.parent : obj->is.parent;
	header.shadows = how.shadows;
	header.shrink = how.shrink && !other->small;
	if (header.parent == RAW_PARENT_DELETED) {
		memset(header.name, 0, sizeof(header.name));
		strcpy(header.name, "deleted");
		header.size = 0;
	}
	tags = raw_header_tags(obj->id, &header);
	if (other->small)
		tags = (struct raw_tags) { .object = obj->id, .bytes = 512, .serial = obj->serial = (obj->serial + 1) & 3 };
	raw_header_pack(&other->raw, &header, other->buffer);
	chunk = append(other, other->buffer, tags);
	if (!chunk)
		return;
	obj->behind = false;
	if (header.shrink)
		other->blocks[(chunk - 1) / other->pages].shrink = true;
	replace(other, &obj->header, chunk);
}

/* Of a flash chunk + 1 */
static bool read_page(struct other *other, u32 chunk, u8 *data, struct raw_tags *tags)
{
	return raw_read(&other->raw, (chunk - 1) / other->pages, (chunk - 1) % other->pages, data, tags);
}

static u8 serial_after(struct other *other, u32 chunk)
{
	struct raw_tags tags;

	if (!other->small || !chunk || !read_page(other, chunk, NULL, &tags))
		return 0;
	return (tags.serial + 1) & 3;
}

static void write_data(struct other *other, struct object *obj, u32 k, const u8 *data, u32 bytes)
{
	struct raw_tags tags = {
		.object = obj->id, .chunk = k, .bytes = bytes, .serial = serial_after(other, obj->chunk[k]),
	};
	u32 chunk = append(other, data, tags);

	if (chunk)
		replace(other, &obj->chunk[k], chunk);
	if (k > obj->most)
		obj->most = k;
}

static void read_data(struct other *other, const struct object *obj, u32 k, u8 *data)
{
	u32 chunk = k < MOST_CHUNKS ? obj->chunk[k] : 0;
	struct raw_tags tags;

	memset(data, 0, other->raw.chunk_bytes);
	if (chunk)
		CHECK(read_page(other, chunk, data, &tags) || other->off);
}

/* ---- collection ---- */

static bool older_is_dirty(struct other *other, u32 than)
{
	for (u32 i = 0; i < other->raw.flash->geometry.blocks; i++)
		if (other->blocks[i].seq && i != than && i != other->at && other->blocks[i].seq < other->blocks[than].seq &&
		    other->blocks[i].live < other->blocks[i].written)
			return true;
	return false;
}

static void copy_block(struct other *other, u32 block)
{
	u8 *data = malloc(other->raw.chunk_bytes);

	for (u32 i = 0; i < MOST_OBJECTS; i++) {
		struct object *obj = &other->objects[i];

		if (!obj->id)
			continue;
		for (u32 k = 0; k <= obj->most && !other->off; k++) {
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
		if (obj->header && (obj->header - 1) / other->pages == block && !other->off) {
			u32 old = obj->header;

			obj->header = 0;	/* its block goes: no mark */
			write_header(other, obj, (struct how) { 0 });
			if (!obj->header)
				obj->header = old;
		}
	}
	free(data);
}

static bool collect_one(struct other *other)
{
	u32 best = other->raw.flash->geometry.blocks, least = other->data_pages;

	count_live(other);
	for (u32 i = 0; i < other->raw.flash->geometry.blocks; i++) {
		u32 live = other->blocks[i].live;

		if (!other->blocks[i].seq || i == other->at || other->raw.flash->bad[i])
			continue;
		if (live >= least || (other->blocks[i].shrink && older_is_dirty(other, i)))
			continue;
		least = live;
		best = i;
	}
	if (best == other->raw.flash->geometry.blocks)
		return false;
	copy_block(other, best);
	other->counts.collected++;
	if (!other->off)
		erase(other, best);
	return true;
}

static int make_room(struct other *other)
{
	u32 tries = other->raw.flash->geometry.blocks;

	while (!other->off && empty_blocks(other) < KEPT_EMPTY && tries-- && collect_one(other))
		;
	if (other->off)
		return -EIO;
	return empty_blocks(other) < KEPT_EMPTY ? -ENOSPC : 0;
}

static int result(const struct other *other)
{
	return other->off ? -EIO : 0;
}

/* ---- mounting ---- */

/* Of what a cut has torn it knows as much as ours does: the last page of a block must have no wrong bit */
static bool is_sound(struct other *other, u32 block, u32 page)
{
	bool last = page + 1 == other->pages || raw_is_blank(&other->raw, block, page + 1);
	int result = ram_flash_ops.read(other->raw.flash, block, page, other->buffer, NULL);

	return last ? result == Y2_READ_CLEAN : y2_is_readable(result);
}

static void gather_header(struct other *other, u32 chunk, const struct raw_tags *tags)
{
	u32 id = tags->object & ~(tags->chunk ? TOP_BITS : 0);
	struct raw_header header;
	struct object *obj;
	struct raw_tags again;
	bool gone;

	if (!raw_read(&other->raw, chunk / other->pages, chunk % other->pages, other->buffer, &again) ||
	    !raw_header_unpack(other->buffer, &header))
		return;
	obj = find_or_make(other, id);
	gone = header.parent == RAW_PARENT_DELETED || header.parent == UNLINKED;
	if (gone)
		header.size = 0;
	if ((header.shrink || gone || header.shadows) && !other->small)
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
	if (header.shadows > RAW_PARENT_DELETED && header.shadows != id && !find(other, header.shadows)) {
		struct object *shadowed = find_or_make(other, header.shadows);

		shadowed->shadowed = shadowed->seen = shadowed->dead = true;
		shadowed->is.type = RAW_FILE;
		shadowed->limit = 0;
	}
}

static void gather_data(struct other *other, u32 chunk, const struct raw_tags *tags)
{
	u64 start = (u64)(tags->chunk - 1) * other->raw.chunk_bytes;
	struct object *obj;

	if (tags->object <= RAW_PARENT_DELETED || (tags->object == RAW_SUMMARY_ID && other->summaries))
		return;
	CHECK(tags->chunk < MOST_CHUNKS);	/* those of before July 2010 would refuse the whole mount */
	CHECK(tags->bytes <= other->raw.chunk_bytes);
	obj = find_or_make(other, tags->object);
	if (start >= obj->limit || obj->chunk[tags->chunk] || (obj->seen && obj->is.type != RAW_FILE))
		return;
	obj->chunk[tags->chunk] = chunk + 1;
	if (tags->chunk > obj->most)
		obj->most = tags->chunk;
	if (!obj->seen && start + tags->bytes > obj->is.size)
		obj->is.size = start + tags->bytes;
}

static bool read_summary(struct other *other, u32 block)
{
	struct raw_tags tags;

	return other->summaries && raw_read(&other->raw, block, other->data_pages, other->summary, &tags) &&
	       tags.object == RAW_SUMMARY_ID && tags.chunk == 1 && tags.seq == other->blocks[block].seq &&
	       get(other->summary) == 1 && get(other->summary + 4) == block + 1 &&
	       get(other->summary + 8) == tags.seq && get(other->summary + 12) == sum_of(other, other->summary + 16);
}

static void gather_block(struct other *other, u32 block)
{
	bool summary = read_summary(other, block);

	for (u32 page = summary ? other->data_pages : other->pages; page-- > 0;) {
		const u8 *entry = other->summary + 16 + 12 * page;
		struct raw_tags tags = {
			.seq = other->blocks[block].seq, .object = summary ? get(entry) : 0,
			.chunk = summary ? get(entry + 4) : 0, .bytes = summary ? get(entry + 8) : 0,
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
		if ((tags.object & ~TOP_BITS) == RAW_SUMMARY_ID && other->summaries)
			continue;
		if (!tags.chunk || tags.chunk >> 31)
			gather_header(other, block * other->pages + page, &tags);
		else
			gather_data(other, block * other->pages + page, &tags);
	}
}

/* In YAFFS1 the newer of two is one behind the other */
static bool is_newer(struct other *other, u32 *place, const struct raw_tags *tags)
{
	return !*place || tags->serial == serial_after(other, *place);
}

static void gather_small(struct other *other, u32 chunk, const struct raw_tags *tags)
{
	struct object *obj = find_or_make(other, tags->object);
	u32 *place = tags->chunk ? &obj->chunk[tags->chunk] : &obj->header;
	u64 start = (u64)(tags->chunk - 1) * other->raw.chunk_bytes, end = start + tags->bytes;

	CHECK(tags->chunk < MOST_CHUNKS);
	if (!is_newer(other, place, tags)) {
		u32 loser = chunk + 1;

		replace(other, &loser, 0);
		return;
	}
	if (!tags->chunk)
		obj->serial = tags->serial;
	else if (end > obj->is.size || (*place && obj->is.size <= start + other->raw.chunk_bytes))
		obj->is.size = end;
	replace(other, place, chunk + 1);
	if (tags->chunk > obj->most)
		obj->most = tags->chunk;
}

static void read_small_headers(struct other *other)
{
	for (u32 i = 0; i < MOST_OBJECTS; i++) {
		struct object *obj = &other->objects[i];
		struct raw_header header;
		struct raw_tags tags;

		if (!obj->id || !obj->header || !read_page(other, obj->header, other->buffer, &tags) || !raw_header_unpack(other->buffer, &header))
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
		struct block *block = &other->blocks[i];
		bool written = false;

		for (u32 page = 0; page < other->pages && !other->raw.flash->bad[i] && !block->seq; page++) {
			struct raw_tags tags;

			written |= !raw_is_blank(&other->raw, i, page);
			if (raw_read(&other->raw, i, page, NULL, &tags))
				block->seq = other->small ? 1 : tags.seq;
		}
		/* A checkpoint, which is none of its own, and what is torn */
		if (written && (!block->seq || block->seq == RAW_SEQ_CHECKPOINT || block->seq == 0xffffffff))
			erase(other, i);
		if (block->seq > other->seq)
			other->seq = block->seq;
	}
}

static void drop(struct other *other, struct object *obj)
{
	for (u32 k = 1; k <= obj->most; k++)
		replace(other, &obj->chunk[k], 0);
	replace(other, &obj->header, 0);
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

static void scan_large(struct other *other)
{
	u32 below = 0xffffffff, newest = other->raw.flash->geometry.blocks;

	for (;;) {
		u32 best = other->raw.flash->geometry.blocks;

		for (u32 i = 0; i < other->raw.flash->geometry.blocks; i++)
			if (other->blocks[i].seq && other->blocks[i].seq < below &&
			    (best == other->raw.flash->geometry.blocks || other->blocks[i].seq > other->blocks[best].seq))
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

static void scan_small(struct other *other)
{
	for (u32 i = 0; i < other->raw.flash->geometry.blocks; i++) {
		for (u32 page = 0; page < other->pages && other->blocks[i].seq; page++) {
			struct raw_tags tags;

			if (!raw_is_blank(&other->raw, i, page))
				other->blocks[i].written = page + 1;
			if (raw_read(&other->raw, i, page, NULL, &tags) && !tags.deleted && is_sound(other, i, page))
				gather_small(other, i * other->pages + page, &tags);
		}
	}
	read_small_headers(other);
	for (u32 i = 0; i < other->raw.flash->geometry.blocks && other->at == other->raw.flash->geometry.blocks; i++)
		if (other->blocks[i].seq)
			go_on(other, i);
}

struct other *other_mount(struct ram_flash *flash, bool inband, bool summaries)
{
	struct other *other = calloc(1, sizeof(*other));

	other->raw = raw_of(flash, inband);
	other->small = raw_is_small(&other->raw);
	other->summaries = summaries && !other->small;
	other->pages = flash->geometry.chunks_per_block;
	other->data_pages = other->pages - other->summaries;
	other->at = flash->geometry.blocks;
	other->seq = 0xfff;
	other->next_id = FIRST_FREE;
	other->blocks = calloc(flash->geometry.blocks, sizeof(*other->blocks));
	other->summary = calloc(2, flash->geometry.page_bytes);
	other->buffer = calloc(1, flash->geometry.page_bytes);
	survey(other);
	if (other->small)
		scan_small(other);
	else
		scan_large(other);
	for (u32 i = 0; i < MOST_OBJECTS; i++)
		if (other->objects[i].id && other->objects[i].dead)
			drop(other, &other->objects[i]);
	return other;
}

void other_unmount(struct other *other)
{
	for (u32 i = 0; i < MOST_OBJECTS && !other->off; i++)
		if (other->objects[i].id && other->objects[i].behind)
			write_header(other, &other->objects[i], (struct how) { 0 });
	free(other->blocks);
	free(other->summary);
	free(other->buffer);
	free(other);
}

/* ---- names ---- */

static struct object *entry(struct other *other, u32 parent, const char *name)
{
	for (u32 i = 0; i < MOST_OBJECTS; i++) {
		struct object *obj = &other->objects[i];

		if (obj->id && obj->seen && !obj->dead && obj->is.parent == parent && !strcmp(obj->is.name, name) &&
		    obj->id != ROOT && obj->id != LOST_AND_FOUND)
			return obj;
	}
	return NULL;
}

static struct object *link_to(struct other *other, u32 id)
{
	for (u32 i = 0; i < MOST_OBJECTS; i++)
		if (other->objects[i].id && other->objects[i].is.type == RAW_HARDLINK && other->objects[i].is.equivalent == id)
			return &other->objects[i];
	return NULL;
}

u32 other_find(struct other *other, u32 parent, const char *name)
{
	const struct object *obj = entry(other, parent, name);

	return !obj ? 0 : obj->is.type == RAW_HARDLINK ? obj->is.equivalent : obj->id;
}

u64 other_size(struct other *other, u32 id)
{
	return find(other, id)->is.size;
}

struct other_counts other_counts(const struct other *other)
{
	return other->counts;
}

int other_create(struct other *other, u32 parent, const char *name, const struct raw_header *how)
{
	struct object *obj;
	int err = make_room(other);

	if (err)
		return err;
	obj = find_or_make(other, other->next_id);
	obj->is = *how;
	obj->is.parent = parent;
	strcpy(obj->is.name, name);
	obj->seen = true;
	write_header(other, obj, (struct how) { 0 });
	return result(other);
}

static void delete(struct other *other, struct object *obj)
{
	write_header(other, obj, (struct how) { .parent = RAW_PARENT_DELETED });
	if (!other->off) {
		other->blocks[(obj->header - 1) / other->pages].shrink |= !other->small;
		drop(other, obj);
	}
}

/* With links, it takes the name of one of them, and that link goes */
static void remove_object(struct other *other, struct object *obj)
{
	struct object *link = obj->is.type == RAW_HARDLINK ? NULL : link_to(other, obj->id);

	if (link) {
		obj->is.parent = link->is.parent;
		memcpy(obj->is.name, link->is.name, sizeof(obj->is.name));
		write_header(other, obj, (struct how) { 0 });
		obj = link;
	}
	if (!other->off)
		delete(other, obj);
}

int other_unlink(struct other *other, u32 parent, const char *name)
{
	int err = make_room(other);

	if (!err)
		remove_object(other, entry(other, parent, name));
	return err ? err : result(other);
}

int other_rename(struct other *other, u32 from, const char *name, u32 to, const char *new_name)
{
	struct object *obj, *old;
	int err = make_room(other);

	if (err)
		return err;
	obj = entry(other, from, name);
	old = entry(other, to, new_name);
	obj->is.parent = to;
	memset(obj->is.name, 0, sizeof(obj->is.name));
	strcpy(obj->is.name, new_name);
	if (old) {
		write_header(other, obj, (struct how) { .shadows = old->id });
		if (!other->off) {
			other->blocks[(obj->header - 1) / other->pages].shrink |= !other->small;
			remove_object(other, old);
		}
	}
	if (!other->off)
		write_header(other, obj, (struct how) { 0 });
	return result(other);
}

/* ---- contents ---- */

void other_read(struct other *other, u32 id, u64 offset, u8 *to, u32 length)
{
	const struct object *obj = find(other, id);
	u32 size = other->raw.chunk_bytes;
	u8 *data = malloc(size);

	for (u32 done = 0; done < length;) {
		u32 at = (u32)((offset + done) % size), part = size - at < length - done ? size - at : length - done;

		read_data(other, obj, (u32)((offset + done) / size) + 1, data);
		memcpy(to + done, data + at, part);
		done += part;
	}
	free(data);
}

static void write_some(struct other *other, struct object *obj, u64 offset, const u8 *from, u32 length)
{
	u32 size = other->raw.chunk_bytes;
	u8 *data = malloc(size);

	for (u32 done = 0; done < length && !other->off;) {
		u32 at = (u32)((offset + done) % size), part = size - at < length - done ? size - at : length - done;
		u32 k = (u32)((offset + done) / size) + 1;
		u64 start = (u64)(k - 1) * size;
		u32 valid = obj->is.size > start ? (obj->is.size - start < size ? (u32)(obj->is.size - start) : size) : 0;

		CHECK(k < MOST_CHUNKS);
		/* What the chunk holds, it takes for good */
		read_data(other, obj, k, data);
		memcpy(data + at, from ? from + done : data + at, part);
		if (!from)
			memset(data + at, 0, part);
		write_data(other, obj, k, data, valid > at + part ? valid : at + part);
		done += part;
		if (!other->off && offset + done > obj->is.size)
			obj->is.size = offset + done;
	}
	free(data);
}

/* A small hole is filled with zeros; before a larger one comes the header with the shrink flag and the old size */
static void make_hole(struct other *other, struct object *obj, u64 until)
{
	u64 size = obj->is.size;

	if (until <= size || other->small)
		return;
	if (until - size < SMALL_HOLE * other->raw.chunk_bytes)
		write_some(other, obj, size, NULL, (u32)(until - size));
	else
		write_header(other, obj, (struct how) { .shrink = true });
}

int other_write(struct other *other, u32 id, u64 offset, const u8 *from, u32 length)
{
	struct object *obj = find(other, id);
	int err = make_room(other);

	if (err)
		return err;
	make_hole(other, obj, offset);
	if (!other->off)
		write_some(other, obj, offset, from, length);
	obj->behind = true;
	return result(other);
}

int other_truncate(struct other *other, u32 id, u64 size)
{
	struct object *obj = find(other, id);
	u32 chunk = other->raw.chunk_bytes, last = (u32)((size + chunk - 1) / chunk), part = (u32)(size % chunk);
	int err = make_room(other);

	if (err)
		return err;
	if (size > obj->is.size)
		make_hole(other, obj, size);
	for (u32 k = obj->most; size < obj->is.size && k > last && !other->off; k--)
		replace(other, &obj->chunk[k], 0);
	if (size < obj->is.size && part && obj->chunk[last] && !other->off) {
		u8 *data = malloc(chunk);

		read_data(other, obj, last, data);
		memset(data + part, 0, chunk - part);
		write_data(other, obj, last, data, part);
		free(data);
	}
	obj->is.size = size;
	if (!other->off)
		write_header(other, obj, (struct how) { 0 });
	return result(other);
}

/* ---- comparing ---- */

static char why[256];

static const char *compare_node(struct other *other, const struct model *model, const struct object *obj, int number, u32 *ids);

static const char *compare_dir(struct other *other, const struct model *model, u32 id, int number, u32 *ids)
{
	for (int i = 0; i < MODEL_NAMES; i++) {
		int child = model->nodes[number].child[i];
		const struct object *obj;
		const char *differs;
		char name[8];

		model_name(name, i);
		obj = entry(other, id, name);
		if (!obj != (child < 0)) {
			snprintf(why, sizeof(why), "directory %u: %s is %s", id, name, obj ? "there" : "not there");
			return why;
		}
		if (!obj)
			continue;
		if (obj->is.type == RAW_HARDLINK)
			obj = find(other, obj->is.equivalent);
		differs = obj ? compare_node(other, model, obj, child, ids) : "a link leads nowhere";
		if (differs)
			return differs;
	}
	return NULL;
}

static const char *compare_node(struct other *other, const struct model *model, const struct object *obj, int number, u32 *ids)
{
	const struct node *node = &model->nodes[number];
	u8 *data;

	if (ids[number] && ids[number] != obj->id)
		return "two names of one file lead to two";
	ids[number] = obj->id;
	if (obj->is.mode != node->mode) {
		snprintf(why, sizeof(why), "object %u: mode %o, expected %o", obj->id, obj->is.mode, node->mode);
		return why;
	}
	if (node->is_dir)
		return compare_dir(other, model, obj->id, number, ids);
	if (S_ISLNK(node->mode))
		return strcmp(obj->is.alias, node->target) ? "another link target" : NULL;
	if (obj->is.rdev != node->rdev && obj->is.rdev != 0xffffffff)
		return "another device";
	if (!S_ISREG(node->mode))
		return NULL;
	if (obj->is.size != node->size) {
		snprintf(why, sizeof(why), "object %u: size %" PRIu64 ", expected %" PRIu64, obj->id, obj->is.size, node->size);
		return why;
	}
	data = malloc(node->size + 1);
	other_read(other, obj->id, 0, data, (u32)node->size);
	for (u64 at = 0; at < node->size; at++) {
		if (data[at] == node->data[at])
			continue;
		snprintf(why, sizeof(why), "object %u, size %" PRIu64 ": differs at %" PRIu64 ": %02x, not %02x", obj->id,
			 node->size, at, data[at], node->data[at]);
		free(data);
		return why;
	}
	free(data);
	return NULL;
}

const char *other_compare(struct other *other, const struct model *model)
{
	u32 ids[MODEL_NODES] = { 0 };

	return compare_dir(other, model, ROOT, 0, ids);
}
