// SPDX-License-Identifier: GPL-2.0-only
/*
 * Power cuts against the oracle: cuts [-g tiny|small|large] [-d] [-i] [-f] [-n] [-s] SEED ROUNDS. A round runs
 * random operations until the power fails in the midst of one, mounts again and compares whole trees: all that had
 * returned is there, the operation at hand is done or not. -d: deferred erases; -i: in-band tags; -f: also failing
 * blocks, in half of the rounds without bad marks, and flipped bits; -n: no checkpoint; -s: no summary. One kind of
 * torn page may pass, up to a share of the cuts: see torn_last.h.
 */
#include <unistd.h>

#include "steps.h"
#include "torn_last.h"

/* At most one torn last page in so many cuts, and one more; measured: 1 in 20,000 */
#define TORN_LAST_PART	2000u

struct run {
	struct ram_flash *flash;
	struct y2_options options;
	struct model *model;
	u64 random, steps, cuts, torn_erases, in_write, in_mount, ops_that_stayed;
	u64 gc_blocks, intents, checkpoints, summaries, torn_last, read_only;
	u32 chunks;
};

struct differs {
	char before[256], after[256];
};

static void fail(const struct run *run, const struct step *step, const struct differs *why)
{
	check_failed(__FILE__, __LINE__,
		     "after a cut in \"%s\" (round %" PRIu64 ", torn erase %d):\n"
		     "  against before: %s\n  against after: %s",
		     step->what, run->cuts, run->flash->torn_erase, why->before, why->after);
}

static void note(struct run *run, const struct y2_fs *fs)
{
	run->gc_blocks += fs->stats.gc_blocks;
	run->intents += fs->stats.erase_intents;
	run->checkpoints += fs->stats.checkpoint_mounts;
	run->summaries += fs->stats.summaries_used;
}

/* Mounts, sometimes with another cut in the mount itself */
static struct y2_fs *mount_again(struct run *run)
{
	struct y2_fs *fs;

	while (!ram_random(&run->random, 6)) {
		struct ram_flash *flash = run->flash;
		bool torn_erase = flash->torn_erase;
		int err;

		ram_flash_power_on(flash);
		flash->torn_erase = torn_erase;
		flash->cut_at = flash->operations + 1 + ram_random(&run->random, 3);
		err = y2_mount(&fs, &flash->geometry, &ram_flash_ops, flash, &run->options, test_now);
		if (!err)
			y2_abandon(fs);
		ram_flash_forget_failed_marks(flash);
		run->in_mount += flash->off;
	}
	run->flash->off = false;
	run->flash->cut_at = 0;
	fs = must_mount(run->flash, &run->options);
	return fs;
}

/* The tree is as before the operation at hand or as after it, and the model follows; else why tells the difference */
static bool is_as_it_may(struct run *run, struct y2_fs *fs, const struct model *before, const struct step *step,
			 struct differs *why)
{
	const char *differs = model_compare(fs, before, NULL, -1);

	if (!differs) {
		model_free(run->model);
		run->model = model_copy(before);
		return true;
	}
	snprintf(why->before, sizeof(why->before), "%s", differs);
	differs = model_compare(fs, run->model, before, step->loose);
	if (differs) {
		snprintf(why->after, sizeof(why->after), "%s", differs);
		return false;
	}
	run->ops_that_stayed++;
	if (step->loose >= 0)
		model_take_data(fs, run->model, step->loose, model_find(fs, run->model, step->loose));
	return true;
}

/* Such a page is there, and it alone makes the tree wrong: with it the tree is, without it is not */
static bool is_torn_last(struct run *run, const struct ram_flash *at_cut, const struct model *before,
			 const struct step *step)
{
	bool as_it_may[2];

	for (u32 without = 0; without < 2; without++) {
		struct ram_flash *flash = ram_flash_copy(at_cut);
		struct run other = *run;
		struct differs why;
		struct y2_fs *fs;

		flash->off = false;
		flash->cut_at = 0;
		if (!torn_last_is_there(flash)) {
			ram_flash_free(flash);
			return false;
		}
		if (without)
			torn_last_take_out(flash);
		other.model = model_copy(run->model);
		fs = must_mount(flash, &run->options);
		as_it_may[without] = is_as_it_may(&other, fs, before, step, &why);
		model_free(other.model);
		y2_abandon(fs);
		ram_flash_free(flash);
	}
	return !as_it_may[0] && as_it_may[1];
}

/* Goes on with the flash as the cut has left it, that page taken out */
static struct y2_fs *go_on_without(struct run *run, struct ram_flash **at_cut, const struct model *before,
				   const struct step *step)
{
	struct ram_flash *flash = run->flash;
	struct differs why;
	struct y2_fs *fs;

	run->flash = *at_cut;
	*at_cut = flash;
	run->flash->off = false;
	run->flash->cut_at = 0;
	torn_last_take_out(run->flash);
	fs = must_mount(run->flash, &run->options);
	CHECK(is_as_it_may(run, fs, before, step, &why));
	run->torn_last++;
	return fs;
}

/* Mounts anew what is unmounted in peace; NULL if the power fails meanwhile */
static struct y2_fs *remount(struct run *run, struct y2_fs *fs)
{
	note(run, fs);
	if (y2_unmount(fs))
		run->flash->off = true;
	if (run->flash->off)
		return NULL;
	/* As before a cut: the last page of a block that is not full must not fade (docs/yaffs2.md, Limits) */
	run->flash->newest = RAM_NO_PAGE;
	fs = must_mount(run->flash, &run->options);
	/* A checkpoint is not believed that calls a block dead which could not be marked bad */
	CHECK(run->options.no_checkpoint || run->flash->fail_bad_marks || fs->stats.checkpoint_mounts == 1);
	return fs;
}

/* There was no room for a step: it has changed nothing, but for the data that it may have written in part */
static void take_what_had_room(struct run *run, struct y2_fs *fs, const struct model *before, const struct step *step)
{
	CHECK(step->err == -ENOSPC);
	if (step->loose >= 0) {
		struct y2_object *obj = model_find(fs, run->model, step->loose);

		CHECK(!model_compare(fs, run->model, before, step->loose));
		model_take_data(fs, run->model, step->loose, obj);
	} else {
		model_free(run->model);
		run->model = model_copy(before);
		CHECK(!model_compare(fs, run->model, NULL, -1));
	}
}

/* Runs operations until the power fails; the step is the last one, and what is returned the model before it */
static struct model *run_until_cut(struct run *run, struct step *step)
{
	struct y2_fs *fs = mount_again(run);
	struct model *before = NULL;

	*step = (struct step) { .what = "mount", .loose = -1 };
	ram_flash_power_on(run->flash);
	run->flash->cut_at = run->flash->operations + 1 +
			     ram_random(&run->random, ram_random(&run->random, 2) ? 60 : 900);
	while (!run->flash->off) {
		if (before)
			model_free(before);
		before = model_copy(run->model);
		if (!ram_random(&run->random, 300)) {
			*step = (struct step) { .what = "unmount", .loose = -1 };
			fs = remount(run, fs);
			continue;
		}
		*step = step_random(fs, run->model, &run->random, run->chunks);
		run->steps++;
		if (fs->failed && !run->flash->off) {
			run->read_only++;
			run->flash->off = true;
		}
		if (!run->flash->off && step->err)
			take_what_had_room(run, fs, before, step);
	}
	if (fs) {
		note(run, fs);
		y2_abandon(fs);
	}
	return before;
}

/* One cut; the model ends as what was found after it */
static void round_of_cut(struct run *run)
{
	struct step step;
	struct model *before = run_until_cut(run, &step);
	struct ram_flash *at_cut;
	struct differs why;
	struct y2_fs *fs;

	run->cuts++;
	run->torn_erases += run->flash->torn_erase;
	run->in_write += step.loose >= 0;
	at_cut = ram_flash_copy(run->flash);
	fs = mount_again(run);
	CHECK_EQUAL(0, (u64)y2_verify(fs));
	if (!is_as_it_may(run, fs, before, &step, &why)) {
		if (!is_torn_last(run, at_cut, before, &step))
			fail(run, &step, &why);
		y2_abandon(fs);
		fs = go_on_without(run, &at_cut, before, &step);
	}
	model_free(before);
	ram_flash_free(at_cut);
	note(run, fs);
	y2_abandon(fs);
	ram_flash_forget_failed_marks(run->flash);
}

int main(int argc, char **argv)
{
	struct run run = { .chunks = 24 };
	struct y2_geometry geometry = large_geometry;
	bool faults = false;
	u64 seed, rounds;
	int option;

	while ((option = getopt(argc, argv, "dg:ifns")) != -1) {
		if (option == 'g')
			geometry = !strcmp(optarg, "tiny")  ? tiny_geometry :
				   !strcmp(optarg, "small") ? small_geometry : large_geometry;
		run.options.deferred_erase |= option == 'd';
		run.options.inband_tags |= option == 'i';
		run.options.no_checkpoint |= option == 'n';
		run.options.no_summary |= option == 's';
		faults |= option == 'f';
	}
	CHECK(optind + 2 == argc);
	seed = strtoull(argv[optind], NULL, 0);
	rounds = strtoull(argv[optind + 1], NULL, 0);
	/* Small enough that the collection works hard, large enough for checkpoints */
	geometry.blocks = run.options.no_checkpoint ? 20 : 64;
	geometry.chunks_per_block = 16;
	y2_quiet = true;
	run.flash = ram_flash_new(&geometry, seed);
	run.flash->bad[3] = run.flash->bad[7] = 1;
	run.random = seed * 2654435761u + 12345;
	run.model = model_new();
	while (run.cuts < rounds) {
		run.flash->flip_per_million = faults ? 2000 : 0;
		run.flash->fail_program_per_million = faults && run.flash->failures < geometry.blocks / 8 ? 50 : 0;
		run.flash->fail_erase_per_million = faults && run.flash->failures < geometry.blocks / 8 ? 500 : 0;
		run.flash->fail_bad_marks = faults && ram_random(&run.random, 2);
		round_of_cut(&run);
	}
	printf("seed %" PRIu64 ": %" PRIu64 " cuts (%" PRIu64 " in erases, %" PRIu64 " in writes, %" PRIu64
	       " more in mounts), %" PRIu64 " steps, %" PRIu64 " blocks collected, %" PRIu64 " erase intents, %" PRIu64
	       " checkpoint mounts, %" PRIu64 " summaries used, %" PRIu64 " of %" PRIu64 " marks again, %" PRIu64
	       " torn last pages, %" PRIu64 " times read-only\n",
	       seed, run.cuts, run.torn_erases, run.in_write, run.in_mount, run.steps, run.gc_blocks, run.intents,
	       run.checkpoints, run.summaries, run.flash->marks_again, run.flash->marks, run.torn_last,
	       run.read_only);
	CHECK(run.torn_last <= 1 + run.cuts / TORN_LAST_PART);
	model_free(run.model);
	ram_flash_free(run.flash);
	return 0;
}
