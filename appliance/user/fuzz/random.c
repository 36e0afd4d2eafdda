// SPDX-License-Identifier: Apache-2.0
/*
 * Calls drawn at random. What a run does follows from its number, so that one can be had again:
 *	random RUNS [FIRST]
 */
#include <stdio.h>
#include <stdlib.h>

#include "calls.h"

enum { CALLS = 4 };

static uint64_t state;

/* splitmix64 */
uint32_t number(uint32_t below)
{
	uint64_t mixed = state += 0x9e3779b97f4a7c15;

	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
	return (uint32_t)((mixed ^ mixed >> 31) % below);
}

int main(int count, char **arguments)
{
	unsigned long runs = count > 1 ? strtoul(arguments[1], NULL, 10) : 1000;
	unsigned long first = count > 2 ? strtoul(arguments[2], NULL, 10) : 0;

	for (unsigned long run = first; run < first + runs; run++) {
		state = run;
		calls_start();
		for (int call = 0; call < CALLS; call++)
			calls_one();
	}
	printf("random: %lu runs\n", runs);
	return 0;
}
