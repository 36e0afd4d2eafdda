/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of sfsload share */
#ifndef TEST_H
#define TEST_H

#include <stdbool.h>
#include <string.h>

#include "harness.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* A message is exactly these bytes, written as hexadecimal digits; spaces are left out */
void check_bytes(const char *expected, const uint8_t *bytes, size_t length);
/* The bytes of such digits; gives back how many */
size_t bytes_of(const char *digits, uint8_t *bytes);

extern const struct test xdr_tests[], rpc_tests[], nfs2_tests[], nfs3_tests[], random_tests[], tables_tests[];
extern const struct test fileset_tests[], schedule_tests[], histogram_tests[], chi_square_tests[], limit_tests[];
extern const struct test plain_tests[];
extern const struct test content_tests[], result_tests[], channel_tests[];

#endif
