/* SPDX-License-Identifier: Apache-2.0 */
/* What the files hold: each KB says which file and which KB of it it is, whoever wrote it, and however often */
#ifndef CONTENT_H
#define CONTENT_H

#include <stdbool.h>
#include <stdint.h>

/* All in KB */
void content_fill(uint8_t *bytes, uint32_t file, uint64_t from, uint32_t count);
bool content_is(const uint8_t *bytes, uint32_t file, uint64_t from, uint32_t count);

#endif
