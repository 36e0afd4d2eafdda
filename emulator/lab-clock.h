/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lab's clock: what the guest's time is when `-icount mips=N` is given.
 *
 * Time is a count of instructions. One thread executes all virtual CPUs in turn (lab-turns.h). With C CPUs of N million
 * instructions a second each, C * N instructions are a microsecond. When all CPUs sleep, that thread moves the clock to
 * the next timer. No other thread ever moves it.
 */
#ifndef SYSEMU_LAB_CLOCK_H
#define SYSEMU_LAB_CLOCK_H

#include "hw/core/cpu.h"
#include "qemu/option.h"

/* Takes the options `mips` and `slice` of -icount. False if there is no `mips`: the clock is QEMU's own then. */
bool lab_clock_configure(QemuOpts *opts, Error **errp);
bool lab_clock_enabled(void);

/* How many CPUs there are; to be called before the first instruction. */
void lab_clock_start(int count);

/* Nanoseconds that so many instructions, of all CPUs together, take; rounded down. */
int64_t lab_clock_ns(int64_t instructions);

/* The fewest instructions, of all CPUs together, after which the clock stands `ns` further on. */
int64_t lab_clock_instructions(int64_t ns);

/* When all CPUs sleep: moves the clock to the next timer and lets it expire. False if there is none. */
bool lab_clock_leap(void);

/* The clock goes on by so many instructions, of all CPUs together, that nobody executes. */
void lab_clock_charge(int64_t instructions);

/*
 * `cpu` is busy for `ns` from the instruction on that calls this, which is counted in. Returns the nanoseconds that did
 * not fit before the next timer or into the slice: the instruction is to be executed again with them. 0: done.
 * Above a second, `ns` is a second; below 0 it is nothing.
 */
int64_t lab_clock_busy(CPUState *cpu, int64_t ns);

/* The guest's time, while `cpu` executes; the instructions of a block that are counted ahead are taken as executed. */
int64_t lab_clock_now(CPUState *cpu);

/* Several CPUs: `cpu` is to stand still for `ns` after what it executes now, also for interrupts. Ends no slice. */
void lab_clock_stall(CPUState *cpu, int64_t ns);

#endif
