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
#include "sysemu/lab-turns.h"
#include "sysemu/lab-watch.h"
#include "sysemu/runstate.h"
#include "timers-state.h"

enum {
    NS_PER_US = 1000,
    DEFAULT_SLICE = 100,
    MOST_MIPS = 100000,
    MOST_SLICE = 1000000,
};

static struct {
    int64_t mips;       /* of one CPU; 0: this clock is not in use */
    int64_t slice;      /* instructions, on average */
    int64_t per_us;     /* of all CPUs together */
    int64_t last_us;    /* the last whole microsecond that the guest's CPUs saw */
    int64_t *owed;      /* per CPU: the rest of its busy time below a nanosecond; instructions */
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
    return true;
}

bool lab_clock_enabled(void)
{
    return lab.mips != 0;
}

void lab_clock_start(int count)
{
    lab.per_us = lab.mips * count;
    lab.owed = g_new0(int64_t, count);
    lab_turns_start(count, lab.slice);
    lab_watch_start(count);
}

/* Whole microseconds and the rest separately: all products fit in 64 bits, whose division is much faster. */
int64_t lab_clock_ns(int64_t instructions)
{
    return instructions / lab.per_us * NS_PER_US + instructions % lab.per_us * NS_PER_US / lab.per_us;
}

/* lab_clock_ns() for the CPUs' thread, which mostly asks within the same microsecond. */
static int64_t ns_by_last(int64_t instructions)
{
    uint64_t rest = instructions - lab.last_us * lab.per_us;

    if (rest >= lab.per_us) {
        lab.last_us = instructions / lab.per_us;
        rest = instructions % lab.per_us;
    }
    rest *= NS_PER_US;
    /* Some processors divide 64 bits several times slower than 32 bits */
    rest = rest <= UINT32_MAX ? (uint32_t)rest / (uint32_t)lab.per_us : rest / lab.per_us;
    return lab.last_us * NS_PER_US + rest;
}

/* The instructions that begin within `ns`, of one CPU or of all, at `per_us` instructions a microsecond. */
static int64_t begun(int64_t ns, int64_t per_us)
{
    return ns / NS_PER_US * per_us + DIV_ROUND_UP(ns % NS_PER_US * per_us, NS_PER_US);
}

int64_t lab_clock_instructions(int64_t ns)
{
    int64_t now = qatomic_read_i64(&timers_state.qemu_icount);
    int64_t then = lab_clock_ns(now) + ns;

    /* The clock rounds down, so the instruction of the current instant may be past already */
    return MAX(begun(then, lab.per_us) - now, 0);
}

/* Advances the clock without executing instructions. Only the CPUs' thread does so, so readers need no lock. */
static void add(int64_t *what, int64_t amount)
{
    seqlock_write_lock(&timers_state.vm_clock_seqlock, &timers_state.vm_clock_lock);
    qatomic_set_i64(what, *what + amount);
    seqlock_write_unlock(&timers_state.vm_clock_seqlock, &timers_state.vm_clock_lock);
}

void lab_clock_charge(int64_t instructions)
{
    add(&timers_state.qemu_icount, instructions);
}

bool lab_clock_leap(void)
{
    int64_t ns;

    /* Whoever waits for the guest to stop needs the lock that the caller holds */
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
    lab_turns_leapt();
    qemu_clock_run_timers(QEMU_CLOCK_VIRTUAL);
    return true;
}

/* Programs can use the driver's hint with any number of nanoseconds. No driver's request takes this long. */
#define MOST_BUSY_NS 1000000000

int64_t lab_clock_busy(CPUState *cpu, int64_t ns)
{
    int64_t here = cpu->icount_extra + cpu_neg(cpu)->icount_decr.u16.low;
    int64_t *owed = &lab.owed[cpu->cpu_index];
    int64_t all = begun(MIN(MAX(ns, 0), MOST_BUSY_NS), lab.mips) - 1 + *owed;
    int64_t now = MIN(MAX(all, 0), here);
    int64_t of_extra = MIN(now, cpu->icount_extra);
    int64_t left = (__int128)(all - now) * NS_PER_US / lab.mips;

    cpu->icount_extra -= of_extra;
    cpu_neg(cpu)->icount_decr.u16.low -= now - of_extra;
    /* The rest is returned in whole nanoseconds. The fraction is kept, or each piece would lose one */
    *owed = left > 0 ? all - now - begun(left, lab.mips) : 0;
    return MAX(left, 0);
}

int64_t lab_clock_now(CPUState *cpu)
{
    int64_t executed = cpu->icount_budget - cpu->icount_extra - cpu_neg(cpu)->icount_decr.u16.low;

    return timers_state.qemu_icount_bias + ns_by_last(timers_state.qemu_icount + lab_turns_charged(executed));
}

void lab_clock_stall(CPUState *cpu, int64_t ns)
{
    lab_turns_owe(cpu, begun(ns, lab.mips));
}
