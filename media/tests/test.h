/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The core's tests: one table a file, and what they share. Checks are the harness's (tests/c). */
#ifndef TEST_H
#define TEST_H

#include <string.h>

#include "fb_medium.h"
#include "harness.h"

extern const struct test arith_tests[];
extern const struct test timeline_tests[];
extern const struct test params_tests[];
extern const struct test state_tests[];
extern const struct test flash_tests[];
extern const struct test collection_tests[];
extern const struct test buffer_tests[];
extern const struct test read_ahead_tests[];
extern const struct test nand_tests[];
extern const struct test faults_tests[];
extern const struct test health_tests[];
extern const struct test suspend_tests[];
extern const struct test ftl_tests[];
extern const struct test amplification_tests[];
extern const struct test slc_tests[];
extern const struct test rest_tests[];
extern const struct test dftl_tests[];
extern const struct test log_tests[];
extern const struct test log_steps_tests[];
extern const struct test log_lookup_tests[];
extern const struct test log_sound_tests[];
extern const struct test disk_seek_tests[];
extern const struct test disk_tests[];
extern const struct test disk_buffer_tests[];
extern const struct test disk_cache_tests[];
extern const struct test power_tests[];
extern const struct test chip_tests[];
extern const struct test chip_rules_tests[];
extern const struct test chip_faults_tests[];
extern const struct test chip_torn_tests[];
extern const struct test chip_bus_tests[];
extern const struct test chip_bus_faults_tests[];

/* A medium of its own memory; free() it */
struct fb_medium *new_medium(const struct fb_params *params);

/* The parameters are refused, and the one to blame is named */
void check_refused(const struct fb_params *params, enum fb_param param);

u64 submit(struct fb_medium *medium, enum fb_op op, u64 offset_bytes, u64 length_bytes, u64 now_ns);

/* Numbers that look random and are the same in each run (xorshift64*) */
u64 next_random(u64 *state);

#endif
