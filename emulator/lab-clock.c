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
    bool leapt;         /* the clock was moved since the last slice */
    int64_t round;      /* how many rounds were begun; each CPU gets a slice in each */
    int behind;         /* how many CPUs are still to come in this round */
    int step;           /* from one CPU to the next in this round: 1 or -1 */
    struct {
        CPUState *cpu;
        int64_t moved;  /* by how much the end of its last slice was moved, instructions */
        int64_t debt;   /* it is to be charged these instructions before it executes any */
        int64_t owed;   /* of a time that it is busy for: less than a nanosecond, instructions */
    } *of;              /* each CPU */
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

void lab_clock_start(int count)
{
    CPUState *cpu;

    lab.cpus = count;
    lab.per_us = lab.mips * count;
    lab.step = 1;
    lab.behind = count - 1;
    lab.of = g_malloc0(count * sizeof(*lab.of));
    CPU_FOREACH(cpu) {
        lab.of[cpu->cpu_index].cpu = cpu;
    }
}

/* The whole microseconds and the rest apart: no product needs more than 64 bits, whose division is much faster. */
int64_t lab_clock_ns(int64_t instructions)
{
    return instructions / lab.per_us * NS_PER_US + instructions % lab.per_us * NS_PER_US / lab.per_us;
}

/* Of one CPU or of all, who execute `per_us` in a microsecond: how many begin within `ns`. */
static int64_t begun(int64_t ns, int64_t per_us)
{
    return ns / NS_PER_US * per_us + DIV_ROUND_UP(ns % NS_PER_US * per_us, NS_PER_US);
}

int64_t lab_clock_instructions(int64_t ns)
{
    int64_t now = qatomic_read_i64(&timers_state.qemu_icount);
    int64_t then = lab_clock_ns(now) + ns;

    return begun(then, lab.per_us) - now;
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
    lab.leapt = true;
    qemu_clock_run_timers(QEMU_CLOCK_VIRTUAL);
    return true;
}

static uint64_t hash(uint64_t count, uint64_t salt)
{
    uint64_t mixed = count * 0x9e3779b97f4a7c15ull + salt * 0xbf58476d1ce4e5b9ull;

    mixed ^= mixed >> 29;
    mixed *= 0x94d049bb133111ebull;
    return mixed ^ mixed >> 32;
}

/*
 * The ends of slices are moved by up to a slice, by a hash. Else the period of a lock and that of the slices beat: one
 * CPU may find the lock free always, and another never.
 */
static void begin_slice(CPUState *cpu, int64_t count)
{
    int64_t move = hash(count, cpu->cpu_index + 1) % lab.slice;

    lab.left = lab.slice + move - lab.of[cpu->cpu_index].moved;
    lab.of[cpu->cpu_index].moved = move;
    lab.turn = cpu;
}

int64_t lab_clock_grant(CPUState *cpu, int64_t limit)
{
    if (lab.cpus == 1) {
        return limit;
    }
    lab.counted = qatomic_read_i64(&timers_state.qemu_icount);
    if (lab.turn != cpu) {
        begin_slice(cpu, lab.counted);
    }
    return MIN(lab.left, limit);
}

static CPUState *begin_round(int first)
{
    lab.round++;
    lab.behind = lab.cpus - 1;
    return lab.of[first].cpu;
}

/*
 * What a CPU does is seen by those that come after it in the round as though it were done up to a slice earlier, and by
 * those before it up to a slice later. Rounds begin anywhere, in either direction, by a hash, so that this evens out:
 * else a lock that is handed on in the order of the CPUs would be half a slice too fast each time.
 */
static CPUState *after(CPUState *cpu)
{
    if (lab.behind == 0) {
        uint64_t any = hash(lab.round, 0);

        lab.step = any & 1 ? 1 : -1;
        return begin_round((any >> 1) % lab.cpus);
    }
    lab.behind--;
    return lab.of[(cpu->cpu_index + lab.step + lab.cpus) % lab.cpus].cpu;
}

/* Whether `cpu` executes nothing now: it sleeps, or what it did last is not paid for. */
static bool waits(CPUState *cpu)
{
    return lab.of[cpu->cpu_index].debt > 0 || cpu_thread_is_idle(cpu);
}

/* After the clock leapt all CPUs stand at the same time, so that a round can begin with one that was woken. */
static CPUState *first_awake(void)
{
    lab.turn = NULL;
    for (int at = 0; at < lab.cpus; at++) {
        if (!waits(lab.of[at].cpu)) {
            return begin_round(at);
        }
    }
    return begin_round(0);
}

LabClockPass lab_clock_pass(CPUState **whose)
{
    CPUState *cpu = *whose;
    int64_t now, most, sum = 0;
    int asleep = 0;         /* slices in a row in which a CPU slept */

    if (lab.leapt) {
        lab.leapt = false;
        *whose = first_awake();
        return LAB_CLOCK_PASSED;
    }
    if (!waits(cpu)) {
        return LAB_CLOCK_EXECUTE;
    }
    now = qatomic_read_i64(&timers_state.qemu_icount);
    most = qemu_clock_deadline_ns_all(QEMU_CLOCK_VIRTUAL, QEMU_TIMER_ATTR_ALL);
    most = most < 0 ? INT32_MAX : lab_clock_instructions(MIN(most, INT32_MAX));
    while (sum < most && asleep < lab.cpus && waits(cpu)) {
        int64_t *debt = &lab.of[cpu->cpu_index].debt;
        int64_t step;

        if (lab.turn != cpu) {
            begin_slice(cpu, now + sum);
        }
        step = MIN(lab.left, most - sum);
        if (*debt > 0) {
            step = MIN(step, *debt);
            *debt -= step;
            asleep = 0;
        } else if (step == lab.left) {
            asleep++;
        }
        sum += step;
        lab.left -= step;
        if (lab.left == 0) {
            lab.turn = NULL;
            cpu = after(cpu);
        }
    }
    add(&timers_state.qemu_icount, sum);
    *whose = cpu;
    return asleep < lab.cpus ? LAB_CLOCK_PASSED : LAB_CLOCK_ALL_SLEEP;
}

CPUState *lab_clock_next(CPUState *cpu)
{
    if (lab.cpus == 1) {
        return NULL;
    }
    lab.left -= qatomic_read_i64(&timers_state.qemu_icount) - lab.counted;
    if (lab.left > 0) {
        return cpu;
    }
    lab.turn = NULL;
    return after(cpu);
}

int64_t lab_clock_busy(CPUState *cpu, int64_t ns)
{
    int64_t here = cpu->icount_extra + cpu_neg(cpu)->icount_decr.u16.low;
    int64_t *owed = &lab.of[cpu->cpu_index].owed;
    int64_t all = begun(ns, lab.mips) - 1 + *owed;
    int64_t now = MIN(MAX(all, 0), here);
    int64_t of_extra = MIN(now, cpu->icount_extra);
    int64_t left = (__int128)(all - now) * NS_PER_US / lab.mips;

    cpu->icount_extra -= of_extra;
    cpu_neg(cpu)->icount_decr.u16.low -= now - of_extra;
    /* What is left is told in whole nanoseconds. The part of one that lies over is kept, else each piece loses one */
    *owed = left > 0 ? all - now - begun(left, lab.mips) : 0;
    return MAX(left, 0);
}

int64_t lab_clock_now(CPUState *cpu)
{
    int64_t executed = cpu->icount_budget - cpu->icount_extra - cpu_neg(cpu)->icount_decr.u16.low;

    return timers_state.qemu_icount_bias + lab_clock_ns(timers_state.qemu_icount + executed);
}

void lab_clock_stall(CPUState *cpu, int64_t ns)
{
    lab.of[cpu->cpu_index].debt += begun(ns, lab.mips);
}
