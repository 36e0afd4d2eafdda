/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What it costs several CPUs to share a cache line, with `-icount mips=N,line_same=NS,line_other=NS`.
 *
 * A line is known from the first instruction on that uses it as lock words are used: an atomic operation, an exclusive
 * load or store, a load-acquire or a store-release. Of a known line it is noted which cores hold a copy. A load by a
 * core without a copy fetches one; a store by a core that is not the only one with a copy takes them all away. Both
 * wait for the line: it is handed over once at a time, so that requests queue, and a handover takes `line_same`
 * nanoseconds within a socket, `line_other` between two. The CPU stands still for that time and executes the
 * instruction then. Cores and sockets are those of -smp; the threads of a core share its copies.
 */
#ifndef SYSEMU_LAB_LINES_H
#define SYSEMU_LAB_LINES_H

#include "exec/cpu-defs.h"
#include "qemu/option.h"

typedef enum {
    LAB_LINES_LOAD,         /* makes no line known */
    LAB_LINES_STORE,        /* makes no line known */
    LAB_LINES_ACQUIRE,
    LAB_LINES_RELEASE,
    LAB_LINES_ATOMIC,
    LAB_LINES_LOAD_EXCLUSIVE,
    LAB_LINES_STORE_EXCLUSIVE,
} LabLinesUse;

/* Takes the options `line_same` and `line_other` of -icount. */
void lab_lines_configure(QemuOpts *opts, Error **errp);

/* To be called before the first instruction. */
void lab_lines_start(void);

/* Whether uses of lines are to be told. Does not change once instructions are executed. */
bool lab_lines_priced(void);

/*
 * Called from translated code before it uses `address`; `from` is where it was called from. Does not return if the CPU
 * has to wait: the instruction is executed anew after it.
 */
void lab_lines_use(CPUArchState *env, target_ulong address, int mmu_index, LabLinesUse use, uintptr_t from);

#endif
