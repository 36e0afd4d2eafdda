// SPDX-License-Identifier: GPL-2.0-only
/* What changes names while writes fail: the change is whole or has not happened, and no name is there twice. */
#include "test.h"

/* Writes of pages that still work; WRITES_WORK: all do */
#define WRITES_WORK	0xffffffffu
static u32 writes_left = WRITES_WORK;

static int write_some(void *context, u32 block, u32 page, const u8 *data, const u8 *oob)
{
	struct ram_flash *flash = context;
	int err;

	flash->fail_program_per_million = data && !writes_left ? 1000000 : 0;
	err = ram_flash_ops.write(flash, block, page, data, oob);
	flash->fail_program_per_million = 0;
	if (data && writes_left && writes_left != WRITES_WORK)
		writes_left--;
	return err;
}

struct bed {
	struct ram_flash *flash;
	struct y2_fs *fs;
	struct y2_object *old;	/* a file of 'o', whose name is to go */
};

static void mount_bed(struct bed *bed)
{
	const struct y2_options options = { .no_checkpoint = true };
	static struct y2_flash_ops ops;

	ops = ram_flash_ops;
	ops.write = write_some;
	CHECK_EQUAL(0, (u64)y2_mount(&bed->fs, &bed->flash->geometry, &ops, bed->flash, &options, test_now));
	CHECK_EQUAL(0, (u64)y2_verify(bed->fs));
}

/* Files "new" of 'n' and "old" of 'o'; which of them has a second name "link"; whether "old" is open */
enum link { NO_LINK, LINK_OF_OLD, OLD_IS_LINK };

static struct bed bed_of(const struct y2_geometry *geometry, enum link link, bool open)
{
	struct bed bed = { .flash = ram_flash_new(geometry, 1) };
	struct y2_object *file;

	mount_bed(&bed);
	file = must_create(bed.fs, bed.fs->root, "new", S_IFREG | 0644);
	CHECK_EQUAL(1, (u64)y2_write(bed.fs, file, 0, (const u8 *)"n", 1));
	bed.old = must_create(bed.fs, bed.fs->root, link == OLD_IS_LINK ? "link" : "old", S_IFREG | 0644);
	CHECK_EQUAL(1, (u64)y2_write(bed.fs, bed.old, 0, (const u8 *)"o", 1));
	if (link != NO_LINK)
		CHECK_EQUAL(0, (u64)y2_link(bed.fs, bed.old, bed.fs->root, link == OLD_IS_LINK ? "old" : "link",
					    link == OLD_IS_LINK ? 3 : 4));
	bed.old->refs += open;
	CHECK_EQUAL(0, (u64)y2_sync(bed.fs, false));
	return bed;
}

/* The first byte of "new", "old" and "link"; '-': there is no such name */
static void check_tree(struct bed *bed, const char *expected)
{
	static const char *const names[] = { "new", "old", "link" };
	struct y2_entry entries[16];
	char found[4] = "---";
	u32 count = 1;		/* lost+found */

	for (u32 i = 0; i < 3; i++) {
		struct y2_object *obj;

		if (y2_lookup(bed->fs, bed->fs->root, names[i], (u32)strlen(names[i]), &obj))
			continue;
		count++;
		CHECK_EQUAL(1, (u64)y2_read(bed->fs, y2_object_resolve(obj), 0, (u8 *)&found[i], 1));
	}
	if (strcmp(found, expected))
		check_failed(__FILE__, __LINE__, "found \"%s\", not \"%s\"", found, expected);
	CHECK_EQUAL(count, (u64)y2_readdir(bed->fs, bed->fs->root, 0, entries, 16));
	CHECK(list_empty(&bed->fs->lost_and_found->children));
	CHECK_EQUAL(0, (u64)y2_verify(bed->fs));
}

static int rename_over(struct bed *bed)
{
	return y2_rename(bed->fs, must_find(bed->fs, bed->fs->root, "new"), bed->fs->root, "old", 3);
}

static int unlink_old(struct bed *bed)
{
	return y2_unlink(bed->fs, must_find(bed->fs, bed->fs->root, "old"));
}

struct change {
	int (*run)(struct bed *bed);
	enum link link;
	const char *before, *after;
};

static const struct change changes[] = {
	{ rename_over, NO_LINK, "no-", "-n-" }, { rename_over, LINK_OF_OLD, "noo", "-no" },
	{ rename_over, OLD_IS_LINK, "noo", "-no" }, { unlink_old, NO_LINK, "no-", "n--" },
	{ unlink_old, LINK_OF_OLD, "noo", "n-o" }, { unlink_old, OLD_IS_LINK, "noo", "n-o" },
};

/* True: it was done, as if nothing had failed */
static bool change_with_failures(const struct y2_geometry *geometry, const struct change *change, bool open, u32 writes)
{
	struct bed bed = bed_of(geometry, change->link, open);
	const char *expected;
	bool done;

	writes_left = writes;
	done = !change->run(&bed);
	writes_left = WRITES_WORK;
	expected = done ? change->after : change->before;
	check_tree(&bed, expected);
	if (open) {
		u8 byte = 0;

		CHECK_EQUAL(1, (u64)y2_read(bed.fs, bed.old, 0, &byte, 1));
		CHECK_EQUAL('o', byte);
		y2_object_put(bed.fs, bed.old);
	}
	CHECK_EQUAL(0, (u64)y2_sync(bed.fs, false));
	CHECK(list_empty(&bed.fs->dirty));
	check_tree(&bed, expected);
	y2_abandon(bed.fs);
	mount_bed(&bed);
	check_tree(&bed, expected);
	y2_abandon(bed.fs);
	ram_flash_free(bed.flash);
	return done;
}

static void a_change_is_whole_whichever_write_fails(void)
{
	const struct y2_geometry *geometries[] = { &large_geometry, &tiny_geometry };

	for (u32 i = 0; i < 2 * 2 * sizeof(changes) / sizeof(changes[0]); i++) {
		const struct change *change = &changes[i / 4];
		u32 done = 0;

		for (u32 writes = 0; writes < 8; writes++)
			done += change_with_failures(geometries[i % 2], change, i / 2 % 2, writes);
		CHECK(done >= 2 && done < 8);
	}
}

const struct test names_tests[] = {
	TEST(a_change_is_whole_whichever_write_fails),
	END_OF_TESTS,
};
