// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our core and another driver by turns on one flash: alternate [-g tiny|large|huge] [-i] [-c] SEED ALTERNATIONS. An
 * alternation is a turn of each: mounts, compares the whole tree with the oracle, runs some operations, ends. -i:
 * in-band tags; -c: in some turns the power fails, after which ours mounts first and must find each operation done or
 * not.
 */
#include <unistd.h>

#include "other.h"
#include "steps.h"

#define CHUNKS	24u	/* into a file, about */

struct run {
	struct ram_flash *flash;
	bool inband, cuts;
	struct model *model;
	u64 random, steps[2], full, cut, gaps, collected, links_kept;
};

static void fail(const struct run *run, const char *whose, const char *what, const char *differs)
{
	check_failed(__FILE__, __LINE__, "%s, after \"%s\" (%" PRIu64 " and %" PRIu64 " steps): %s", whose, what,
		     run->steps[0], run->steps[1], differs);
}

/* ---- the other's operations ---- */

static u32 id_of(struct other *other, const struct model *model, int number)
{
	for (int dir = 0; number && dir < MODEL_NODES; dir++) {
		for (int i = 0; model->nodes[dir].used && model->nodes[dir].is_dir && i < MODEL_NAMES; i++) {
			char name[8];

			model_name(name, i);
			if (model->nodes[dir].child[i] == number)
				return other_find(other, id_of(other, model, dir), name);
		}
	}
	return 1;
}

static void create(struct other *other, struct model *model, u64 *random, struct step *step)
{
	static const u32 modes[] = { S_IFREG, S_IFREG, S_IFREG, S_IFDIR, S_IFLNK, S_IFIFO };
	u32 mode = modes[ram_random(random, 6)] | ram_random(random, 0777);
	struct raw_header how = { .mode = mode, .type = RAW_FILE };
	struct step_place place;
	char name[8];
	int node;

	step->what = "the other's create";
	if (!step_place(model, random, false, &place))
		return;
	node = model_new_node(model, mode);
	if (node < 0)
		return;
	if (S_ISDIR(mode))
		how.type = RAW_DIRECTORY;
	else if (S_ISFIFO(mode))
		how.type = RAW_SPECIAL;
	else if (S_ISLNK(mode)) {
		how.type = RAW_SYMLINK;
		snprintf(how.alias, sizeof(how.alias), "target%u", ram_random(random, 100000));
		strcpy(model->nodes[node].target, how.alias);
	}
	model_name(name, place.slot);
	model->nodes[place.dir].child[place.slot] = node;
	step->err = other_create(other, id_of(other, model, place.dir), name, &how);
}

static void link_one(struct other *other, struct model *model, u64 *random, struct step *step)
{
	struct raw_header how = { .type = RAW_HARDLINK };
	struct step_place from, to;
	char name[8];

	step->what = "the other's link";
	if (!step_file(model, random, &from) || !step_place(model, random, false, &to))
		return;
	how.equivalent = id_of(other, model, from.node);
	how.mode = model->nodes[from.node].mode;
	model_name(name, to.slot);
	step->err = other_create(other, id_of(other, model, to.dir), name, &how);
	model->nodes[to.dir].child[to.slot] = from.node;
	model->nodes[from.node].links++;
}

static void write_file(struct run *run, struct other *other, struct model *model, u64 *random, struct step *step)
{
	u32 chunk = run->flash->geometry.page_bytes, length = 1 + ram_random(random, 3 * chunk);
	struct step_place place;
	struct node *node;
	u64 offset;
	u8 *data;

	step->what = "the other's write";
	if (!step_file(model, random, &place))
		return;
	node = &model->nodes[place.node];
	offset = ram_random(random, 3) ? ram_random(random, CHUNKS * chunk) : node->size;
	data = malloc(length);
	step_fill(data, length, random);
	step->loose = place.node;
	step->err = other_write(other, id_of(other, model, place.node), offset, data, length);
	if (offset + length > node->size)
		model_resize(node, offset + length);
	memcpy(node->data + offset, data, length);
	free(data);
}

static void truncate_file(struct run *run, struct other *other, struct model *model, u64 *random, struct step *step)
{
	struct step_place place;
	struct node *node;
	u64 size;

	step->what = "the other's truncation";
	if (!step_file(model, random, &place))
		return;
	node = &model->nodes[place.node];
	size = ram_random(random, 3) ? ram_random(random, (u32)node->size + 1) :
				       ram_random(random, CHUNKS * run->flash->geometry.page_bytes);
	step->loose = place.node;
	step->err = other_truncate(other, id_of(other, model, place.node), size);
	model_resize(node, size);
}

static bool is_empty(const struct model *model, int number)
{
	for (int i = 0; model->nodes[number].is_dir && i < MODEL_NAMES; i++)
		if (model->nodes[number].child[i] >= 0)
			return false;
	return true;
}

static void unlink_one(struct other *other, struct model *model, u64 *random, struct step *step)
{
	struct step_place place;
	char name[8];

	step->what = "the other's unlink";
	if (!step_place(model, random, true, &place) || !is_empty(model, place.node))
		return;
	model_name(name, place.slot);
	step->err = other_unlink(other, id_of(other, model, place.dir), name);
	model->nodes[place.dir].child[place.slot] = -1;
	model_drop_link(model, place.node);
}

static void rename_one(struct run *run, struct other *other, struct model *model, u64 *random, struct step *step)
{
	struct step_place from, to;
	char name[8], new_name[8];

	step->what = "the other's rename";
	if (!step_place(model, random, true, &from) || !step_place(model, random, ram_random(random, 4), &to))
		return;
	if ((model->nodes[from.node].is_dir && step_is_above(model, from.node, to.dir)) || from.node == to.node)
		return;
	if (to.node >= 0 &&
	    (model->nodes[to.node].is_dir != model->nodes[from.node].is_dir || !is_empty(model, to.node)))
		return;
	run->links_kept += to.node >= 0 && model->nodes[to.node].links > 1;
	model_name(name, from.slot);
	model_name(new_name, to.slot);
	step->err = other_rename(other, id_of(other, model, from.dir), name, id_of(other, model, to.dir), new_name);
	model->nodes[from.dir].child[from.slot] = -1;
	model->nodes[to.dir].child[to.slot] = from.node;
	if (to.node >= 0)
		model_drop_link(model, to.node);
}

static struct step step_of_other(struct run *run, struct other *other, struct model *model, u64 *random)
{
	struct step step = { .what = "nothing", .loose = -1 };

	switch (ram_random(random, 16)) {
	case 0 ... 2:
		create(other, model, random, &step);
		break;
	case 3 ... 7:
		write_file(run, other, model, random, &step);
		break;
	case 8 ... 10:
		truncate_file(run, other, model, random, &step);
		break;
	case 11:
		unlink_one(other, model, random, &step);
		break;
	case 12 ... 13:
		rename_one(run, other, model, random, &step);
		break;
	default:
		link_one(other, model, random, &step);
	}
	return step;
}

/* ---- turns ---- */

static struct y2_options options_of(struct run *run)
{
	return (struct y2_options) { .inband_tags = run->inband, .no_summary = !ram_random(&run->random, 4) };
}

static struct y2_fs *mount_ours(struct run *run)
{
	const struct y2_options options = options_of(run);
	struct y2_fs *fs = must_mount(run->flash, &options);

	CHECK_EQUAL(0, (u64)y2_verify(fs));
	return fs;
}

static void may_cut(struct run *run)
{
	ram_flash_power_on(run->flash);
	if (run->cuts && !ram_random(&run->random, 3))
		run->flash->cut_at = run->flash->operations + 1 + ram_random(&run->random, 60);
}

/* The operation at hand is done or not: the model becomes what is there */
static void after_cut(struct run *run, struct model *before, const struct step *step)
{
	const char *as_before, *as_after = NULL;
	struct y2_fs *fs;

	run->cut++;
	ram_flash_power_on(run->flash);
	fs = mount_ours(run);
	as_before = model_compare(fs, before, NULL, -1);
	if (!as_before) {
		struct model *after = run->model;

		run->model = model_copy(before);
		model_free(after);
	} else {
		char *kept = strdup(as_before);

		as_after = model_compare(fs, run->model, before, step->loose);
		if (as_after)
			fprintf(stderr, "  as before the cut: %s\n", kept);
		if (as_after)
			fail(run, "after a cut", step->what, as_after);
		free(kept);
		if (step->loose >= 0)
			model_take_data(fs, run->model, step->loose, model_find(fs, run->model, step->loose));
	}
	y2_abandon(fs);
}

/* What could not be done for want of space is not done at all, or is loose */
static void not_done(struct run *run, const struct model *before)
{
	run->full++;
	model_free(run->model);
	run->model = model_copy(before);
}

static void turn_of_ours(struct run *run, const char *last)
{
	struct step step = { .what = last, .loose = -1 };
	struct model *before = model_copy(run->model);
	struct y2_fs *fs = mount_ours(run);
	const char *differs = model_compare(fs, run->model, NULL, -1);

	if (differs)
		fail(run, "ours finds", last, differs);
	may_cut(run);
	for (u32 left = 1 + ram_random(&run->random, 8); left && !run->flash->off; left--) {
		model_free(before);
		before = model_copy(run->model);
		step = step_random(fs, run->model, &run->random, CHUNKS);
		run->steps[0]++;
		if (run->flash->off || !step.err)
			continue;
		CHECK(step.err == -ENOSPC);
		if (step.loose >= 0)
			model_take_data(fs, run->model, step.loose, model_find(fs, run->model, step.loose));
		else
			not_done(run, before);
	}
	if (!run->flash->off) {
		model_free(before);
		before = model_copy(run->model);
		step = (struct step) { .what = "the end of our turn", .loose = -1 };
		while (y2_gc_background(fs) == 1 && !run->flash->off)
			;
	}
	if (run->flash->off || !ram_random(&run->random, 3))
		y2_abandon(fs);
	else
		y2_unmount(fs);
	if (run->flash->off)
		after_cut(run, before, &step);
	model_free(before);
}

/*
 * Power cuts only with drivers since March 2010: the headers that older ones copy lose, on all drivers, what a file had
 * before them and no header tells of yet
 */
static enum other_driver driver_of(struct run *run)
{
	if (run->cuts)
		return ram_random(&run->random, 3) ? OTHER_TODAY : OTHER_JUNE_2010;
	return (enum other_driver)ram_random(&run->random, 3);
}

static const char *turn_of_other(struct run *run)
{
	struct step step = { .what = "nothing", .loose = -1 };
	struct model *before = model_copy(run->model);
	struct other *other;
	const char *differs;

	ram_flash_power_on(run->flash);
	other = other_mount(run->flash, run->inband, driver_of(run));
	differs = other_compare(other, run->model);
	if (differs)
		fail(run, "the other finds", "our turn", differs);
	may_cut(run);
	for (u32 left = 1 + ram_random(&run->random, 8); left && !run->flash->off; left--) {
		model_free(before);
		before = model_copy(run->model);
		step = step_of_other(run, other, run->model, &run->random);
		run->steps[1]++;
		if (!run->flash->off && step.err)
			not_done(run, before);
	}
	if (!run->flash->off) {
		model_free(before);
		before = model_copy(run->model);
	}
	run->gaps += other_counts(other).gaps;
	run->collected += other_counts(other).collected;
	other_unmount(other);
	if (run->flash->off)
		after_cut(run, before, &step);
	model_free(before);
	return step.what;
}

int main(int argc, char **argv)
{
	struct y2_geometry geometry = { .page_bytes = 2048, .oob_bytes = 38, .chunks_per_block = 16, .blocks = 64 };
	struct run run = { .inband = false };
	const char *last = "nothing";
	u64 alternations;
	int option;

	while ((option = getopt(argc, argv, "g:ic")) != -1) {
		if (option == 'g' && !strcmp(optarg, "tiny"))
			geometry = (struct y2_geometry) {
				.page_bytes = 512, .oob_bytes = 8, .chunks_per_block = 32, .blocks = 48,
			};
		if (option == 'g' && !strcmp(optarg, "huge"))
			geometry.page_bytes = 4096;
		run.inband |= option == 'i';
		run.cuts |= option == 'c';
	}
	CHECK(optind + 2 == argc);
	y2_quiet = true;
	run.random = strtoull(argv[optind], NULL, 0) * 2654435761u + 12345;
	alternations = strtoull(argv[optind + 1], NULL, 0);
	run.flash = ram_flash_new(&geometry, run.random);
	run.flash->bad[3] = run.flash->bad[7] = 1;
	run.model = model_new();
	for (u64 i = 0; i < alternations; i++) {
		turn_of_ours(&run, last);
		last = turn_of_other(&run);
	}
	printf("%" PRIu64 " alternations: %" PRIu64 " steps of ours, %" PRIu64 " of the other, %" PRIu64 " cuts, "
	       "%" PRIu64 " without room, %" PRIu64 " renames over one of several links, %" PRIu64 " "
	       "gaps in summaries, %" PRIu64 " blocks collected by the other\n",
	       alternations, run.steps[0], run.steps[1], run.cut, run.full, run.links_kept, run.gaps, run.collected);
	model_free(run.model);
	ram_flash_free(run.flash);
	return 0;
}
