// SPDX-License-Identifier: Apache-2.0
/*
 * timers CPUS BUSY: BUSY of CPUS CPUs count to themselves; each other one sleeps until its timer's interrupt, 20 times,
 * each at other moments. Prints the nanoseconds by which each that slept woke too late at worst, and the sum of all 20.
 */
#include "sleep.h"

enum { TIMES = 20 };

static struct own late[MOST_CPUS], done;

void program(uint64_t cpu)
{
    uint64_t cpus = argument(1), busy = argument(2);

    for (uint64_t other = 1; cpu == 0 && other < cpus; other++) {
        start_cpu(other);
    }
    take_interrupts(cpu);
    meet(cpus);
    if (cpu >= busy) {
        uint64_t then = now_ns();

        for (int time = 0; time < TIMES; time++) {
            uint64_t by;

            then += 20000 + 1237 * cpu;
            by = sleep_until(then);
            late[cpu].value = by > late[cpu].value ? by : late[cpu].value;
            late[cpu].more += by;
        }
        __atomic_add_fetch(&done.value, 1, __ATOMIC_ACQ_REL);
    }
    if (cpu >= busy && cpu) {
        return;
    }
    while (__atomic_load_n(&done.value, __ATOMIC_ACQUIRE) < cpus - busy) {
    }
    for (uint64_t other = busy; cpu == 0 && other < cpus; other++) {
        say_number(late[other].value, " ");
        say_number(late[other].more, "\n");
    }
}
