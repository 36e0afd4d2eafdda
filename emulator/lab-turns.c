/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A scheduler for several CPUs in one thread: see lab-turns.h. */
#include "qemu/osdep.h"
#include "qemu/bitmap.h"
#include "qemu/seqlock.h"
#include "qemu/timer.h"
#include "exec/exec-all.h"
#include "sysemu/cpu-timers.h"
#include "sysemu/cpus.h"
#include "sysemu/lab-clock.h"
#include "sysemu/lab-turns.h"
#include "timers-state.h"

static struct {
    int cpus;
    int64_t slice;          /* instructions, on average */
    unsigned long *awake;   /* a bit for each CPU that may have work; every CPU with work has one */

    CPUState *alone;        /* the only CPU awake, with no round in progress; NULL: there are rounds */
    CPUState *turn;         /* the owner of the current slice; NULL: none */
    int64_t left;           /* of that slice, instructions, when all instructions were `counted` */
    int64_t counted;
    int64_t executed;       /* of all CPUs, before that */
    bool evening;           /* that slice ends when its CPU is even with the clock */
    bool even;              /* all CPUs are at the same time, and no round is in progress */
    int64_t even_at;        /* when they last were: instructions of all CPUs, */
    int64_t even_round;     /* and the first round after it */
    int64_t round;          /* rounds begun; each CPU gets a slice in each */
    int behind;             /* CPUs still to come in this round */
    int step;               /* from one CPU to the next in this round: 1 or -1 */
    struct {
        CPUState *cpu;
        int64_t moved;      /* the shift of its last slice's end, instructions; */
        int64_t moved_even; /* the shift when all were last even, if it had a slice since then, */
        int64_t even_round; /* which holds if this is the round of that time */
        int64_t rest;       /* its lag behind the clock when it became even, instructions of all CPUs */
        int64_t debt;       /* instructions to be charged before it executes any */
    } *of;                  /* per CPU */
} turns;

void lab_turns_start(int count, int64_t slice)
{
    CPUState *cpu;

    turns.cpus = count;
    turns.slice = slice;
    turns.step = 1;
    turns.behind = count - 1;
    turns.of = g_malloc0(count * sizeof(*turns.of));
    CPU_FOREACH(cpu) {
        turns.of[cpu->cpu_index].cpu = cpu;
    }
    turns.awake = bitmap_new(count);
    bitmap_set(turns.awake, 0, count);
}

void lab_turns_leapt(void)
{
    turns.even = true;
}

void lab_turns_wake(CPUState *cpu)
{
    CPUState *alone = turns.alone;

    if (!turns.awake) {
        return;
    }
    set_bit_atomic(cpu->cpu_index, turns.awake);
    if (alone && alone != cpu && alone->running) {
        cpu_exit(alone);
    }
}

void lab_turns_owe(CPUState *cpu, int64_t instructions)
{
    turns.of[cpu->cpu_index].debt += instructions;
}

static void clear_bit_of(int at)
{
    qatomic_and(&turns.awake[BIT_WORD(at)], ~BIT_MASK(at));
}

/* Without a lock if possible: this runs for each slice. */
static bool sleeps(CPUState *cpu)
{
    return (cpu->halted || cpu->stopped) && cpu_thread_is_idle(cpu);
}

/* True if `cpu` executes nothing now: it sleeps, or still owes time. */
static bool waits(CPUState *cpu)
{
    return turns.of[cpu->cpu_index].debt > 0 || sleeps(cpu);
}

/*
 * The first CPU from `at` on, except `but`, that is awake or owes time; NULL if there is none. A bit alone proves
 * nothing: other threads set some, and that must not change the result.
 */
static CPUState *awake_from(int at, CPUState *but)
{
    while ((at = find_next_bit(turns.awake, turns.cpus, at)) < turns.cpus) {
        CPUState *cpu = turns.of[at].cpu;

        if (turns.of[at].debt == 0 && sleeps(cpu)) {
            clear_bit_of(at);
        } else if (cpu != but) {
            return cpu;
        }
        at++;
    }
    return NULL;
}

bool lab_turns_all_asleep(void)
{
    return !turns.awake ? all_cpu_threads_idle() : !awake_from(0, NULL);
}

static uint64_t hash(uint64_t count, uint64_t salt)
{
    uint64_t mixed = count * 0x9e3779b97f4a7c15ull + salt * 0xbf58476d1ce4e5b9ull;

    mixed ^= mixed >> 29;
    mixed *= 0x94d049bb133111ebull;
    return mixed ^ mixed >> 32;
}

/*
 * The ends of slices are shifted by up to a slice, by a hash. Otherwise the period of a lock would beat with that of
 * the slices: one CPU might always find the lock free, and another never.
 */
static void begin_slice(CPUState *cpu, int64_t count)
{
    int64_t move = hash(count, cpu->cpu_index + 1) % turns.slice;

    turns.left = turns.slice + move - turns.of[cpu->cpu_index].moved;
    if (turns.of[cpu->cpu_index].even_round != turns.even_round) {
        turns.of[cpu->cpu_index].even_round = turns.even_round;
        turns.of[cpu->cpu_index].moved_even = turns.of[cpu->cpu_index].moved;
    }
    turns.of[cpu->cpu_index].moved = move;
    turns.turn = cpu;
}

int64_t lab_turns_grant(CPUState *cpu, int64_t limit)
{
    if (turns.cpus == 1) {
        return limit;
    }
    turns.counted = qatomic_read_i64(&timers_state.qemu_icount);
    if (turns.alone) {
        return DIV_ROUND_UP(limit, turns.cpus);
    }
    if (turns.turn != cpu) {
        begin_slice(cpu, turns.counted);
    }
    return MIN(turns.left, limit);
}

int64_t lab_turns_charged(int64_t executed)
{
    return turns.alone ? executed * turns.cpus : executed;
}

static CPUState *begin_round(int first)
{
    turns.round++;
    turns.behind = turns.cpus - 1;
    return turns.of[first].cpu;
}

/*
 * The CPU whose turn it is after `count` CPUs from `cpu` on. `count` is at most what is left of this round.
 *
 * CPUs that come later in the round see a CPU's actions up to a slice early, and those before it up to a slice late. So
 * rounds begin anywhere, in either direction, by a hash, which evens this out. Otherwise a lock that is handed on in
 * the order of the CPUs would be half a slice too fast each time.
 */
static CPUState *after(CPUState *cpu, int count)
{
    if (count > turns.behind) {
        uint64_t any = hash(turns.round, 0);

        turns.step = any & 1 ? 1 : -1;
        return begin_round((any >> 1) % turns.cpus);
    }
    turns.behind -= count;
    return turns.of[(cpu->cpu_index + turns.step * count + turns.cpus) % turns.cpus].cpu;
}

/* The number of CPUs without a bit in this round from `cpu` on, which has none. */
static int without_bit(CPUState *cpu)
{
    int at = cpu->cpu_index, rest = turns.behind + 1, found;

    if (turns.step > 0) {
        found = find_next_bit(turns.awake, turns.cpus, at);
        if (found == turns.cpus) {
            found += find_next_bit(turns.awake, at, 0);
        }
        return MIN(found - at, rest);
    }
    found = find_last_bit(turns.awake, at);
    if (found == at) {
        found = find_last_bit(turns.awake, turns.cpus);
        return found == turns.cpus ? rest : MIN(at + turns.cpus - found, rest);
    }
    return MIN(at - found, rest);
}

/*
 * All CPUs are at the same time: a round can begin with any that is awake, but `last` comes last. A single CPU awake
 * needs no rounds.
 */
static LabTurnsPass begin_anywhere(CPUState **whose, CPUState *last)
{
    CPUState *first = awake_from(0, last);

    turns.even = true;
    turns.evening = false;
    turns.turn = NULL;
    turns.alone = NULL;
    if (!first) {
        first = awake_from(0, NULL);
    }
    if (!first) {
        return LAB_TURNS_ALL_SLEEP;
    }
    turns.even = false;
    turns.even_at = qatomic_read_i64(&timers_state.qemu_icount);
    *whose = begin_round(first->cpu_index);
    turns.even_round = turns.round;
    if (!waits(first) && !awake_from(0, first)) {
        turns.alone = first;
    }
    return LAB_TURNS_PASSED;
}

/* The instructions until the next timer, over all CPUs. */
static int64_t until_timer(void)
{
    int64_t ns = qemu_clock_deadline_ns_all(QEMU_CLOCK_VIRTUAL, QEMU_TIMER_ATTR_ALL);

    return ns < 0 ? INT32_MAX : lab_clock_instructions(MIN(ns, INT32_MAX));
}

/*
 * `cpu` is the only one awake, and it is its turn. It has had a slice in each round since all were even, so it lags
 * behind the clock by the others' slices of this round. It catches up first, or it would lose that much whenever
 * another CPU wakes for a moment.
 */
static LabTurnsPass come_even(CPUState *cpu)
{
    typeof(turns.of) own = &turns.of[cpu->cpu_index];
    int64_t moved = own->even_round == turns.even_round ? own->moved - own->moved_even : 0;
    int64_t executed = (turns.round - turns.even_round) * turns.slice + moved;
    int64_t now = qatomic_read_i64(&timers_state.qemu_icount);
    int64_t behind = now - turns.even_at - executed * turns.cpus + own->rest;

    if (behind < 0) {
        lab_clock_charge(MIN(-behind, until_timer()));
        return LAB_TURNS_PASSED;
    }
    turns.left = behind / (turns.cpus - 1);
    own->rest = behind % (turns.cpus - 1);
    if (turns.left == 0) {
        turns.even = true;
        return LAB_TURNS_PASSED;
    }
    turns.evening = true;
    turns.turn = cpu;
    return LAB_TURNS_EXECUTE;
}

/* Ends the slice of `cpu`; returns the next CPU. */
static CPUState *end_slice(CPUState *cpu)
{
    turns.turn = NULL;
    if (turns.evening) {
        turns.evening = false;
        turns.even = true;
        return cpu;
    }
    return after(cpu, 1);
}

/* Advances the clock by the charges of the CPUs that execute nothing. */
static LabTurnsPass charge_waiting(CPUState **whose)
{
    CPUState *cpu = *whose;
    int64_t now = qatomic_read_i64(&timers_state.qemu_icount), sum = 0, most = until_timer();
    bool all_sleep = false;

    while (sum < most && !all_sleep && !turns.even && waits(cpu)) {
        int64_t *debt = &turns.of[cpu->cpu_index].debt;
        int64_t step;

        if (*debt == 0) {
            clear_bit_of(cpu->cpu_index);
            all_sleep = !awake_from(0, NULL);
            if (turns.turn != cpu) {
                int count = MIN(without_bit(cpu), (most - sum) / turns.slice);

                sum += count * turns.slice;
                if (count) {
                    turns.turn = NULL;
                    cpu = after(cpu, count);
                    continue;
                }
                turns.turn = cpu;
                turns.left = turns.slice;
            }
            step = MIN(turns.left, most - sum);
        } else {
            if (turns.turn != cpu) {
                begin_slice(cpu, now + sum);
            }
            step = MIN(MIN(turns.left, *debt), most - sum);
            *debt -= step;
        }
        sum += step;
        turns.left -= step;
        if (turns.left == 0) {
            cpu = end_slice(cpu);
        }
    }
    lab_clock_charge(sum);
    *whose = cpu;
    return all_sleep ? LAB_TURNS_ALL_SLEEP : LAB_TURNS_PASSED;
}

LabTurnsPass lab_turns_pass(CPUState **whose)
{
    if (turns.even) {
        return begin_anywhere(whose, NULL);
    }
    if (turns.alone) {
        if (waits(turns.alone) || awake_from(0, turns.alone)) {
            return begin_anywhere(whose, turns.alone);
        }
        *whose = turns.alone;
        return LAB_TURNS_EXECUTE;
    }
    if (waits(*whose)) {
        return charge_waiting(whose);
    }
    return turns.turn != *whose && !awake_from(0, *whose) ? come_even(*whose) : LAB_TURNS_EXECUTE;
}

int64_t lab_turns_executed(void)
{
    return turns.cpus == 1 ? qatomic_read_i64(&timers_state.qemu_icount) : turns.executed;
}

CPUState *lab_turns_next(CPUState *cpu)
{
    int64_t charged;

    if (turns.cpus == 1) {
        return NULL;
    }
    charged = qatomic_read_i64(&timers_state.qemu_icount) - turns.counted;
    if (turns.alone) {
        turns.executed += charged / turns.cpus;
        return cpu;
    }
    turns.executed += charged;
    turns.left -= charged;
    if (turns.left > 0) {
        return cpu;
    }
    return end_slice(cpu);
}
