// SPDX-License-Identifier: GPL-2.0-only
/* The file system from outside, on a flash that keeps its user to the rules. */
#include "steps.h"

/* Random operations and remounts, whole trees compared after each remount */
static void run_against_oracle(const struct y2_geometry *geometry, const struct y2_options *options, u64 seed,
			       u32 steps)
{
	struct ram_flash *flash = ram_flash_new(geometry, seed);
	struct model *model = model_new();
	struct y2_fs *fs;
	u64 random = seed * 77 + 1;

	flash->bad[0] = flash->bad[5] = 1;
	fs = must_mount(flash, options);
	for (u32 i = 0; i < steps; i++) {
		struct step step = step_random(fs, model, &random, 20);
		const char *differs;

		CHECK_EQUAL(0, (u64)step.err);
		y2_gc_background(fs);
		if (i % 100)
			continue;
		if (ram_random(&random, 2)) {
			y2_abandon(fs);		/* the power fails between two operations: nothing is lost */
			fs = must_mount(flash, options);
		} else {
			fs = must_remount(fs, flash, options);
		}
		differs = model_compare(fs, model, NULL, -1);
		CHECKF(!differs, "after step %u: %s", i, differs);
	}
	y2_unmount(fs);
	model_free(model);
	ram_flash_free(flash);
}

static void random_operations_on_large_pages(void)
{
	run_against_oracle(&large_geometry, NULL, 1, 3000);
}

static void random_operations_on_small_pages(void)
{
	run_against_oracle(&small_geometry, NULL, 2, 3000);
}

static void random_operations_on_pages_of_512_bytes(void)
{
	run_against_oracle(&tiny_geometry, NULL, 6, 3000);
}

static void random_operations_with_inband_tags(void)
{
	struct y2_geometry geometry = large_geometry;

	geometry.oob_bytes = 0;
	run_against_oracle(&geometry, &(struct y2_options) { .inband_tags = true }, 3, 3000);
}

static void random_operations_without_helps(void)
{
	run_against_oracle(&large_geometry, &(struct y2_options) { .no_checkpoint = true, .no_summary = true }, 4,
			   3000);
	run_against_oracle(&large_geometry, &(struct y2_options) { .no_tags_ecc = true }, 5, 1000);
}

static void random_operations_with_deferred_erase(void)
{
	const struct y2_options options = { .deferred_erase = true };

	run_against_oracle(&large_geometry, &options, 7, 3000);
	run_against_oracle(&tiny_geometry, &options, 8, 3000);
}

/* Entries that get other names while the directory is read: each is met once */
static void readdir_ends_when_names_change(void)
{
	struct ram_flash *flash = ram_flash_new(&large_geometry, 1);
	struct y2_fs *fs = must_mount(flash, NULL);
	struct y2_object *dir = must_create(fs, fs->root, "dir", S_IFDIR | 0755);
	struct y2_entry entry;
	char name[Y2_NAME_MAX];
	u32 met = 0;

	for (u32 i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		must_create(fs, dir, name, S_IFREG | 0644);
	}
	for (u64 from = 0; y2_readdir(fs, dir, from, &entry, 1) == 1; from = entry.cookie + 1) {
		snprintf(name, sizeof(name), "g%u", met);
		CHECK_EQUAL(0, (u64)y2_rename(fs, must_find(fs, dir, entry.name), dir, name, (u32)strlen(name)));
		CHECK(++met <= 20);
	}
	CHECK_EQUAL(20, met);
	y2_unmount(fs);
	ram_flash_free(flash);
}

/* Two names of a file, of which the first goes; and a name that is replaced: the other is met once, wherever one is */
static void readdir_meets_once_what_takes_the_place_of_another(void)
{
	for (u32 at = 0; at < 4; at++) {
		struct ram_flash *flash = ram_flash_new(&large_geometry, 1);
		struct y2_fs *fs = must_mount(flash, NULL);
		struct y2_object *dir = must_create(fs, fs->root, "dir", S_IFDIR | 0755);
		struct y2_entry entries[8];
		u32 met_b = 0, met_c = 0;
		u64 from = 0;
		int count;

		CHECK_EQUAL(0, (u64)y2_link(fs, must_create(fs, dir, "a", S_IFREG | 0644), dir, "b", 1));
		must_create(fs, dir, "c", S_IFREG | 0644);
		must_create(fs, dir, "d", S_IFREG | 0644);
		for (u32 i = 0; (count = y2_readdir(fs, dir, from, entries, i == 0 && at ? (u32)at : 8)) > 0; i++) {
			for (int j = 0; j < count; j++) {
				met_b += !strcmp(entries[j].name, "b");
				met_c += !strcmp(entries[j].name, "c");
			}
			from = entries[count - 1].cookie + 1;
			if (i)
				continue;
			CHECK_EQUAL(0, (u64)y2_unlink(fs, must_find(fs, dir, "a")));
			CHECK_EQUAL(0, (u64)y2_rename(fs, must_find(fs, dir, "d"), dir, "c", 1));
		}
		CHECK_EQUAL(1, met_b);
		CHECK_EQUAL(1, met_c);
		y2_unmount(fs);
		ram_flash_free(flash);
	}
}

/* A file without name that was written to when the power went: none of it is ever found again */
static void what_was_written_without_a_name_is_gone(void)
{
	const struct y2_options scan = { .no_checkpoint = true };
	struct y2_geometry geometry = large_geometry;
	struct ram_flash *flash;
	struct y2_object *obj;
	struct y2_fs *fs;
	u32 block;

	geometry.blocks = 20;
	flash = ram_flash_new(&geometry, 1);
	fs = must_mount(flash, &scan);
	obj = must_create(fs, fs->root, "f", S_IFREG | 0644);
	obj->refs++;
	CHECK_EQUAL(0, (u64)y2_unlink(fs, obj));
	/* Beyond the end of the block that says "unlinked" */
	for (u32 i = 0; i < 2 * geometry.chunks_per_block; i++)
		CHECK_EQUAL(1, (u64)y2_write(fs, obj, 0, (const u8 *)"x", 1));
	block = (y2_index_get(&obj->index, 1) - 1) / geometry.chunks_per_block;
	y2_abandon(fs);
	fs = must_mount(flash, &scan);
	collect_all_but(fs, block);
	fs = must_remount(fs, flash, &scan);
	CHECK(list_empty(&fs->lost_and_found->children));
	y2_abandon(fs);
	ram_flash_free(flash);
}

static void readdir_goes_on_when_names_come_and_go(void)
{
	struct ram_flash *flash = ram_flash_new(&large_geometry, 1);
	struct y2_fs *fs = must_mount(flash, NULL);
	struct y2_object *dir = must_create(fs, fs->root, "dir", S_IFDIR | 0755), *obj;
	struct y2_entry entries[5];
	u32 seen[20] = { 0 };
	char name[8];
	u64 from = 0;
	int count;

	for (u32 i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		must_create(fs, dir, name, S_IFREG | 0644);
	}
	while ((count = y2_readdir(fs, dir, from, entries, 5)) > 0) {
		for (int i = 0; i < count; i++) {
			u32 number = (u32)atoi(entries[i].name + 1);

			if (entries[i].name[0] == 'f')
				seen[number]++;
			if (number % 2)
				continue;
			CHECK_EQUAL(0, (u64)y2_lookup(fs, dir, entries[i].name, (u32)strlen(entries[i].name), &obj));
			CHECK_EQUAL(0, (u64)y2_unlink(fs, obj));
		}
		from = entries[count - 1].cookie + 1;
	}
	for (u32 i = 0; i < 20; i++)
		CHECK_EQUAL(1, seen[i]);
	y2_unmount(fs);
	ram_flash_free(flash);
}

/* A truncation must hold although the older chunks are still on flash, also below a hole that is made later */
static void what_was_cut_off_does_not_come_back(void)
{
	const struct y2_options scan = { .no_checkpoint = true };
	struct ram_flash *flash = ram_flash_new(&large_geometry, 1);
	struct y2_fs *fs = must_mount(flash, &scan);
	struct y2_object *obj = must_create(fs, fs->root, "f", S_IFREG | 0644);
	u8 data[10000], back[60000];

	memset(data, 'x', sizeof(data));
	CHECK(y2_write(fs, obj, 0, data, 10000) == 10000);
	CHECK_EQUAL(0, (u64)y2_resize(fs, obj, 100));
	CHECK(y2_write(fs, obj, 50000, data, 10000) == 10000);
	y2_abandon(fs);
	fs = must_mount(flash, &scan);
	CHECK_EQUAL(0, (u64)y2_lookup(fs, fs->root, "f", 1, &obj));
	CHECK_EQUAL(60000, obj->size);
	CHECK(y2_read(fs, obj, 0, back, 60000) == 60000);
	for (u32 i = 0; i < 60000; i++)
		CHECK_EQUAL(i < 100 || i >= 50000 ? 'x' : 0, back[i]);
	y2_unmount(fs);
	ram_flash_free(flash);
}

static void sizes_beyond_4_gb(void)
{
	const struct y2_options scan = { .no_checkpoint = true };
	struct ram_flash *flash = ram_flash_new(&large_geometry, 1);
	struct y2_fs *fs = must_mount(flash, &scan);
	struct y2_object *obj = must_create(fs, fs->root, "f", S_IFREG | 0644);
	u8 back[4];

	CHECK(y2_write(fs, obj, 0, (const u8 *)"head", 4) == 4);
	CHECK(y2_write(fs, obj, 6000000000ull, (const u8 *)"tail", 4) == 4);
	CHECK_EQUAL(0, (u64)y2_flush(fs, obj));
	fs = must_remount(fs, flash, &scan);
	CHECK_EQUAL(0, (u64)y2_lookup(fs, fs->root, "f", 1, &obj));
	CHECK_EQUAL(6000000004ull, obj->size);
	CHECK(y2_read(fs, obj, 6000000000ull, back, 4) == 4);
	CHECK(!memcmp(back, "tail", 4));
	CHECK_EQUAL((u64)-EFBIG, (u64)y2_write(fs, obj, y2_file_max(fs), back, 1));
	y2_unmount(fs);
	ram_flash_free(flash);
}

/* A clean mount reads the checkpoint and little else; the first write makes it void; small devices have none */
static void checkpoints_save_the_scan(void)
{
	struct ram_flash *flash = ram_flash_new(&large_geometry, 1);
	struct y2_geometry small = large_geometry;
	struct y2_fs *fs = must_mount(flash, NULL);
	u64 scanned, restored;

	for (u32 i = 0; i < 500; i++) {
		char name[16];

		snprintf(name, sizeof(name), "file%u", i);
		must_create(fs, fs->root, name, S_IFREG | 0644);
	}
	y2_abandon(fs);
	fs = must_mount(flash, NULL);
	CHECK_EQUAL(0, fs->stats.checkpoint_mounts);
	scanned = fs->stats.pages_read;
	fs = must_remount(fs, flash, NULL);
	CHECK_EQUAL(1, fs->stats.checkpoint_mounts);
	restored = fs->stats.pages_read;
	CHECK(restored * 10 < scanned);
	y2_abandon(fs);
	fs = must_mount(flash, NULL);
	CHECK_EQUAL(1, fs->stats.checkpoint_mounts);
	must_create(fs, fs->root, "another", S_IFREG | 0644);
	y2_abandon(fs);
	fs = must_mount(flash, NULL);
	CHECK_EQUAL(0, fs->stats.checkpoint_mounts);
	y2_unmount(fs);
	ram_flash_free(flash);

	small.blocks = Y2_CHECKPOINT_MIN_BLOCKS - 1;
	flash = ram_flash_new(&small, 1);
	fs = must_mount(flash, NULL);
	must_create(fs, fs->root, "a", S_IFREG | 0644);
	fs = must_remount(fs, flash, NULL);
	CHECK_EQUAL(0, fs->stats.checkpoint_mounts);
	y2_unmount(fs);
	ram_flash_free(flash);
}

/* Read-only means that not one page or block changes */
static void read_only_writes_nothing(void)
{
	const struct y2_options read_only = { .read_only = true };
	struct ram_flash *flash = ram_flash_new(&large_geometry, 1);
	struct y2_fs *fs = must_mount(flash, NULL);
	struct y2_object *obj = must_create(fs, fs->root, "f", S_IFREG | 0644);
	u64 operations;

	y2_write(fs, obj, 0, (const u8 *)"abc", 3);
	y2_abandon(fs);
	operations = flash->operations;
	fs = must_mount(flash, &read_only);
	CHECK_EQUAL(0, (u64)y2_lookup(fs, fs->root, "f", 1, &obj));
	CHECK_EQUAL((u64)-EROFS, (u64)y2_write(fs, obj, 0, (const u8 *)"x", 1));
	CHECK_EQUAL((u64)-EROFS, (u64)y2_unlink(fs, obj));
	CHECK_EQUAL((u64)-EROFS, (u64)y2_resize(fs, obj, 0));
	CHECK_EQUAL(0, (u64)y2_unmount(fs));
	CHECK_EQUAL(operations, flash->operations);
	ram_flash_free(flash);
}

/*
 * Two copies of a chunk, as a cut leaves them: looked at without the right to write, then marked as soon as there is
 * one
 */
static void what_was_read_only_is_marked_later(void)
{
	const struct y2_options read_only = { .read_only = true };
	struct ram_flash *flash = ram_flash_new(&tiny_geometry, 1);
	struct y2_fs *fs = must_mount(flash, NULL);
	struct y2_object *file = must_create(fs, fs->root, "f", S_IFREG | 0644);
	u64 marks;
	u8 data[512];

	memset(data, 'a', sizeof(data));
	CHECK(y2_write(fs, file, 0, data, sizeof(data)) == sizeof(data));
	CHECK_EQUAL(0, (u64)y2_sync(fs, false));
	memset(data, 'b', sizeof(data));
	flash->cut_at = flash->operations + 2;		/* the program of the new, then the mark of the old */
	for (u32 seed = 1;; seed++) {
		/* Of the cut mark no bit may have reached the flash: the way that the seed gives */
		flash->random = seed;
		if (ram_random(&(u64) { seed }, 3) == 0)
			break;
	}
	y2_write(fs, file, 0, data, sizeof(data));
	CHECK(flash->off);
	y2_abandon(fs);
	ram_flash_power_on(flash);
	memset(flash->marked, 0, (size_t)tiny_geometry.blocks * tiny_geometry.chunks_per_block);
	marks = flash->marks;
	fs = must_mount(flash, &read_only);
	CHECK_EQUAL(0, (u64)y2_verify(fs));
	CHECK_EQUAL(marks, flash->marks);
	CHECK_EQUAL(0, (u64)y2_lookup(fs, fs->root, "f", 1, &file));
	CHECK(y2_read(fs, file, 0, data, sizeof(data)) == sizeof(data) && data[0] == 'b' && data[511] == 'b');
	CHECK_EQUAL(0, (u64)y2_set_read_only(fs, false));
	CHECK_EQUAL(marks + 1, flash->marks);
	fs = must_remount(fs, flash, NULL);
	CHECK_EQUAL(0, fs->stats.pages_marked);
	y2_unmount(fs);
	ram_flash_free(flash);
}

/* A file with another name there takes it when it loses its own: the list changes while it is gone through */
static void lost_and_found_is_emptied_of_links(void)
{
	const struct y2_options options = { .empty_lost_and_found = true };
	struct ram_flash *flash = ram_flash_new(&large_geometry, 1);
	struct y2_fs *fs = must_mount(flash, NULL);
	struct y2_object *dir = must_create(fs, fs->lost_and_found, "d", S_IFDIR | 0755);
	struct y2_object *file = must_create(fs, fs->lost_and_found, "f", S_IFREG | 0644);
	struct y2_entry entries[4];

	must_create(fs, dir, "keeps it", S_IFREG | 0644);
	CHECK_EQUAL(0, (u64)y2_link(fs, file, fs->lost_and_found, "a", 1));
	fs = must_remount(fs, flash, &options);
	CHECK_EQUAL(1, (u64)y2_readdir(fs, fs->lost_and_found, 0, entries, 4));
	CHECK(!strcmp(entries[0].name, "d"));
	y2_unmount(fs);
	ram_flash_free(flash);
}

const struct test fs_tests[] = {
	TEST(random_operations_on_large_pages), TEST(random_operations_on_small_pages),
	TEST(random_operations_on_pages_of_512_bytes), TEST(what_was_read_only_is_marked_later),
	TEST(random_operations_with_inband_tags), TEST(random_operations_without_helps),
	TEST(random_operations_with_deferred_erase), TEST(what_was_written_without_a_name_is_gone),
	TEST(readdir_ends_when_names_change), TEST(readdir_meets_once_what_takes_the_place_of_another),
	TEST(readdir_goes_on_when_names_come_and_go), TEST(what_was_cut_off_does_not_come_back),
	TEST(sizes_beyond_4_gb),
	TEST(checkpoints_save_the_scan), TEST(read_only_writes_nothing),
	TEST(lost_and_found_is_emptied_of_links), END_OF_TESTS,
};
