/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A watchdog: with `-icount mips=N` the machine ends if one of its CPUs hangs. A CPU hangs if, while the machine
 * executed MOST_INSTRUCTIONS (lab-watch.c) on all its CPUs together,
 *
 * - it took no interrupt though one was pending all that time, or
 * - its kernel ought to let another task run, and neither did so nor returned to a program.
 *
 * The limit counts instructions, because those are what a hang costs the host. A sleeping CPU executes none, so a CPU
 * that works alone has the whole limit. Linux sets a flag of the running task if another must run, and schedule()
 * clears it. The guest executes nothing for the watchdog and cannot observe it. A guest's own detectors would wait for
 * seconds, then stop the other CPUs, and wait for each that hangs.
 */
#ifndef SYSEMU_LAB_WATCH_H
#define SYSEMU_LAB_WATCH_H

#include "hw/core/cpu.h"

/* Sets the number of CPUs; call it before the first instruction. */
void lab_watch_start(int count);

/* `cpu` has just taken an interrupt; it has not taken a pending one. */
void lab_watch_took_interrupt(CPUState *cpu);
void lab_watch_left_interrupt(CPUState *cpu);

/* `cpu` returns to a program, or another task runs on it. */
void lab_watch_went_on(CPUState *cpu);

#endif
