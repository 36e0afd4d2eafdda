// SPDX-License-Identifier: Apache-2.0
/* Calls drawn from a fuzzer's bytes, until they are used up. libFuzzer keeps the bytes that reach new code. */
#include <stddef.h>

#include "calls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *next;
static size_t left;

/* Zero when the bytes are used up; of no more bytes than it takes, so that a byte stands for a small number */
uint32_t number(uint32_t below)
{
	uint32_t drawn = 0;

	for (uint32_t most = below - 1; most && left; most >>= 8, left--)
		drawn = drawn << 8 | *next++;
	return drawn % below;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	next = data;
	left = size;
	calls_start();
	do
		calls_one();
	while (left);
	return 0;
}
