/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several CPUs in one thread: whose turn it is, and what each is charged.
 *
 * CPUs execute a slice of instructions at a time, one after the other, in rounds. One that sleeps is charged its slice
 * without executing anything, and so is one that stands still for a time that it owes; so all CPUs stand at the same
 * time, to one slice. Those that sleep cost no more than a look at a bit. While one alone is awake there are no slices:
 * each of its instructions is charged to all CPUs at once, until it wakes another.
 *
 * All counts are of instructions. With one CPU these functions let everything pass.
 */
#ifndef SYSEMU_LAB_TURNS_H
#define SYSEMU_LAB_TURNS_H

#include "hw/core/cpu.h"

/* `count` CPUs; `slice`: instructions of a turn, on average. To be called before the first instruction. */
void lab_turns_start(int count, int64_t slice);

/* The clock was moved while all slept. */
void lab_turns_leapt(void);

/* How many instructions `cpu` may execute now, if the clock may go on by `limit`, of all CPUs together. */
int64_t lab_turns_grant(CPUState *cpu, int64_t limit);

/* What the clock goes on by, of all CPUs together, when the CPU whose turn it is executes so many. */
int64_t lab_turns_charged(int64_t executed);

/* How many all CPUs together have executed, or were busy for; what others are charged that sleep is not counted. */
int64_t lab_turns_executed(void);

typedef enum {
    LAB_TURNS_EXECUTE,      /* the CPU whose turn it is can execute */
    LAB_TURNS_PASSED,       /* time went by: whose turn it is, and whether a timer is due, is to be seen anew */
    LAB_TURNS_ALL_SLEEP,
} LabTurnsPass;

/*
 * Several CPUs: from the CPU on whose turn it is, charges each that executes nothing, until one that executes, or the
 * next timer. Changes whose turn it is.
 */
LabTurnsPass lab_turns_pass(CPUState **whose);

/* After a grant was used: whose turn it is now. NULL with one CPU. */
CPUState *lab_turns_next(CPUState *cpu);

/* `cpu` is to stand still for so many of its instructions, after what it executes now. Ends no slice. */
void lab_turns_owe(CPUState *cpu, int64_t instructions);

/* `cpu` may have something to do from now on; it does no harm if it has not. From any thread. */
void lab_turns_wake(CPUState *cpu);

/* Whether no CPU has anything to do or owes any time. */
bool lab_turns_all_asleep(void);

#endif
