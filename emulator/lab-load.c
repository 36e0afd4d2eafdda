/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See lab-load.h */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "sysemu/lab-beginning.h"
#include "sysemu/lab-load.h"

static struct {
    FILE *file;     /* NULL: there is no load */
    bool asked;
} lab;

void lab_load_configure(QemuOpts *opts, Error **errp)
{
    const char *name = qemu_opt_get(opts, "load");

    if (!name) {
        return;
    }
    lab.file = fopen(name, "rb");
    if (!lab.file) {
        error_setg_file_open(errp, errno, name);
    }
}

int64_t lab_load_read(void *buffer, size_t most)
{
    size_t count;

    if (!lab.file) {
        return -1;
    }
    if (!lab.asked) {
        lab.asked = true;
        lab_beginning_over();
    }
    count = fread(buffer, 1, most, lab.file);
    return ferror(lab.file) ? -1 : count;
}
