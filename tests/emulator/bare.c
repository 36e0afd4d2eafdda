// SPDX-License-Identifier: Apache-2.0
/* The beginning of each CPU's part, and what the compiler calls. */
#include "bare.h"

void *memset(void *to, int byte, uint64_t size)
{
    volatile char *at = to;

    while (size--) {
        *at++ = (char)byte;
    }
    return to;
}

void begin(uint64_t cpu)
{
    program(cpu);
    if (cpu == 0) {
        end();
    }
}
