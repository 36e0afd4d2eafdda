// SPDX-License-Identifier: Apache-2.0
/* The published tables of SPEC SFS: file sizes, and transfer sizes */
#include "sizes.h"

const struct size_class size_classes[SIZE_CLASSES] = {
	{ 1, 33 }, { 2, 21 }, { 4, 13 }, { 8, 10 }, { 16, 8 },
	{ 32, 5 }, { 64, 4 }, { 128, 3 }, { 256, 2 }, { 1024, 1 },
};

const struct transfer_class read_classes[TRANSFER_CLASSES] = {
	{ 0, 0, 1 }, { 85, 1, 0 }, { 8, 2, 1 }, { 4, 4, 1 }, { 2, 8, 1 }, { 1, 16, 1 },
};

const struct transfer_class write_classes[TRANSFER_CLASSES] = {
	{ 49, 0, 1 }, { 36, 1, 1 }, { 8, 2, 1 }, { 4, 4, 1 }, { 2, 8, 1 }, { 1, 16, 1 },
};

uint32_t transfer_draw(const struct transfer_class *classes, struct random *random)
{
	uint32_t at = (uint32_t)random_below(random, 100), kb;

	while (at >= classes->percent)
		at -= classes++->percent;
	kb = (uint32_t)classes->blocks * BLOCK_KB;
	return classes->fragment ? kb + 1 + (uint32_t)random_below(random, FRAGMENT_KB) : kb;
}

uint32_t transfer_calls(uint32_t kb)
{
	return (kb + BLOCK_KB - 1) / BLOCK_KB;
}

uint32_t transfer_calls_of_100(const struct transfer_class *classes)
{
	uint32_t calls = 0;

	for (int i = 0; i < TRANSFER_CLASSES; i++)
		calls += (uint32_t)classes[i].percent * (classes[i].blocks + classes[i].fragment);
	return calls;
}
