/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of sharing cache lines, with `-icount mips=N,line_same=NS,line_other=NS`.
 *
 * A line becomes known when an instruction first uses it as a lock word: by an atomic operation, an exclusive load or
 * store, a load-acquire or a store-release. For each known line, the emulator tracks the cores that hold a copy. A load
 * by a core without a copy fetches one. A store by a core that is not the only holder invalidates all other copies.
 * Both wait for the line: it is handed over to one core at a time, so requests queue. A handover takes `line_same`
 * nanoseconds within a socket, `line_other` between two. The CPU stalls for that time, then executes the instruction.
 * Cores and sockets are those of -smp; the threads of a core share its copies.
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

/* Parses the options `line_same` and `line_other` of -icount. */
void lab_lines_configure(QemuOpts *opts, Error **errp);

/* Call it before the first instruction. */
void lab_lines_start(void);

/* True if uses of lines must be reported. Constant once instructions are executed. */
bool lab_lines_priced(void);

/*
 * Called from translated code before it uses `address`; `from` is the call's return address. Does not return if the CPU
 * has to wait: the instruction is executed again afterwards.
 */
void lab_lines_use(CPUArchState *env, target_ulong address, int mmu_index, LabLinesUse use, uintptr_t from);

#endif
