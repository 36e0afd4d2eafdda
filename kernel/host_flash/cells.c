// SPDX-License-Identifier: GPL-2.0-only
/* Cells of an interrupted program or erase: how many bits have changed, and which, by a seed */
#include "../../media/src/random.h"
#include "cells.h"

uint64_t cells_random(uint64_t *state)
{
	return fb_xorshift(state) >> 16;
}

uint32_t cells_moment(uint64_t *random)
{
	uint32_t max = CELLS_WHOLE >> cells_random(random) % 10;
	uint32_t little = cells_random(random) % max;

	switch (cells_random(random) % 3) {
	case 0:
		return little;
	case 1:
		return CELLS_WHOLE - little;
	default:
		return cells_random(random) % CELLS_WHOLE;
	}
}

void cells_set_some(uint8_t *cells, uint32_t bytes, uint32_t of_whole, uint64_t *random)
{
	for (uint32_t bit = 0; bit < 8 * bytes; bit++)
		if (cells_random(random) % CELLS_WHOLE < of_whole)
			cells[bit / 8] |= 1 << bit % 8;
}
