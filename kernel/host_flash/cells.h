/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flash cells after a power failure during a program or an erase: some bits have changed, others have not. For the
 * flash in memory of tests.
 */
#ifndef CELLS_H
#define CELLS_H

#include <stdint.h>

/* The better 48 bits of fb_xorshift() (media/src/random.h); the state is never 0 */
uint64_t cells_random(uint64_t *state);

/* The completed part of an operation when the power failed, in 1/CELLS_WHOLE. Often it is close to none or to all. */
enum { CELLS_WHOLE = 1024 };
uint32_t cells_moment(uint64_t *random);

/* Sets each bit with the probability of_whole/CELLS_WHOLE: it is not programmed yet, or erased already */
void cells_set_some(uint8_t *cells, uint32_t bytes, uint32_t of_whole, uint64_t *random);

#endif
