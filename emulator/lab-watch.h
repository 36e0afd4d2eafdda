/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ends the machine when one of its CPUs hangs, with `-icount mips=N`: when, while the machine executed MOST_INSTRUCTIONS
 * (lab-watch.c) on all its CPUs together,
 *
 * - it took no interrupt though one was pending all that time, or
 * - its kernel was to let another task run, and neither did so nor went back to a program.
 *
 * Instructions are what a hang costs the host. What sleeps executes none, so a CPU that works alone has the whole
 * limit. That another task is to run is a flag of the one that runs, which Linux sets and which schedule() takes back.
 * The guest executes nothing for it and cannot tell: where it lets a CPU hang, its own detectors wait for seconds, then
 * stop the other CPUs, and wait for each that hangs.
 */
#ifndef SYSEMU_LAB_WATCH_H
#define SYSEMU_LAB_WATCH_H

#include "hw/core/cpu.h"

/* How many CPUs there are; to be called before the first instruction. */
void lab_watch_start(int count);

/* `cpu` has just taken an interrupt; it did not take one that is pending. */
void lab_watch_took_interrupt(CPUState *cpu);
void lab_watch_left_interrupt(CPUState *cpu);

/* `cpu` goes back to a program, or another task runs on it. */
void lab_watch_went_on(CPUState *cpu);

#endif
