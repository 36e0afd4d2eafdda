// SPDX-License-Identifier: Apache-2.0
/*
 * busy CPUS BUSY NS: BUSY of CPUS CPUs are busy for NS nanoseconds by HINT #112, the others execute 2 * 500,000
 * instructions at the same time. Prints each CPU's nanoseconds.
 */
#include "bare.h"

static struct own took[MOST_CPUS], done;

void program(uint64_t cpu)
{
    uint64_t cpus = argument(1), busy = argument(2), ns = argument(3), from;

    for (uint64_t other = 1; cpu == 0 && other < cpus; other++) {
        start_cpu(other);
    }
    meet(cpus);
    from = now_ns();
    if (cpu < busy) {
        register uint64_t x0 __asm__("x0") = ns;

        __asm__ volatile("hint #112" : "+r"(x0));
    } else {
        work(500000);
    }
    took[cpu].value = now_ns() - from;
    __atomic_add_fetch(&done.value, 1, __ATOMIC_ACQ_REL);
    if (cpu == 0) {
        while (__atomic_load_n(&done.value, __ATOMIC_ACQUIRE) < cpus) {
        }
        for (uint64_t other = 0; other < cpus; other++) {
            say_number(took[other].value, "\n");
        }
    }
}
