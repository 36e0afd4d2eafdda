/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lab's clock: see lab-clock.h. */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/host-utils.h"
#include "qemu/seqlock.h"
#include "exec/exec-all.h"
#include "qemu/timer.h"
#include "sysemu/cpu-timers.h"
#include "sysemu/cpus.h"
#include "sysemu/lab-clock.h"
#include "sysemu/runstate.h"
#include "timers-state.h"

enum {
    NS_PER_US = 1000,
    DEFAULT_SLICE = 100,
    MOST_MIPS = 100000,
    MOST_SLICE = 1000000,
};

static struct {
    int64_t mips;       /* of one CPU; 0: this clock is not used */
    int64_t slice;      /* instructions, on average */
    int64_t per_us;     /* instructions of all CPUs in a microsecond */
    int cpus;

    /* Several CPUs only */
    CPUState *turn;     /* whose slice is under way; NULL: none is */
    int64_t left;       /* of that slice, instructions, when all instructions were `counted` */
    int64_t counted;
    int passed;         /* slices in a row in which a CPU waited */
    int64_t *moved;     /* by how much the end of each CPU's last slice was moved, instructions */
} lab;

bool lab_clock_configure(QemuOpts *opts, Error **errp)
{
    int64_t mips = qemu_opt_get_number(opts, "mips", 0);
    int64_t slice = qemu_opt_get_number(opts, "slice", DEFAULT_SLICE);

    if (!qemu_opt_get(opts, "mips")) {
        return false;
    }
    if (mips < 1 || mips > MOST_MIPS) {
        error_setg(errp, "icount: mips must be 1 to %d", MOST_MIPS);
    } else if (slice < 1 || slice > MOST_SLICE) {
        error_setg(errp, "icount: slice must be 1 to %d", MOST_SLICE);
    }
    lab.mips = mips;
    lab.slice = slice;
    lab.per_us = mips;
    lab.cpus = 1;
    return true;
}

bool lab_clock_enabled(void)
{
    return lab.mips != 0;
}

void lab_clock_start(int cpus)
{
    lab.cpus = cpus;
    lab.per_us = lab.mips * cpus;
    lab.moved = g_new0(int64_t, cpus);
}

int64_t lab_clock_ns(int64_t instructions)
{
    return muldiv64(instructions, NS_PER_US, lab.per_us);
}

int64_t lab_clock_instructions(int64_t ns)
{
    int64_t now = qatomic_read_i64(&timers_state.qemu_icount);
    int64_t then = lab_clock_ns(now) + ns;

    return DIV_ROUND_UP((__int128)then * lab.per_us, NS_PER_US) - now;
}

/* Moves the clock without an instruction. Only the thread of the CPUs does, so that reading needs no lock. */
static void add(int64_t *what, int64_t amount)
{
    seqlock_write_lock(&timers_state.vm_clock_seqlock, &timers_state.vm_clock_lock);
    qatomic_set_i64(what, *what + amount);
    seqlock_write_unlock(&timers_state.vm_clock_seqlock, &timers_state.vm_clock_lock);
}

bool lab_clock_leap(void)
{
    int64_t ns;

    /* Who waits for the guest to stop needs the lock that the caller holds */
    if (!runstate_is_running() || qemu_shutdown_requested_get() || qemu_reset_requested_get()) {
        return false;
    }
    ns = qemu_clock_deadline_ns_all(QEMU_CLOCK_VIRTUAL, QEMU_TIMER_ATTR_ALL);
    if (ns < 0) {
        return false;
    }
    if (ns > 0) {
        add(&timers_state.qemu_icount_bias, ns);
    }
    qemu_clock_run_timers(QEMU_CLOCK_VIRTUAL);
    return true;
}

/*
 * The ends of slices are moved by up to a slice, by a hash. Else the period of a lock and that of the slices beat: one
 * CPU may find the lock free always, and another never.
 */
static void begin_slice(CPUState *cpu)
{
    uint64_t hash = lab.counted * 0x9e3779b97f4a7c15ull + (cpu->cpu_index + 1) * 0xbf58476d1ce4e5b9ull;
    int64_t move;

    hash ^= hash >> 29;
    hash *= 0x94d049bb133111ebull;
    hash ^= hash >> 32;
    move = hash % lab.slice;
    lab.left = lab.slice + move - lab.moved[cpu->cpu_index];
    lab.moved[cpu->cpu_index] = move;
    lab.turn = cpu;
}

int64_t lab_clock_grant(CPUState *cpu, int64_t limit)
{
    if (lab.cpus == 1) {
        return limit;
    }
    lab.counted = qatomic_read_i64(&timers_state.qemu_icount);
    if (lab.turn != cpu) {
        begin_slice(cpu);
    }
    return MIN(lab.left, limit);
}

bool lab_clock_pass(CPUState *cpu)
{
    int64_t limit;

    if (lab.cpus == 1) {
        return false;
    }
    if (!cpu_thread_is_idle(cpu)) {
        lab.passed = 0;
        return false;
    }
    limit = qemu_clock_deadline_ns_all(QEMU_CLOCK_VIRTUAL, QEMU_TIMER_ATTR_ALL);
    limit = limit < 0 ? INT32_MAX : lab_clock_instructions(MIN(limit, INT32_MAX));
    add(&timers_state.qemu_icount, lab_clock_grant(cpu, limit));
    lab.passed++;
    return true;
}

bool lab_clock_all_passed(void)
{
    return lab.passed >= lab.cpus;
}

CPUState *lab_clock_next(CPUState *cpu)
{
    if (lab.cpus > 1) {
        lab.left -= qatomic_read_i64(&timers_state.qemu_icount) - lab.counted;
        if (lab.left > 0) {
            return cpu;
        }
        lab.turn = NULL;
    }
    return CPU_NEXT(cpu);
}

int64_t lab_clock_busy(CPUState *cpu, int64_t ns)
{
    int64_t here = cpu->icount_extra + cpu_neg(cpu)->icount_decr.u16.low;
    int64_t all = DIV_ROUND_UP((__int128)ns * lab.mips, NS_PER_US) - 1;
    int64_t now = MIN(MAX(all, 0), here);
    int64_t of_extra = MIN(now, cpu->icount_extra);

    cpu->icount_extra -= of_extra;
    cpu_neg(cpu)->icount_decr.u16.low -= now - of_extra;
    return all > now ? DIV_ROUND_UP((__int128)(all - now) * NS_PER_US, lab.mips) : 0;
}
