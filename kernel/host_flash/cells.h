/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What flash cells hold when the power goes in the midst of a program or an erase: some bits have changed, others not
 * yet. For the flash in memory under tests.
 */
#ifndef CELLS_H
#define CELLS_H

#include <stdint.h>

/* The better 48 bits of fb_xorshift() (media/src/random.h); the state is never 0 */
uint64_t cells_random(uint64_t *state);

/* How much of an operation was done when the power went, of CELLS_WHOLE. Often that is hardly any, or nearly all. */
enum { CELLS_WHOLE = 1024 };
uint32_t cells_moment(uint64_t *random);

/* Each bit is set with a chance of so many of CELLS_WHOLE: not programmed yet, or erased already */
void cells_set_some(uint8_t *cells, uint32_t bytes, uint32_t of_whole, uint64_t *random);

#endif
