/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's cost of a guest, step by step: see lab-price.h. */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/notify.h"
#include "sysemu/cpu-timers.h"
#include "sysemu/lab-price.h"
#include "sysemu/sysemu.h"

#define HEAD "flashbed: "

enum { MOST_OF_A_LINE = 64, NS_PER_S = 1000000000 };

static struct {
    FILE *file;         /* NULL: no price is recorded */
    char line[MOST_OF_A_LINE];
    size_t length;      /* of the current console line; characters beyond the buffer are counted, not kept */
} lab;

static void finish(Notifier *notifier, void *data);

static Notifier at_exit = { .notify = finish };

void lab_price_configure(QemuOpts *opts, Error **errp)
{
    const char *name = qemu_opt_get(opts, "price");

    if (!name) {
        return;
    }
    lab.file = fopen(name, "w");
    if (!lab.file) {
        error_setg_file_open(errp, errno, name);
        return;
    }
    qemu_add_exit_notifier(&at_exit);
}

static void note(const char *name)
{
    struct timespec spent;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    fprintf(lab.file, "%s %" PRId64 " %" PRId64 "\n", name, icount_get_raw(),
            (int64_t)spent.tv_sec * NS_PER_S + spent.tv_nsec);
}

void lab_price_sent(uint8_t character)
{
    if (!lab.file) {
        return;
    }
    if (character != '\r' && character != '\n') {
        if (lab.length < MOST_OF_A_LINE - 1) {
            lab.line[lab.length] = character;
        }
        lab.length++;
        return;
    }
    lab.line[MIN(lab.length, MOST_OF_A_LINE - 1)] = 0;
    if (g_str_has_prefix(lab.line, HEAD)) {
        note(lab.line + strlen(HEAD));
    }
    lab.length = 0;
}

static void finish(Notifier *notifier, void *data)
{
    note("end");
    fclose(lab.file);
}
