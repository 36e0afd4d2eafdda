// SPDX-License-Identifier: Apache-2.0
/*
 * loop CPUS BUSY PAIRS: how long BUSY of CPUS CPUs take for 2 * PAIRS instructions each; the others sleep. Prints each
 * busy CPU's nanoseconds.
 */
#include "bare.h"

static struct own took[MOST_CPUS], done;

void program(uint64_t cpu)
{
    uint64_t cpus = argument(1), busy = argument(2), pairs = argument(3), from;

    for (uint64_t other = 1; cpu == 0 && other < cpus; other++) {
        start_cpu(other);
    }
    if (cpu >= busy) {
        return;
    }
    meet(busy);
    from = now_ns();
    work(pairs);
    took[cpu].value = now_ns() - from;
    __atomic_add_fetch(&done.value, 1, __ATOMIC_ACQ_REL);
    if (cpu == 0) {
        while (__atomic_load_n(&done.value, __ATOMIC_ACQUIRE) < busy) {
        }
        for (uint64_t other = 0; other < busy; other++) {
            say_number(took[other].value, "\n");
        }
    }
}
