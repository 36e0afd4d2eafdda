// SPDX-License-Identifier: Apache-2.0
/*
 * timers CPUS BUSY: BUSY of CPUS CPUs count to themselves; each other one sleeps until its timer's interrupt, 20 times,
 * each at other moments. Prints the nanoseconds by which each that slept woke too late at worst, and the sum of all 20.
 */
#include "bare.h"

#define GICD 0x08000000ull
#define GICR 0x080a0000ull

enum { TIMES = 20, TIMER_INTERRUPT = 27 };

static struct own late[MOST_CPUS], done;

static volatile uint32_t *at(uint64_t address)
{
    return (volatile uint32_t *)address;
}

static void take_interrupts(uint64_t cpu)
{
    uint64_t mine = GICR + cpu * 0x20000;

    *at(GICD) = 1 << 4 | 1 << 1;
    *at(mine + 0x14) = 0;
    *at(mine + 0x10080) = ~0u;
    *at(mine + 0x10100) = 1u << TIMER_INTERRUPT;
    __asm__ volatile("msr s3_0_c12_c12_5, %0; isb; msr s3_0_c4_c6_0, %1; msr s3_0_c12_c12_7, %0; isb"
                     : : "r"(1ull), "r"(0xffull));
}

/* Interrupts are masked: the CPU goes on behind the WFI when one is pending. */
static uint64_t sleep_until(uint64_t then)
{
    uint64_t woken;

    __asm__ volatile("msr cntv_cval_el0, %0; msr cntv_ctl_el0, %1; isb; wfi" : : "r"(then), "r"(1ull) : "memory");
    woken = now_ns();
    __asm__ volatile("msr cntv_ctl_el0, %0; isb" : : "r"(0ull));
    return woken - then;
}

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
