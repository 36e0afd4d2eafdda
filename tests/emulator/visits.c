// SPDX-License-Identifier: Apache-2.0
/*
 * visits CPUS PAIRS: how long CPU 0 takes for 2 * PAIRS instructions, in nanoseconds, while each other one sleeps and is
 * woken by its timer again and again, each at other moments.
 */
#include "sleep.h"

static struct own ended;

void program(uint64_t cpu)
{
    uint64_t cpus = argument(1), pairs = argument(2), from;

    for (uint64_t other = 1; cpu == 0 && other < cpus; other++) {
        start_cpu(other);
    }
    take_interrupts(cpu);
    meet(cpus);
    from = now_ns();
    if (cpu == 0) {
        work(pairs);
        from = now_ns() - from;
        __atomic_store_n(&ended.value, 1, __ATOMIC_RELEASE);
        say_number(from, "\n");
        return;
    }
    while (!__atomic_load_n(&ended.value, __ATOMIC_ACQUIRE)) {
        from += 7001 + 37 * cpu;
        sleep_until(from);
    }
}
