/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A boot that several machines share. With `-icount orders=FD` the guest stops when it first asks for its load
 * (lab-load.h). The emulator writes "ready" to FD, a stream socket, and reads orders from it. Orders and answers are
 * lines:
 *
 *     begin FOLDER     fork a machine that goes on from here, with the files of FOLDER
 *     boot FOLDER      the same, with another medium of the same parameters in FOLDER, whose power comes on. The guest
 *                      must not have used its medium so far
 *     end FOLDER       kill it
 *     FOLDER STATUS    the answer when it has ended: its exit status, or the number of a signal with a minus before it
 *
 * A forked machine has files of its own. Every file of the load's directory that the emulator has open or mapped is
 * replaced by the file of the same name in FOLDER, at the same position and address. FOLDER must therefore be a copy of
 * that directory, made after "ready", with its own load (and, for `boot`, its own medium). The rest of the machine, in particular its memory, is shared
 * copy on write. Only the thread that executes the guest takes part in the fork, as in the medium (lab-medium.h).
 *
 * When FD closes, the emulator ends. All forked machines end with it, however it ends.
 */
#ifndef SYSEMU_LAB_BEGINNING_H
#define SYSEMU_LAB_BEGINNING_H

#include "qemu/option.h"

/* Parses the options `orders` and `load` of -icount. */
void lab_beginning_configure(QemuOpts *opts, Error **errp);

/*
 * Ends the guest's boot. Returns in each forked machine; returns at once if there are no orders to wait for. Call it
 * from the thread that executes the guest, without the iothread's lock.
 */
void lab_beginning_over(void);

/* True if this machine was forked. */
bool lab_beginning_is_forked(void);

/* The directory of this machine's own files; NULL if it has no load. */
const char *lab_beginning_folder(void);

/*
 * Call it right after a fork: the machine goes on with the files of `folder`, and ends with `parent`. Ends the machine if
 * a file is missing.
 */
void lab_beginning_move(const char *folder, pid_t parent);

/* Ends the machine. Does not return in a forked one, which has no main loop. */
void lab_beginning_end(void);

#endif
