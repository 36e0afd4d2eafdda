/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sampling profiler: with `-icount mips=N,profile=FILE`, every `period` nanoseconds of the guest's time the emulator
 * samples the program counter of each CPU that does not sleep. The guest executes nothing for it and cannot observe it.
 *
 * The guest controls it: HINT #113 with 1 in X0 starts, with 0 stops, and the samples in between are a section of FILE.
 * Its first line has the period, the CPUs, and the start and end (ns). A line for each program counter follows, in
 * hexadecimal, with the number of samples, ordered by program counter.
 */
#ifndef SYSEMU_LAB_PROFILE_H
#define SYSEMU_LAB_PROFILE_H

#include "hw/core/cpu.h"
#include "qemu/option.h"

/* Parses the options `profile` and `period` of -icount. */
void lab_profile_configure(QemuOpts *opts, Error **errp);

/*
 * `cpu` is about to execute, at most until the clock has advanced by `limit` instructions over all CPUs. Takes a sample
 * if one is due. Returns the reduced limit.
 */
int64_t lab_profile_take(CPUState *cpu, int64_t limit);

/* Starts or stops the profile for the guest. */
void lab_profile_switch(bool on);

#endif
