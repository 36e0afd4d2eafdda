/* SPDX-License-Identifier: GPL-2.0-only */
/* The schedulers' tests: one table a file, and what they share. Checks are the harness's (tests/c). */
#ifndef TEST_H
#define TEST_H

#include "harness.h"
#include "request.h"

extern const struct test common_tests[];
extern const struct test as_tests[];
extern const struct test as_wait_tests[];
extern const struct test cfq_tests[];
extern const struct test cfq_idle_tests[];
extern const struct test load_tests[];

/* ms as ns */
#define MS(ms) ((ms) * IOS_NSEC_PER_MSEC)

/* A request that is with no scheduler yet */
struct ios_request request(u64 sector, u32 sectors, bool sync);

#endif
