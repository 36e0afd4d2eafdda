// SPDX-License-Identifier: Apache-2.0
/* A CPU's own timer, by whose interrupt it is woken: a GICv3 where QEMU's `virt` has it. */
#ifndef SLEEP_H
#define SLEEP_H

#include "bare.h"

#define GICD 0x08000000ull
#define GICR 0x080a0000ull

enum { TIMER_INTERRUPT = 27 };

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

#endif
