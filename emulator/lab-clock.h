/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lab's clock: what the guest's time is when `-icount mips=N` is given.
 *
 * Time is a count of instructions. One thread executes all virtual CPUs, a slice of instructions at a time and in turn.
 * With C CPUs of N million instructions a second each, C * N instructions are a microsecond. A CPU that waits is charged
 * its slice without executing anything, so all CPUs stand at the same time, to one slice. When all wait, the thread of
 * the CPUs moves the clock to the next timer. No other thread ever moves it.
 */
#ifndef SYSEMU_LAB_CLOCK_H
#define SYSEMU_LAB_CLOCK_H

#include "hw/core/cpu.h"
#include "qemu/option.h"

/* Takes the options `mips` and `slice` of -icount. False if there is no `mips`: the clock is QEMU's own then. */
bool lab_clock_configure(QemuOpts *opts, Error **errp);
bool lab_clock_enabled(void);

/* How many CPUs there are; to be called before the first instruction. */
void lab_clock_start(int cpus);

/* Nanoseconds that so many instructions, of all CPUs together, take; rounded down. */
int64_t lab_clock_ns(int64_t instructions);

/* The fewest instructions, of all CPUs together, after which the clock stands `ns` further on. */
int64_t lab_clock_instructions(int64_t ns);

/* When all CPUs wait: moves the clock to the next timer and lets it expire. False if there is none. */
bool lab_clock_leap(void);

/* How many instructions `cpu` may execute now: what is left of its slice, at most `limit`. */
int64_t lab_clock_grant(CPUState *cpu, int64_t limit);

/* Several CPUs: whether `cpu` waits. If so it was charged what lab_clock_grant() would give it. */
bool lab_clock_pass(CPUState *cpu);

/* Whether all CPUs waited through a slice each, one after the other. */
bool lab_clock_all_passed(void);

/* After a grant was used or passed: whose turn it is now. NULL: the first CPU's, in a new round. */
CPUState *lab_clock_next(CPUState *cpu);

/*
 * `cpu` is busy for `ns` from the instruction on that calls this, which is counted in. Returns the nanoseconds that did
 * not fit before the next timer or into the slice: the instruction is to be executed again with them. 0: done.
 */
int64_t lab_clock_busy(CPUState *cpu, int64_t ns);

#endif
