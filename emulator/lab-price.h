/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host's cost of a guest, step by step. With `-icount price=FILE` each line of the guest's console that begins with
 * "flashbed: " is recorded in FILE when it is complete, and the machine's end as "end". A record is
 *
 *     NAME INSTRUCTIONS NANOSECONDS
 *
 * the rest of the console's line, the clock's count so far (a driver's busy time counts as instructions), and the CPU
 * time of this process, all its threads together. The guest cannot observe it.
 */
#ifndef SYSEMU_LAB_PRICE_H
#define SYSEMU_LAB_PRICE_H

#include "qemu/option.h"

/* Parses the option `price` of -icount. */
void lab_price_configure(QemuOpts *opts, Error **errp);

/* Takes a character of the guest's console; call it from the thread that executes the guest. */
void lab_price_sent(uint8_t character);

#endif
