/* SPDX-License-Identifier: GPL-2.0-only */
/* The core's tests: one table a file, and what they share. Checks are the harness's (tests/c). */
#ifndef Y2_TEST_H
#define Y2_TEST_H

#include "../core/yaffs2.h"
#include "harness.h"
#include "ram_flash.h"

extern const struct test tags_tests[];
extern const struct test fs_tests[];
extern const struct test space_tests[];
extern const struct test torn_tests[];
extern const struct test foreign_tests[];
extern const struct test health_tests[];
extern const struct test names_tests[];
extern const struct test other_files_tests[];
extern const struct test other_log_tests[];
extern const struct test other_yaffs1_tests[];
extern const struct test torn_marks_tests[];
extern const struct test torn_last_tests[];

extern bool y2_quiet;
extern const struct y2_geometry tiny_geometry, small_geometry, large_geometry;

u32 test_now(void);
struct y2_fs *must_mount(struct ram_flash *flash, const struct y2_options *options);
/* In peace; its memory must agree with itself before and after */
struct y2_fs *must_remount(struct y2_fs *fs, struct ram_flash *flash, const struct y2_options *options);
struct y2_object *must_find(struct y2_fs *fs, struct y2_object *dir, const char *name);
void collect_all_but(struct y2_fs *fs, u32 block);
struct y2_object *must_create(struct y2_fs *fs, struct y2_object *dir, const char *name, u32 mode);

#endif
