/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What only the load of a cell needs: with `-icount load=FILE` the guest gets the bytes of FILE when it asks (HINT #115
 * with the address of a buffer in X0 and its bytes in X1; X0 is the answer). No device has a part in it, and it takes
 * none of the guest's time but the instruction's.
 */
#ifndef SYSEMU_LAB_LOAD_H
#define SYSEMU_LAB_LOAD_H

#include "qemu/option.h"

/* Takes the option `load` of -icount. */
void lab_load_configure(QemuOpts *opts, Error **errp);

/*
 * The file's next bytes, at most `most` of them: how many there were, 0 at its end, -1 if there is no such file. To be
 * called by the thread that executes the guest.
 */
int64_t lab_load_read(void *buffer, size_t most);

#endif
