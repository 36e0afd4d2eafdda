/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lab's clock: the guest's time with `-icount mips=N`.
 *
 * Time is a count of instructions. One thread executes all virtual CPUs in turn (lab-turns.h). With C CPUs of N million
 * instructions a second each, a microsecond is C * N instructions. When all CPUs sleep, that thread advances the clock
 * to the next timer. No other thread ever advances it.
 */
#ifndef SYSEMU_LAB_CLOCK_H
#define SYSEMU_LAB_CLOCK_H

#include "hw/core/cpu.h"
#include "qemu/option.h"

/* Parses the options `mips` and `slice` of -icount. False without `mips`: QEMU's own clock is used then. */
bool lab_clock_configure(QemuOpts *opts, Error **errp);
bool lab_clock_enabled(void);

/* Sets the number of CPUs; call it before the first instruction. */
void lab_clock_start(int count);

/* The nanoseconds of so many instructions, over all CPUs; rounded down. */
int64_t lab_clock_ns(int64_t instructions);

/* The fewest instructions, over all CPUs, that advance the clock by `ns`. */
int64_t lab_clock_instructions(int64_t ns);

/* When all CPUs sleep: advances the clock to the next timer and fires it. False if there is none. */
bool lab_clock_leap(void);

/* Advances the clock by instructions, over all CPUs, that nobody executes. */
void lab_clock_charge(int64_t instructions);

/*
 * Makes `cpu` busy for `ns`, including the calling instruction. Returns the nanoseconds that did not fit before the
 * next timer or into the slice: the instruction must be executed again with them. 0: done. `ns` is clamped to 0 and a
 * second.
 */
int64_t lab_clock_busy(CPUState *cpu, int64_t ns);

/* The guest's time while `cpu` executes. A block's instructions, which are counted in advance, count as executed. */
int64_t lab_clock_now(CPUState *cpu);

/* Several CPUs: `cpu` stalls for `ns` after its current instruction, for interrupts too. Ends no slice. */
void lab_clock_stall(CPUState *cpu, int64_t ns);

#endif
