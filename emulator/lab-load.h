/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The load of a cell. With `-icount load=FILE` the guest reads the bytes of FILE by HINT #115, with the address of a
 * buffer in X0 and its size in X1; X0 returns the result. This involves no device, and takes no guest time but the
 * instruction's.
 */
#ifndef SYSEMU_LAB_LOAD_H
#define SYSEMU_LAB_LOAD_H

#include "qemu/option.h"

/* Parses the option `load` of -icount. */
void lab_load_configure(QemuOpts *opts, Error **errp);

/*
 * Reads the file's next bytes, at most `most`. Returns their number, 0 at the end, -1 without a file. Call it from the
 * thread that executes the guest.
 */
int64_t lab_load_read(void *buffer, size_t most);

#endif
