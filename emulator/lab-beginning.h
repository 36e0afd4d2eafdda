/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A beginning that several machines share. With `-icount orders=FD` the guest stands still when it asks for its load
 * for the first time (lab-load.h). The emulator says "ready" to FD, a stream socket, and takes orders from it. Orders
 * and answers are lines:
 *
 *     begin FOLDER     fork a machine that goes on from here, with the files of FOLDER
 *     end FOLDER       kill it
 *     FOLDER STATUS    the answer when it has ended: its exit status, or the number of a signal with a minus before it
 *
 * A machine that is forked has files of its own: whatever the emulator has open or mapped in the folder of its load is
 * replaced by the file of the same name in FOLDER, at the same position and address. So FOLDER has to be a copy of that
 * folder, made after "ready", with a load of its own. All else of the machine, its memory first of all, is shared copy
 * on write. Which thread has a part in the guest (lab-medium.h) has a part in the fork: the one that executes it.
 *
 * The emulator ends when FD does, and all forked machines end with it, however it ends.
 */
#ifndef SYSEMU_LAB_BEGINNING_H
#define SYSEMU_LAB_BEGINNING_H

#include "qemu/option.h"

/* Takes the options `orders` and `load` of -icount. */
void lab_beginning_configure(QemuOpts *opts, Error **errp);

/*
 * The guest's beginning is over. Returns in each machine that is forked; at once if there are no orders to wait for. To
 * be called by the thread that executes the guest, which must not hold the iothread's lock.
 */
void lab_beginning_over(void);

/* The machine ends. Does not return in one that was forked, which has no main loop to end it. */
void lab_beginning_end(void);

#endif
