// SPDX-License-Identifier: GPL-2.0-only
/* What the other driver does for its users: names, and contents of files. */
#include "other_parts.h"

#define LOST_AND_FOUND	2u
#define SMALL_HOLE	4u	/* chunks: filled with zeros */

struct other_object *other_entry(struct other *other, u32 parent, const char *name)
{
	for (u32 i = 0; i < OTHER_OBJECTS; i++) {
		struct other_object *obj = &other->objects[i];

		if (obj->id && obj->seen && !obj->dead && obj->is.parent == parent && !strcmp(obj->is.name, name) &&
		    obj->id != OTHER_ROOT && obj->id != LOST_AND_FOUND)
			return obj;
	}
	return NULL;
}

static struct other_object *link_to(struct other *other, u32 id)
{
	for (u32 i = 0; i < OTHER_OBJECTS; i++)
		if (other->objects[i].id && other->objects[i].is.type == RAW_HARDLINK &&
		    other->objects[i].is.equivalent == id)
			return &other->objects[i];
	return NULL;
}

u32 other_find(struct other *other, u32 parent, const char *name)
{
	const struct other_object *obj = other_entry(other, parent, name);

	return !obj ? 0 : obj->is.type == RAW_HARDLINK ? obj->is.equivalent : obj->id;
}

u64 other_size(struct other *other, u32 id)
{
	return other_object(other, id)->is.size;
}

struct other_counts other_counts(const struct other *other)
{
	return other->counts;
}

int other_create(struct other *other, u32 parent, const char *name, const struct raw_header *how)
{
	struct other_object *obj;
	int err = other_make_room(other);

	if (err)
		return err;
	obj = other_make(other, other->next_id);
	obj->is = *how;
	obj->is.parent = parent;
	strcpy(obj->is.name, name);
	obj->seen = true;
	other_write_header(other, obj, (struct other_header_change) { 0 });
	return other_result(other);
}

static void delete(struct other *other, struct other_object *obj)
{
	other_write_header(other, obj, (struct other_header_change) { .parent = RAW_PARENT_DELETED });
	if (!other->off) {
		other->blocks[(obj->header - 1) / other->pages].shrink |= !other->yaffs1;
		other_drop(other, obj);
	}
}

/* With links, it takes the name of one of them, and that link goes */
static void remove_object(struct other *other, struct other_object *obj)
{
	struct other_object *link = obj->is.type == RAW_HARDLINK ? NULL : link_to(other, obj->id);

	if (link) {
		obj->is.parent = link->is.parent;
		memcpy(obj->is.name, link->is.name, sizeof(obj->is.name));
		other_write_header(other, obj, (struct other_header_change) { 0 });
		obj = link;
	}
	if (!other->off)
		delete(other, obj);
}

int other_unlink(struct other *other, u32 parent, const char *name)
{
	int err = other_make_room(other);

	if (!err)
		remove_object(other, other_entry(other, parent, name));
	return err ? err : other_result(other);
}

int other_rename(struct other *other, u32 from, const char *name, u32 to, const char *new_name)
{
	struct other_object *obj, *old;
	int err = other_make_room(other);

	if (err)
		return err;
	obj = other_entry(other, from, name);
	old = other_entry(other, to, new_name);
	obj->is.parent = to;
	memset(obj->is.name, 0, sizeof(obj->is.name));
	strcpy(obj->is.name, new_name);
	if (old) {
		other_write_header(other, obj, (struct other_header_change) { .shadows = old->id });
		if (!other->off) {
			other->blocks[(obj->header - 1) / other->pages].shrink |= !other->yaffs1;
			remove_object(other, old);
		}
	}
	if (!other->off)
		other_write_header(other, obj, (struct other_header_change) { 0 });
	return other_result(other);
}

void other_read(struct other *other, u32 id, u64 offset, u8 *to, u32 length)
{
	const struct other_object *obj = other_object(other, id);
	u32 size = other->raw.chunk_bytes;
	u8 *data = malloc(size);

	for (u32 done = 0; done < length;) {
		u32 at = (u32)((offset + done) % size), part = size - at < length - done ? size - at : length - done;

		other_read_data(other, obj, (u32)((offset + done) / size) + 1, data);
		memcpy(to + done, data + at, part);
		done += part;
	}
	free(data);
}

static void write_some(struct other *other, struct other_object *obj, u64 offset, const u8 *from, u32 length)
{
	u32 size = other->raw.chunk_bytes;
	u8 *data = malloc(size);

	for (u32 done = 0; done < length && !other->off;) {
		u32 at = (u32)((offset + done) % size), part = size - at < length - done ? size - at : length - done;
		u32 k = (u32)((offset + done) / size) + 1;
		u64 start = (u64)(k - 1) * size;
		u32 valid = obj->is.size > start ? (u32)min_t(u64, obj->is.size - start, size) : 0;

		CHECK(k < OTHER_CHUNKS);
		/* What the chunk holds, it takes for good */
		other_read_data(other, obj, k, data);
		memcpy(data + at, from ? from + done : data + at, part);
		if (!from)
			memset(data + at, 0, part);
		other_write_data(other, obj, k, data, valid > at + part ? valid : at + part);
		done += part;
		if (!other->off && offset + done > obj->is.size)
			obj->is.size = offset + done;
	}
	free(data);
}

/* A small hole is filled with zeros; before a larger one comes the header with the shrink flag and the old size */
static void make_hole(struct other *other, struct other_object *obj, u64 until)
{
	u64 size = obj->is.size;

	if (until <= size || other->yaffs1)
		return;
	if (until - size < SMALL_HOLE * other->raw.chunk_bytes)
		write_some(other, obj, size, NULL, (u32)(until - size));
	else
		other_write_header(other, obj, (struct other_header_change) { .shrink = true });
}

int other_write(struct other *other, u32 id, u64 offset, const u8 *from, u32 length)
{
	struct other_object *obj = other_object(other, id);
	int err = other_make_room(other);

	if (err)
		return err;
	make_hole(other, obj, offset);
	if (!other->off)
		write_some(other, obj, offset, from, length);
	obj->behind = true;
	return other_result(other);
}

int other_truncate(struct other *other, u32 id, u64 size)
{
	struct other_object *obj = other_object(other, id);
	u32 chunk = other->raw.chunk_bytes, last = (u32)((size + chunk - 1) / chunk), part = (u32)(size % chunk);
	int err = other_make_room(other);

	if (err)
		return err;
	if (size > obj->is.size)
		make_hole(other, obj, size);
	for (u32 k = obj->max; size < obj->is.size && k > last && !other->off; k--)
		other_replace(other, &obj->chunk[k], 0);
	if (size < obj->is.size && part && obj->chunk[last] && !other->off) {
		u8 *data = malloc(chunk);

		other_read_data(other, obj, last, data);
		memset(data + part, 0, chunk - part);
		other_write_data(other, obj, last, data, part);
		free(data);
	}
	obj->is.size = size;
	if (!other->off)
		other_write_header(other, obj, (struct other_header_change) { 0 });
	return other_result(other);
}
