/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the guest's CPUs spend their time, when `-icount mips=N,profile=FILE` is given: every `period` nanoseconds of
 * the guest's time, the program counter of each CPU that does not sleep. The guest executes nothing for it and cannot
 * tell.
 *
 * The guest says when: HINT #113 with 1 in X0 begins, with 0 it ends, and what was counted between the two is a
 * section of FILE. Its first line has the period, the CPUs, and the moments of beginning and end (ns); then comes a
 * line for each program counter, in hexadecimal, with the number of samples, in the order of the counters.
 */
#ifndef SYSEMU_LAB_PROFILE_H
#define SYSEMU_LAB_PROFILE_H

#include "hw/core/cpu.h"
#include "qemu/option.h"

/* Takes the options `profile` and `period` of -icount. */
void lab_profile_configure(QemuOpts *opts, Error **errp);

/*
 * `cpu` is about to execute until the clock went on by `limit` instructions, of all CPUs together, at most: takes a
 * sample if one is due. Returns by how many it may go on.
 */
int64_t lab_profile_take(CPUState *cpu, int64_t limit);

/* The guest's word. */
void lab_profile_switch(bool on);

#endif
