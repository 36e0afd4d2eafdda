/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a guest costs this host, step by step: with `-icount price=FILE` each line of the guest's console that begins
 * with "flashbed: " is noted in FILE when it has ended, and the machine's end as "end". A line holds
 *
 *     NAME INSTRUCTIONS NANOSECONDS
 *
 * the rest of the console's line, what the clock has counted until then (a time for which a driver is busy counts as
 * instructions), and the CPU time that this process has taken of the host, all its threads together. The guest sees
 * nothing of it.
 */
#ifndef SYSEMU_LAB_PRICE_H
#define SYSEMU_LAB_PRICE_H

#include "qemu/option.h"

/* Takes the option `price` of -icount. */
void lab_price_configure(QemuOpts *opts, Error **errp);

/* The guest's console sends this character; to be called by the thread that executes the guest. */
void lab_price_sent(uint8_t character);

#endif
