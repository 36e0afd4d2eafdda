/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C and SIGTERM */
#ifndef INTERRUPT_H
#define INTERRUPT_H

/* One of them is told on stderr, then ends the program as if it were not caught; what is ignored stays so */
void interrupt_tell(void);

/* They wait from here on, until interrupt_release(): what is begun between the two is not left half done */
void interrupt_hold(void);
void interrupt_release(void);

/* In a load process: its parent gets the signal too, and ends it */
void interrupt_ignore(void);

/* A file that is removed if the program is interrupted; NULL: none. The name has to stay where it is. */
void interrupt_removes(const char *file);

#endif
