/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls and page faults of the guest's programs. With `-icount mips=N,calls=FILE` the emulator notes each
 * one when the CPU returns to the program. The guest executes nothing for it and cannot observe it. Only 64-bit
 * programs of an arm64 Linux are noted.
 *
 * A note is a struct lab_call, little-endian, followed by `text_bytes` of what its arguments point to:
 *
 *     calls with a path        the path; calls with two paths: both, each with its NUL
 *     execve, execveat         the path and the first argument, each with its NUL; the path is empty if it could not be
 *                              read before the program was replaced
 *     openat2                  the path and struct open_how
 *     clone3                   struct clone_args
 *     write, writev            the data, if it is at most LAB_CALL_DATA bytes
 *     pipe2, socketpair        the two descriptors
 *     LAB_CALL_BORN            the thread ID at X4, where clone may have written it
 *
 * There is no text if it could not be read, as when a program gives a wrong address.
 *
 * A task is named by its kernel stack: on each entry from a program, SP_EL1 is the top of the stack of the task that
 * executes. A new task may get the stack of one that has exited. An address space is named by its translation table.
 */
#ifndef SYSEMU_LAB_CALLS_H
#define SYSEMU_LAB_CALLS_H

#include "hw/core/cpu.h"
#include "qemu/option.h"

enum {
    LAB_CALL_DATA = 256,
    LAB_CALL_PATH = 4096,
};

/* `number`s that are no system calls of Linux. */
enum {
    LAB_CALL_NONE = 0xfffd,     /* a call with a larger number, which fails */
    LAB_CALL_FAULT = 0xfffe,    /* a page fault; arguments[0] is the address, arguments[1] the syndrome */
    /* a task's first return to its program; arguments[0] is its stack pointer, arguments[1] its thread pointer */
    LAB_CALL_BORN = 0xffff,
};

/* `flags` */
enum {
    LAB_CALL_ELSEWHERE = 1,     /* it returned to another place, as to a signal's handler; `result` is not its result */
    LAB_CALL_OPEN = 2,          /* it never returned: the call is exit, or its task was killed, or the machine ended */
};

struct lab_call {
    uint64_t begin_ns, end_ns;  /* the guest's time */
    uint64_t task;
    uint64_t space;             /* at the call's begin */
    uint64_t pc;                /* behind the call, or of the instruction that faulted, or where a task was born */
    uint64_t arguments[6];      /* X0 to X5 */
    int64_t result;             /* X0 */
    uint16_t number;            /* X8 */
    uint16_t flags;
    uint16_t cpu;               /* at its end */
    uint16_t text_bytes;
};

/* Parses the option `calls` of -icount. */
void lab_calls_configure(QemuOpts *opts, Error **errp);

/* The CPU takes an exception; it is still in the state before it. */
void lab_calls_entered(CPUState *cpu);

/* The CPU has returned from an exception to a program. */
void lab_calls_returned(CPUState *cpu);

#endif
