// SPDX-License-Identifier: GPL-2.0-only
/* The oracle: a tree in memory, and its comparison with that of the file system. */
#include "model.h"

struct model *model_new(void)
{
	struct model *model = calloc(1, sizeof(*model));

	model->nodes[0].used = true;
	model->nodes[0].is_dir = true;
	model->nodes[0].links = 1;
	for (int i = 0; i < MODEL_NAMES; i++)
		model->nodes[0].child[i] = -1;
	return model;
}

struct model *model_copy(const struct model *model)
{
	struct model *copy = malloc(sizeof(*copy));

	memcpy(copy, model, sizeof(*copy));
	for (int i = 0; i < MODEL_NODES; i++) {
		struct node *node = &copy->nodes[i];

		if (!node->data)
			continue;
		node->data = malloc(node->size + 1);
		memcpy(node->data, model->nodes[i].data, node->size);
	}
	return copy;
}

void model_free(struct model *model)
{
	for (int i = 0; i < MODEL_NODES; i++)
		free(model->nodes[i].data);
	free(model);
}

int model_new_node(struct model *model, u32 mode)
{
	for (int i = 1; i < MODEL_NODES; i++) {
		struct node *node = &model->nodes[i];

		if (node->used)
			continue;
		memset(node, 0, sizeof(*node));
		node->used = true;
		node->mode = mode;
		node->links = 1;
		node->is_dir = S_ISDIR(mode);
		for (int j = 0; j < MODEL_NAMES; j++)
			node->child[j] = -1;
		return i;
	}
	return -1;
}

void model_drop_link(struct model *model, int number)
{
	struct node *node = &model->nodes[number];

	if (--node->links)
		return;
	free(node->data);
	memset(node, 0, sizeof(*node));
}

void model_resize(struct node *node, u64 size)
{
	node->data = realloc(node->data, size + 1);
	if (size > node->size)
		memset(node->data + node->size, 0, size - node->size);
	node->size = size;
}

void model_name(char *name, int number)
{
	sprintf(name, "n%d", number);
}

static char why[256];

/* Each chunk as in one of the two, the size between the two */
static bool loosely_equal(const u8 *is, u64 size, const struct node *a, const struct node *b, u32 chunk)
{
	u64 low = a->size < b->size ? a->size : b->size, high = a->size < b->size ? b->size : a->size;

	if (size < low || size > high)
		return false;
	for (u64 at = 0; at < size; at += chunk) {
		bool as_a = true, as_b = true;

		for (u64 i = at; i < at + chunk && i < size; i++) {
			as_a &= is[i] == (i < a->size ? a->data[i] : 0);
			as_b &= is[i] == (i < b->size ? b->data[i] : 0);
		}
		if (!as_a && !as_b)
			return false;
	}
	return true;
}

static bool same_data(struct y2_fs *fs, struct y2_object *obj, const struct node *node, const struct node *other)
{
	u8 *is = malloc(obj->size + 1);
	int got = y2_read(fs, obj, 0, is, (u32)obj->size);
	bool same = got == (int)obj->size;

	if (!same)
		snprintf(why, sizeof(why), "object %u: read gives %d, size %" PRIu64, obj->id, got, obj->size);
	if (same && other)
		same = loosely_equal(is, obj->size, node, other, fs->chunk_bytes);
	else if (same)
		same = obj->size == node->size && !memcmp(is, node->data ? node->data : is, node->size);
	if (!same && got == (int)obj->size) {
		u64 at = 0;

		while (at < obj->size && at < node->size && is[at] == node->data[at])
			at++;
		snprintf(why, sizeof(why), "object %u: size %" PRIu64 ", expected %" PRIu64 "; differs at %" PRIu64
			 ": %02x, not %02x%s", obj->id, obj->size, node->size, at, at < obj->size ? is[at] : 0,
			 at < node->size ? node->data[at] : 0, other ? " (loose)" : "");
	}
	free(is);
	return same;
}

static const char *compare_dir(struct y2_fs *fs, struct y2_object *dir, const struct model *model,
			       const struct model *other, int loose, int number, u32 *ids);

static const char *compare_node(struct y2_fs *fs, struct y2_object *obj, const struct model *model,
				const struct model *other, int loose, int number, u32 *ids)
{
	const struct node *node = &model->nodes[number];

	if (y2_object_load(fs, obj))
		return "cannot load";
	if (ids[number] && ids[number] != obj->id)
		return "two names of one file lead to two";
	ids[number] = obj->id;
	if (obj->mode != node->mode) {
		snprintf(why, sizeof(why), "object %u: mode %o, expected %o", obj->id, obj->mode, node->mode);
		return why;
	}
	if (!node->is_dir && y2_object_links(obj) != node->links) {
		snprintf(why, sizeof(why), "object %u: %u links, expected %u", obj->id, y2_object_links(obj),
			 node->links);
		return why;
	}
	if (S_ISLNK(node->mode) && strcmp(obj->alias, node->target))
		return "another link target";
	if ((S_ISCHR(node->mode) || S_ISFIFO(node->mode)) && obj->rdev != node->rdev)
		return "another device";
	if (S_ISREG(node->mode) && !same_data(fs, obj, node, number == loose && other ? &other->nodes[number] : NULL))
		return why;
	return node->is_dir ? compare_dir(fs, obj, model, other, loose, number, ids) : NULL;
}

static const char *compare_dir(struct y2_fs *fs, struct y2_object *dir, const struct model *model,
			       const struct model *other, int loose, int number, u32 *ids)
{
	const struct node *node = &model->nodes[number];
	struct y2_entry entries[MODEL_NAMES + 8];
	int count = y2_readdir(fs, dir, 0, entries, MODEL_NAMES + 8), expected = dir == fs->root;

	for (int i = 0; i < MODEL_NAMES; i++) {
		struct y2_object *obj = NULL;
		const char *differs;
		char name[8];
		int err;

		model_name(name, i);
		err = y2_lookup(fs, dir, name, (u32)strlen(name), &obj);
		if ((node->child[i] < 0) != (err == -ENOENT)) {
			snprintf(why, sizeof(why), "directory %u, name %s: lookup gives %d, node %d", dir->id, name,
				 err, node->child[i]);
			return why;
		}
		if (node->child[i] < 0)
			continue;
		expected++;
		differs = compare_node(fs, y2_object_resolve(obj), model, other, loose, node->child[i], ids);
		if (differs)
			return differs;
	}
	if (count == expected)
		return NULL;
	snprintf(why, sizeof(why), "directory %u: %d entries, expected %d", dir->id, count, expected);
	return why;
}

const char *model_compare(struct y2_fs *fs, const struct model *model, const struct model *other, int loose)
{
	u32 ids[MODEL_NODES] = { 0 };
	struct y2_object *obj;
	const char *differs = compare_dir(fs, fs->root, model, other, loose, 0, ids);

	if (differs)
		return differs;
	if (!list_empty(&fs->lost_and_found->children)) {
		obj = list_first_entry(&fs->lost_and_found->children, struct y2_object, siblings);
		snprintf(why, sizeof(why), "object %u is in lost+found", obj->id);
		return why;
	}
	return NULL;
}

struct y2_object *model_find(struct y2_fs *fs, const struct model *model, int number)
{
	if (!number)
		return fs->root;
	for (int dir = 0; dir < MODEL_NODES; dir++) {
		if (!model->nodes[dir].used || !model->nodes[dir].is_dir)
			continue;
		for (int i = 0; i < MODEL_NAMES; i++) {
			struct y2_object *parent, *obj;
			char name[8];

			if (model->nodes[dir].child[i] != number)
				continue;
			parent = model_find(fs, model, dir);
			model_name(name, i);
			CHECK(parent);
			CHECK_EQUAL(0, (u64)y2_lookup(fs, parent, name, (u32)strlen(name), &obj));
			return y2_object_resolve(obj);
		}
	}
	return NULL;
}

void model_take_data(struct y2_fs *fs, struct model *model, int number, struct y2_object *obj)
{
	struct node *node = &model->nodes[number];

	model_resize(node, obj->size);
	CHECK(y2_read(fs, obj, 0, node->data, (u32)obj->size) == (int)obj->size);
}
