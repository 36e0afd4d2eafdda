/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A watchdog for hanging CPUs: see lab-watch.h. */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/timer.h"
#include "cpu.h"
#include "exec/cpu-all.h"
#include "sysemu/lab-turns.h"
#include "sysemu/lab-watch.h"
#include "sysemu/runstate.h"

#define MOST_INSTRUCTIONS   3000000000  /* of the slowest guests, those of 120 CPUs, a quarter of a minute of a host */

enum {
    NS_PER_MS = 1000000,
    GAP_NS = 10 * NS_PER_MS,    /* an interrupt counts as a new one if none was pending for this long */
    LOOK_NS = NS_PER_MS,        /* the least time between reads of a task's flags, which cost the host a microsecond */
};

/*
 * The bit of Linux's TIF_NEED_RESCHED in a task's flags (arch/arm64/include/asm/thread_info.h of Linux 6.1 and 6.12).
 * While the kernel executes, SP_EL0 points to task_struct, which begins with struct thread_info, which begins with the
 * flags.
 */
#define NEED_RESCHED    (1 << 1)

typedef struct {
    bool is;
    int64_t executed;   /* at its begin: the instructions of all CPUs, */
    int64_t ns;         /* and the guest's time */
} Since;

static struct {
    Since deaf;         /* an interrupt is pending, but not taken */
    int64_t pending;    /* the last time at which it was found pending; ns */
    Since keeps;        /* its task ought to let another run */
    int64_t looked;     /* the last read of its flags; ns */
} *watched;             /* per CPU */

void lab_watch_start(int count)
{
    watched = g_malloc0(count * sizeof(*watched));
}

/* Ends the machine if the condition of `since` lasts for too long. */
static void goes_on(CPUState *cpu, Since *since, int64_t now, const char *what, uint64_t at)
{
    int64_t executed = lab_turns_executed();

    if (!since->is) {
        *since = (Since) { .is = true, .executed = executed, .ns = now };
    } else if (executed - since->executed >= MOST_INSTRUCTIONS && !qemu_shutdown_requested_get()) {
        error_report("CPU %d %s for %" PRId64 " ms, at 0x%016" PRIx64, cpu->cpu_index, what,
                     (now - since->ns) / NS_PER_MS, at);
        qemu_system_shutdown_request(SHUTDOWN_CAUSE_GUEST_SHUTDOWN);
    }
}

/* True if the interrupted kernel task ought to let another run. */
static bool is_to_let_go(CPUState *cpu, CPUARMState *env)
{
    uint64_t task = env->sp_el[0];
    uint32_t flags;

    /* Kernel addresses have the highest bit set */
    return (int64_t)task < 0 && cpu_memory_rw_debug(cpu, task, &flags, sizeof(flags), false) == 0 &&
           (le32_to_cpu(flags) & NEED_RESCHED);
}

void lab_watch_took_interrupt(CPUState *cpu)
{
    CPUARMState *env = cpu->env_ptr;
    typeof(watched) own;
    int64_t now;

    if (!watched) {
        return;
    }
    own = &watched[cpu->cpu_index];
    own->deaf.is = false;
    now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    if (now - own->looked < LOOK_NS) {
        return;
    }
    own->looked = now;
    if (is_to_let_go(cpu, env)) {
        goes_on(cpu, &own->keeps, now, "lets no other task run", env->elr_el[1]);
    } else {
        own->keeps.is = false;
    }
}

void lab_watch_left_interrupt(CPUState *cpu)
{
    typeof(watched) own;
    int64_t now;

    if (!watched) {
        return;
    }
    own = &watched[cpu->cpu_index];
    now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    if (now - own->pending > GAP_NS) {
        own->deaf.is = false;
    }
    own->pending = now;
    goes_on(cpu, &own->deaf, now, "takes no interrupts", cpu->cc->get_pc(cpu));
}

void lab_watch_went_on(CPUState *cpu)
{
    if (watched) {
        watched[cpu->cpu_index].keeps.is = false;
    }
}
