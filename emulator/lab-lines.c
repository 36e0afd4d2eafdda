/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The price of sharing a cache line: see lab-lines.h. */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/bitmap.h"
#include "cpu.h"
#include "exec/exec-all.h"
#include "exec/memory.h"
#include "exec/ramlist.h"
#include "hw/boards.h"
#include "sysemu/lab-clock.h"
#include "sysemu/lab-lines.h"

enum {
    LINE_BITS = 6,
    MOST_NS = 1000000,
    MOST_CORES = 512,
    CHUNK = 1024,           /* lines; a chunk never moves */
    OF_ONE = 2,             /* the most lines of an instruction: a pair may span two */
};

typedef struct {
    DECLARE_BITMAP(holders, MOST_CORES);
    int64_t free_at;        /* when its last handover ends, ns */
} Line;

static struct {
    int64_t same, other;    /* ns; 0: no price */
    int cpus;
    int cores;
    int of_core, of_socket; /* CPUs */

    char *ram;              /* the guest's memory in the host */
    uint64_t lines;         /* in that memory */
    uint32_t *number;       /* of each line, from 1; 0: unknown */
    Line **chunks;
    uint32_t known;

    struct {
        Line *asked_for[OF_ONE];    /* until it executes the instruction that needs them; the older one first */
        Line *reserved;     /* the line that its exclusive load waited for: the store need not wait again */
    } *of;                  /* per CPU */
} lab;

void lab_lines_configure(QemuOpts *opts, Error **errp)
{
    int64_t same = qemu_opt_get_number(opts, "line_same", 0);
    int64_t other = qemu_opt_get_number(opts, "line_other", same);

    if (same < 0 || same > MOST_NS || other < 0 || other > MOST_NS) {
        error_setg(errp, "icount: line_same and line_other must be 1 to %d", MOST_NS);
    } else if (!same && other) {
        error_setg(errp, "icount: line_other needs line_same");
    }
    lab.same = same;
    lab.other = other;
}

void lab_lines_start(void)
{
    const CpuTopology *smp = &current_machine->smp;

    if (!lab.same) {
        return;
    }
    lab.cpus = smp->cpus;
    lab.of_core = smp->threads;
    lab.of_socket = smp->threads * smp->cores * smp->clusters * smp->dies;
    lab.cores = DIV_ROUND_UP(lab.cpus, lab.of_core);
    assert(lab.cores <= MOST_CORES);
    lab.ram = memory_region_get_ram_ptr(current_machine->ram);
    lab.lines = memory_region_size(current_machine->ram) >> LINE_BITS;
    lab.number = g_new0(uint32_t, lab.lines);
    lab.chunks = g_new0(Line *, lab.lines / CHUNK + 1);
    lab.of = g_malloc0(lab.cpus * sizeof(*lab.of));
}

bool lab_lines_priced(void)
{
    return lab.same && current_machine->smp.cpus > 1;
}

static bool writes(LabLinesUse use)
{
    return use != LAB_LINES_LOAD && use != LAB_LINES_ACQUIRE && use != LAB_LINES_LOAD_EXCLUSIVE;
}

/*
 * The line at `address`. NULL if the line is unknown and this use does not make it known, or if it is not in the
 * memory.
 */
static Line *find(CPUArchState *env, target_ulong address, int mmu_index, LabLinesUse use)
{
    CPUTLBEntry *entry = tlb_entry(env, mmu_index, address);
    uint64_t at;
    uint32_t number;
    void *host;

    if (likely(tlb_hit(entry->addr_read, address))) {
        host = (void *)((uintptr_t)address + entry->addend);
    } else {
        /* The result must not depend on the cached translations, which depend on the host's time too */
        probe_access_flags(env, address, MMU_DATA_LOAD, mmu_index, true, &host, 0);
        if (!host) {
            return NULL;
        }
    }
    at = ((char *)host - lab.ram) >> LINE_BITS;
    if ((char *)host < lab.ram || at >= lab.lines) {
        return NULL;
    }
    number = lab.number[at];
    if (likely(!number)) {
        if (use == LAB_LINES_LOAD || use == LAB_LINES_STORE) {
            return NULL;
        }
        if (lab.known % CHUNK == 0) {
            lab.chunks[lab.known / CHUNK] = g_new0(Line, CHUNK);
        }
        number = ++lab.known;
        lab.number[at] = number;
    }
    return &lab.chunks[(number - 1) / CHUNK][(number - 1) % CHUNK];
}

static bool held_within(Line *line, int first, int count)
{
    return find_next_bit(line->holders, first + count, first) < first + count;
}

/* The nanoseconds of the handover to `core`: a load takes the nearest copy, a store has to reach the furthest. */
static int64_t price(Line *line, int core, bool write)
{
    int of_socket = lab.of_socket / lab.of_core;
    int first = core / of_socket * of_socket;
    int behind = MIN(first + of_socket, lab.cores);
    bool near = held_within(line, first, behind - first);
    bool far = held_within(line, 0, first) || held_within(line, behind, lab.cores - behind);

    return (write ? far : !near) ? lab.other : lab.same;
}

/* Gives the line to `core`. */
static void arrive(Line *line, int core, bool write)
{
    if (write) {
        bitmap_zero(line->holders, lab.cores);
    }
    set_bit(core, line->holders);
}

/*
 * An instruction that waits for its second line is executed again from its first, which another core may have taken
 * meanwhile. So neither line makes the CPU forget the other: it waits for each in turn until it has got both.
 */
static void ask(int cpu, Line *line)
{
    Line **asked_for = lab.of[cpu].asked_for;

    if (asked_for[0]) {
        if (asked_for[1]) {
            asked_for[0] = asked_for[1];
        }
        asked_for[1] = line;
    } else {
        asked_for[0] = line;
    }
}

/* True if `cpu` has waited for the line, which it uses now. */
static bool take(int cpu, Line *line)
{
    Line **asked_for = lab.of[cpu].asked_for;

    if (asked_for[1] == line) {
        asked_for[1] = NULL;
        return true;
    }
    if (asked_for[0] == line) {
        asked_for[0] = asked_for[1];
        asked_for[1] = NULL;
        return true;
    }
    return false;
}

static void wait_for(CPUState *cpu, Line *line, int core, bool write, uintptr_t from)
{
    int64_t now;

    cpu_restore_state(cpu, from);
    now = lab_clock_now(cpu);
    line->free_at = MAX(now, line->free_at) + price(line, core, write);
    lab_clock_stall(cpu, line->free_at - now);
    ask(cpu->cpu_index, line);
    cpu->exception_index = EXCP_INTERRUPT;
    cpu_loop_exit(cpu);
}

void lab_lines_use(CPUArchState *env, target_ulong address, int mmu_index, LabLinesUse use, uintptr_t from)
{
    CPUState *cpu = env_cpu(env);
    int index = cpu->cpu_index, core = index / lab.of_core;
    Line *line = find(env, address, mmu_index, use);
    bool write = writes(use), came, mine;

    if (!line) {
        return;
    }
    came = take(index, line) || bitmap_empty(line->holders, lab.cores);
    mine = test_bit(core, line->holders);
    if (use == LAB_LINES_STORE_EXCLUSIVE) {
        came |= mine && lab.of[index].reserved == line;
        lab.of[index].reserved = NULL;
    } else if (use == LAB_LINES_LOAD_EXCLUSIVE) {
        lab.of[index].reserved = came ? line : NULL;
    }
    if (came) {
        arrive(line, core, write);
    } else if (!mine || (write && bitmap_count_one(line->holders, lab.cores) > 1)) {
        wait_for(cpu, line, core, write, from);
    }
}
