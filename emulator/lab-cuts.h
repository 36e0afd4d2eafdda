/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Power cuts at several moments of one machine. At each moment the machine is forked: the forked one loses its power, and
 * the other goes on to the next moment. Only a machine that was itself forked from a shared boot (lab-beginning.h) can do
 * this, because it has no other thread.
 *
 * The moments come from two named pipes in the directory of the machine's files. Who orders them writes lines to the pipe
 * LAB_CUTS_ORDERS, and reads lines from the pipe LAB_CUTS_ANSWERS:
 *
 *     AFTER SEED      order: stop AFTER ns after the cut was armed; not before the moment of the order before it
 *     reached         answer: it has stopped
 *     FOLDER          order: fork the machine with the files of FOLDER, a copy of the directory made since then, and cut
 *                     its power. SEED decides what is undetermined
 *     STATUS          answer when the forked machine has ended: its exit status, or the number of a signal with a minus
 *
 * and then the next order. The machine waits for each, so it takes no virtual time. It ends when the pipe of orders does.
 */
#ifndef BLOCK_LAB_CUTS_H
#define BLOCK_LAB_CUTS_H

#define LAB_CUTS_ORDERS "cuts.orders"
#define LAB_CUTS_ANSWERS "cuts.answers"

typedef struct LabCuts LabCuts;

/* Opens the pipes. NULL if the machine's directory has none, or if the machine was not forked. */
LabCuts *lab_cuts_open(void);

/* Reads the next moment. False at the end of the orders, or if the order is none. */
bool lab_cuts_next(LabCuts *cuts, uint64_t *after_ns, uint64_t *seed);

/* Forks the machine. True in the forked one, whose power is to be cut. Does not return if the orders end. */
bool lab_cuts_fork(LabCuts *cuts);

#endif
