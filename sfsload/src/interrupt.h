/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C and SIGTERM */
#ifndef INTERRUPT_H
#define INTERRUPT_H

/*
 * Prints a message on one of these signals, then ends the program by its default action; an ignored signal stays
 * ignored
 */
void interrupt_tell(void);

/* Blocks the signals until interrupt_release(), so that work in between is not left half done */
void interrupt_hold(void);
void interrupt_release(void);

/* In a load process: the parent gets the signal too, and ends it */
void interrupt_ignore(void);

/* Sets a file to be removed on a signal; NULL: none. The string must stay valid. */
void interrupt_removes(const char *file);

#endif
