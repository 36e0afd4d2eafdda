/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sampling profiler of the guest's CPUs: see lab-profile.h. */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "qemu/notify.h"
#include "qemu/timer.h"
#include "sysemu/lab-clock.h"
#include "sysemu/lab-profile.h"
#include "sysemu/sysemu.h"

enum { DEFAULT_PERIOD = 10000, MOST_PERIOD = 1000000000 };

static struct {
    FILE *file;         /* NULL: no profile */
    int64_t period;     /* ns */
    bool on;
    int64_t began;
    int cpus;
    int64_t *due;       /* of each CPU: the time of its next sample */
    GHashTable *samples; /* by program counter */
} lab;

static void finish(Notifier *notifier, void *data);

static Notifier at_exit = { .notify = finish };

void lab_profile_configure(QemuOpts *opts, Error **errp)
{
    int64_t period = qemu_opt_get_number(opts, "period", DEFAULT_PERIOD);
    const char *name = qemu_opt_get(opts, "profile");

    if (!name) {
        return;
    }
    if (period < 1 || period > MOST_PERIOD) {
        error_setg(errp, "icount: period must be 1 to %d", MOST_PERIOD);
        return;
    }
    lab.file = fopen(name, "w");
    if (!lab.file) {
        error_setg_file_open(errp, errno, name);
        return;
    }
    lab.period = period;
    lab.samples = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    qemu_add_exit_notifier(&at_exit);
}

/* Samples are at whole periods since the machine's start, the same for each CPU. */
static void set_due(int cpu, int64_t now)
{
    lab.due[cpu] = (now / lab.period + 1) * lab.period;
}

static void count(uint64_t pc, int64_t times)
{
    int64_t *many = g_hash_table_lookup(lab.samples, &pc);

    if (!many) {
        uint64_t *key = g_new(uint64_t, 1);

        many = g_new0(int64_t, 1);
        *key = pc;
        g_hash_table_insert(lab.samples, key, many);
    }
    *many += times;
}

int64_t lab_profile_take(CPUState *cpu, int64_t limit)
{
    int64_t now, *due;

    if (!lab.on) {
        return limit;
    }
    now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    due = &lab.due[cpu->cpu_index];
    if (now >= *due) {
        /* A CPU that has just slept is still marked halted; one that was stalled was stalled here */
        if (!cpu->halted) {
            count(cpu->cc->get_pc(cpu), (now - *due) / lab.period + 1);
        }
        set_due(cpu->cpu_index, now);
    }
    return MIN(limit, lab_clock_instructions(*due - now));
}

static int by_counter(gconstpointer a, gconstpointer b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;

    return first < second ? -1 : first > second;
}

static void write_section(int64_t ended)
{
    GList *counters = g_list_sort(g_hash_table_get_keys(lab.samples), by_counter);

    fprintf(lab.file, "%" PRId64 " %d %" PRId64 " %" PRId64 "\n", lab.period, lab.cpus, lab.began, ended);
    for (GList *one = counters; one; one = one->next) {
        fprintf(lab.file, "%" PRIx64 " %" PRId64 "\n", *(uint64_t *)one->data,
                *(int64_t *)g_hash_table_lookup(lab.samples, one->data));
    }
    g_list_free(counters);
    g_hash_table_remove_all(lab.samples);
}

void lab_profile_switch(bool on)
{
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    CPUState *cpu;

    if (!lab.file) {
        return;
    }
    if (lab.on) {
        write_section(now);
    }
    lab.on = on;
    if (!on) {
        return;
    }
    lab.began = now;
    lab.cpus = 0;
    CPU_FOREACH(cpu) {
        lab.cpus++;
    }
    lab.due = g_renew(int64_t, lab.due, lab.cpus);
    for (int one = 0; one < lab.cpus; one++) {
        set_due(one, now);
    }
}

static void finish(Notifier *notifier, void *data)
{
    fclose(lab.file);
}
