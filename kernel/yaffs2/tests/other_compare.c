// SPDX-License-Identifier: GPL-2.0-only
/* The tree of the other driver, compared with the oracle. */
#include "other_parts.h"

static char why[256];

static const char *compare_node(struct other *other, const struct model *model, const struct other_object *obj,
				int number, u32 *ids);

static const char *compare_dir(struct other *other, const struct model *model, u32 id, int number, u32 *ids)
{
	for (int i = 0; i < MODEL_NAMES; i++) {
		int child = model->nodes[number].child[i];
		const struct other_object *obj;
		const char *differs;
		char name[8];

		model_name(name, i);
		obj = other_entry(other, id, name);
		if (!obj != (child < 0)) {
			snprintf(why, sizeof(why), "directory %u: %s is %s", id, name, obj ? "there" : "not there");
			return why;
		}
		if (!obj)
			continue;
		if (obj->is.type == RAW_HARDLINK)
			obj = other_object(other, obj->is.equivalent);
		differs = obj ? compare_node(other, model, obj, child, ids) : "a link leads nowhere";
		if (differs)
			return differs;
	}
	return NULL;
}

static const char *compare_node(struct other *other, const struct model *model, const struct other_object *obj,
				int number, u32 *ids)
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
		snprintf(why, sizeof(why), "object %u: size %" PRIu64 ", expected %" PRIu64, obj->id, obj->is.size,
			 node->size);
		return why;
	}
	data = malloc(node->size + 1);
	other_read(other, obj->id, 0, data, (u32)node->size);
	for (u64 at = 0; at < node->size; at++) {
		if (data[at] == node->data[at])
			continue;
		snprintf(why, sizeof(why), "object %u, size %" PRIu64 ": differs at %" PRIu64 ": %02x, not %02x",
			 obj->id, node->size, at, data[at], node->data[at]);
		free(data);
		return why;
	}
	free(data);
	return NULL;
}

const char *other_compare(struct other *other, const struct model *model)
{
	u32 ids[MODEL_NODES] = { 0 };

	return compare_dir(other, model, OTHER_ROOT, 0, ids);
}
