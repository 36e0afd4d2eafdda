/* SPDX-License-Identifier: Apache-2.0 */
/* The content of the files: each KB identifies its file and its position, whoever wrote it, and however often */
#ifndef CONTENT_H
#define CONTENT_H

#include <stdbool.h>
#include <stdint.h>

/* All in KB */
void content_fill(uint8_t *bytes, uint32_t file, uint64_t from, uint32_t count);
bool content_is(const uint8_t *bytes, uint32_t file, uint64_t from, uint32_t count);

#endif
