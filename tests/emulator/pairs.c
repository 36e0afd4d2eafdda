// SPDX-License-Identifier: Apache-2.0
/*
 * pairs CPUS TIMES OUTSIDE: each of CPUS CPUs stores a pair of words TIMES times that lies on two cache lines, the same
 * two for all, and executes 2 * OUTSIDE instructions after each. Prints each CPU's nanoseconds.
 */
#include "bare.h"

static struct own took[MOST_CPUS], done;
static struct own both[2];

void program(uint64_t cpu)
{
    uint64_t cpus = argument(1), times = argument(2), outside = argument(3), from;

    for (uint64_t other = 1; cpu == 0 && other < cpus; other++) {
        start_cpu(other);
    }
    for (int line = 0; line < 2; line++) { /* from then on the lines are known */
        __atomic_add_fetch(&both[line].value, 1, __ATOMIC_ACQ_REL);
    }
    meet(cpus);
    from = now_ns();
    for (uint64_t time = 0; time < times; time++) {
        __asm__ volatile("stp %1, %1, [%0, #-8]" : : "r"(&both[1]), "r"(time) : "memory");
        work(outside);
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
