/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A scheduler for several CPUs in one thread: turns and charges.
 *
 * CPUs execute slices of instructions, one CPU after the other, in rounds. A CPU that sleeps, or stalls to pay off a
 * debt, is charged its slice without executing anything. So all CPUs are at the same time, to within a slice. A
 * sleeping CPU costs only the test of a bit. While a single CPU is awake there are no slices: each of its instructions
 * is charged to all CPUs at once, until it wakes another.
 *
 * All counts are in instructions. With one CPU these functions pass everything through.
 */
#ifndef SYSEMU_LAB_TURNS_H
#define SYSEMU_LAB_TURNS_H

#include "hw/core/cpu.h"

/* Starts with `count` CPUs and slices of `slice` instructions on average. Call it before the first instruction. */
void lab_turns_start(int count, int64_t slice);

/* The clock was advanced while all CPUs slept. */
void lab_turns_leapt(void);

/* The instructions that `cpu` may execute now, if the clock may advance by `limit` over all CPUs. */
int64_t lab_turns_grant(CPUState *cpu, int64_t limit);

/* The advance of the clock, over all CPUs, when the current CPU executes so many. */
int64_t lab_turns_charged(int64_t executed);

/* The instructions that all CPUs have executed or were busy for. Charges of sleeping CPUs do not count. */
int64_t lab_turns_executed(void);

typedef enum {
    LAB_TURNS_EXECUTE,      /* the current CPU can execute */
    LAB_TURNS_PASSED,       /* time advanced: check for timers and the current CPU again */
    LAB_TURNS_ALL_SLEEP,
} LabTurnsPass;

/*
 * Several CPUs: charges each CPU that executes nothing, from the current one on, up to one that executes or the next
 * timer. Changes the current CPU.
 */
LabTurnsPass lab_turns_pass(CPUState **whose);

/* Ends a grant: returns the current CPU. NULL with one CPU. */
CPUState *lab_turns_next(CPUState *cpu);

/* Stalls `cpu` for so many of its instructions, after its current one. Ends no slice. */
void lab_turns_owe(CPUState *cpu, int64_t instructions);

/* Marks that `cpu` may have work; a false alarm does no harm. From any thread. */
void lab_turns_wake(CPUState *cpu);

/* True if no CPU has work or owes time. */
bool lab_turns_all_asleep(void);

#endif
