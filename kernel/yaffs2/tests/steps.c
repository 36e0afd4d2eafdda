// SPDX-License-Identifier: GPL-2.0-only
/* Random operations, made on the file system and on the oracle. */
#include "steps.h"

bool step_is_above(const struct model *model, int above, int node)
{
	for (int i = 0; i < MODEL_NAMES; i++) {
		int child = model->nodes[above].child[i];

		if (child == node || (child > 0 && model->nodes[child].is_dir && step_is_above(model, child, node)))
			return true;
	}
	return above == node;
}

static int random_dir(const struct model *model, u64 *random)
{
	for (;;) {
		int i = (int)ram_random(random, MODEL_NODES);

		if (model->nodes[i].used && model->nodes[i].is_dir)
			return i;
	}
}

bool step_place(const struct model *model, u64 *random, bool occupied, struct step_place *place)
{
	for (int tries = 0; tries < 50; tries++) {
		place->dir = random_dir(model, random);
		place->slot = (int)ram_random(random, MODEL_NAMES);
		place->node = model->nodes[place->dir].child[place->slot];
		if ((place->node >= 0) == occupied)
			return true;
	}
	return false;
}

bool step_file(const struct model *model, u64 *random, struct step_place *place)
{
	for (int tries = 0; tries < 20; tries++)
		if (step_place(model, random, true, place) && S_ISREG(model->nodes[place->node].mode))
			return true;
	return false;
}

static struct y2_object *entry_at(struct y2_fs *fs, const struct model *model, const struct step_place *place, int *err)
{
	struct y2_object *dir = model_find(fs, model, place->dir), *entry = NULL;
	char name[8];

	model_name(name, place->slot);
	*err = y2_lookup(fs, dir, name, (u32)strlen(name), &entry);
	return entry;
}

static void create(struct y2_fs *fs, struct model *model, u64 *random, struct step *step)
{
	static const u32 modes[] = { S_IFREG, S_IFREG, S_IFREG, S_IFREG, S_IFDIR, S_IFLNK, S_IFCHR, S_IFIFO };
	u32 mode = modes[ram_random(random, 8)] | ram_random(random, 0777);
	struct y2_new how = { .mode = mode, .rdev = S_ISCHR(mode) ? ram_random(random, 1000) : 0 };
	struct y2_object *obj, *dir;
	struct step_place place;
	char name[8], target[24];
	int node;

	step->what = "create";
	if (!step_place(model, random, false, &place))
		return;
	dir = model_find(fs, model, place.dir);
	node = model_new_node(model, mode);
	if (node < 0)
		return;
	snprintf(target, sizeof(target), "target%u", ram_random(random, 100000));
	if (S_ISLNK(mode)) {
		how.alias = target;
		strcpy(model->nodes[node].target, target);
	}
	model->nodes[node].rdev = how.rdev;
	model_name(name, place.slot);
	model->nodes[place.dir].child[place.slot] = node;
	step->err = y2_create(fs, dir, name, (u32)strlen(name), &how, &obj);
}

void step_fill(u8 *data, u32 length, u64 *random)
{
	u32 tag = ram_random(random, 0xffffffff);

	for (u32 i = 0; i < length; i++)
		data[i] = (u8)(tag >> (i % 4 * 8)) ^ (u8)(i >> 2);
}

static void write_file(struct y2_fs *fs, struct model *model, u64 *random, u32 chunks, struct step *step)
{
	u32 length = 1 + ram_random(random, ram_random(random, 4) ? 3 * fs->chunk_bytes : 12 * fs->chunk_bytes);
	struct y2_object *obj;
	struct step_place place;
	struct node *node;
	u64 offset;
	u8 *data;
	int got;

	step->what = "write";
	if (!step_file(model, random, &place))
		return;
	node = &model->nodes[place.node];
	switch (ram_random(random, 4)) {
	case 0:
		offset = node->size;
		break;
	case 1:
		offset = ram_random(random, chunks) * (u64)fs->chunk_bytes;
		break;
	default:
		offset = ram_random(random, chunks * fs->chunk_bytes);
	}
	obj = model_find(fs, model, place.node);
	data = malloc(length);
	step_fill(data, length, random);
	if (offset + length > node->size)
		model_resize(node, offset + length);
	memcpy(node->data + offset, data, length);
	step->loose = place.node;
	got = y2_write(fs, obj, offset, data, length);
	step->err = got == (int)length ? 0 : got < 0 ? got : -ENOSPC;
	free(data);
}

static void resize(struct y2_fs *fs, struct model *model, u64 *random, u32 chunks, struct step *step)
{
	struct step_place place;
	u64 size;

	step->what = "resize";
	if (!step_file(model, random, &place))
		return;
	size = ram_random(random, 3) ? ram_random(random, (u32)model->nodes[place.node].size + 1) :
				       ram_random(random, chunks * fs->chunk_bytes);
	step->err = y2_resize(fs, model_find(fs, model, place.node), size);
	model_resize(&model->nodes[place.node], size);
}

static void unlink_one(struct y2_fs *fs, struct model *model, u64 *random, struct step *step)
{
	struct y2_object *entry, *held = NULL;
	struct step_place place;
	int err;

	step->what = "unlink";
	if (!step_place(model, random, true, &place))
		return;
	if (model->nodes[place.node].is_dir)
		for (int i = 0; i < MODEL_NAMES; i++)
			if (model->nodes[place.node].child[i] >= 0)
				return;
	entry = entry_at(fs, model, &place, &err);
	model->nodes[place.dir].child[place.slot] = -1;
	model_drop_link(model, place.node);
	step->err = err;
	if (err)
		return;
	if (entry->type == Y2_FILE && list_empty(&entry->links) && !ram_random(random, 3)) {
		held = entry;
		held->refs++;
	}
	step->err = y2_unlink(fs, entry);
	if (!held)
		return;
	if (!step->err && ram_random(random, 2))
		y2_write(fs, held, ram_random(random, 4 * fs->chunk_bytes), (const u8 *)"still open", 10);
	y2_object_put(fs, held);
}

static void rename_one(struct y2_fs *fs, struct model *model, u64 *random, struct step *step)
{
	struct y2_object *entry, *dir;
	struct step_place from, to;
	char name[8];
	int err;

	step->what = "rename";
	if (!step_place(model, random, true, &from) || !step_place(model, random, ram_random(random, 2), &to))
		return;
	if (model->nodes[from.node].is_dir && step_is_above(model, from.node, to.dir))
		return;
	if (from.node == to.node)
		return;
	if (to.node >= 0) {
		if (model->nodes[to.node].is_dir != model->nodes[from.node].is_dir)
			return;
		for (int i = 0; model->nodes[to.node].is_dir && i < MODEL_NAMES; i++)
			if (model->nodes[to.node].child[i] >= 0)
				return;
	}
	entry = entry_at(fs, model, &from, &err);
	dir = model_find(fs, model, to.dir);
	model_name(name, to.slot);
	model->nodes[from.dir].child[from.slot] = -1;
	model->nodes[to.dir].child[to.slot] = from.node;
	if (to.node >= 0)
		model_drop_link(model, to.node);
	step->err = err ? err : y2_rename(fs, entry, dir, name, (u32)strlen(name));
}

static void link_one(struct y2_fs *fs, struct model *model, u64 *random, struct step *step)
{
	struct y2_object *target, *dir;
	struct step_place from, to;
	char name[8];

	step->what = "link";
	if (!step_file(model, random, &from) || !step_place(model, random, false, &to))
		return;
	target = model_find(fs, model, from.node);
	dir = model_find(fs, model, to.dir);
	model_name(name, to.slot);
	model->nodes[to.dir].child[to.slot] = from.node;
	model->nodes[from.node].links++;
	step->err = y2_link(fs, target, dir, name, (u32)strlen(name));
}

static void change_mode(struct y2_fs *fs, struct model *model, u64 *random, struct step *step)
{
	struct y2_object *obj;
	struct step_place place;
	u32 old;

	step->what = "mode";
	if (!step_place(model, random, true, &place))
		return;
	obj = model_find(fs, model, place.node);
	step->err = y2_object_load(fs, obj);
	old = obj->mode;
	obj->mode = model->nodes[place.node].mode = (old & S_IFMT) | ram_random(random, 0777);
	y2_mark_dirty(fs, obj);
	if (!step->err)
		step->err = y2_flush(fs, obj);
}

struct step step_random(struct y2_fs *fs, struct model *model, u64 *random, u32 chunks)
{
	struct step step = { .what = "nothing", .loose = -1 };

	switch (ram_random(random, 20)) {
	case 0 ... 3:
		create(fs, model, random, &step);
		break;
	case 4 ... 10:
		write_file(fs, model, random, chunks, &step);
		break;
	case 11 ... 12:
		resize(fs, model, random, chunks, &step);
		break;
	case 13 ... 14:
		unlink_one(fs, model, random, &step);
		break;
	case 15 ... 16:
		rename_one(fs, model, random, &step);
		break;
	case 17:
		link_one(fs, model, random, &step);
		break;
	case 18:
		change_mode(fs, model, random, &step);
		break;
	default:
		step.what = "sync";
		step.err = y2_sync(fs, ram_random(random, 2));
	}
	return step;
}
